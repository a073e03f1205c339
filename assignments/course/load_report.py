"""What loading an encoder leaves behind: tensors of a checkpoint that the model has no place for.

`python load_report.py` prints them. A checkpoint that was saved after pretraining also holds the
heads of its pretraining tasks; an encoder loaded for its features takes none of them, and
`AutoModel` says so in a message that is easily taken for an error.
"""

from dataclasses import dataclass

from safetensors import safe_open
from transformers import AutoConfig, AutoModel

import course_bundle

_HEADS = {
    "cls.predictions": "the head that guesses masked words; features of a query need no guess",
    "cls.seq_relationship": "the head that tells whether one sentence follows another",
}


@dataclass(frozen=True)
class Left:
    """A tensor on one side that the other has no place for."""

    name: str
    shape: tuple[int, ...]
    why: str


def dropped():
    """The checkpoint's tensors that `encoder.load()` leaves behind, by name."""
    held, wanted = _held(), _wanted()
    return [Left(name, held[name], _why(name)) for name in sorted(held) if name not in wanted]


def fresh():
    """The model's tensors that the checkpoint does not hold: they start at random."""
    held, wanted = _held(), _wanted()
    why = "not in the checkpoint: it starts at random"
    return [Left(name, wanted[name], why) for name in sorted(wanted) if name not in held]


def _why(name):
    return next((why for head, why in _HEADS.items() if name.startswith(head)), "of no known use")


def _held():
    """Name -> shape of what the checkpoint holds, without the prefix of a larger model."""
    with safe_open(course_bundle.encoder / "model.safetensors", "pt") as file:
        names = {name: tuple(file.get_slice(name).get_shape()) for name in file.keys()}  # noqa: SIM118
    return {name.removeprefix("bert."): shape for name, shape in names.items()}


def _wanted():
    """Name -> shape of what the encoder takes."""
    model = AutoModel.from_config(AutoConfig.from_pretrained(course_bundle.encoder))
    return {name: tuple(tensor.shape) for name, tensor in model.state_dict().items()}


if __name__ == "__main__":
    for left in [*dropped(), *fresh()]:
        print(f"{left.name}  {list(left.shape)}  {left.why}")
