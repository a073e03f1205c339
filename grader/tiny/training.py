"""The pretraining itself: a corpus and a plan in, a BERT with its pretraining heads out."""

from __future__ import annotations

import logging
import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn
from transformers import BertConfig, BertForPreTraining

from grader.tiny.corpus import IGNORED, MASK, PAD, SPECIAL, Corpus, Example
from grader.tiny.queries import SEED
from grader.tiny.vectors import warm_start

STEPS = 4_000

_THREADS = 2
_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class Plan:
    """What a run trains, and how hard.

    Attributes:
        steps: Optimizer steps.
        seed: Seed of the weights, the text and the masks.
        tokenizer_texts: Queries that the tokenizer learns from.
        counted: Examples that the first word vectors are counted from.
        batch_ids: Ids in a batch, padding included; a step takes a batch for each thread.
        round: Examples drawn at a time, then sorted into batches of like lengths.
        stages: Layers and share of the steps, one stage after another (see `pretrain`).
        rate: Highest learning rate, after the warm-up.
        warmup: Steps of rising rate at the start of a stage.
        shape: Configuration beside the vocabulary's size; BERT-Mini's.
    """

    steps: int = STEPS
    seed: int = SEED
    tokenizer_texts: int = 15_000
    counted: int = 20_000
    batch_ids: int = 256
    round: int = 4_096
    stages: tuple[tuple[int, float], ...] = ((2, 0.55), (4, 0.45))
    rate: float = 4e-4
    warmup: int = 100
    shape: dict[str, int] = field(
        default_factory=lambda: {
            "hidden_size": 256,
            "num_attention_heads": 4,
            "intermediate_size": 1024,
            "max_position_embeddings": 512,
            "type_vocab_size": 2,
        }
    )


@dataclass(frozen=True)
class Inputs:
    """One batch for the model.

    Attributes:
        ids: The true ids, `[examples, length]`, as the next four.
        hidden: The ids with some words hidden.
        chosen: Which words are to be found.
        mask: Which ids are not padding.
        segments: Which ids belong to the second text.
        apart: Whether the texts belong together, `[examples]`; see `Example`.
    """

    ids: Tensor
    hidden: Tensor
    chosen: Tensor
    mask: Tensor
    segments: Tensor
    apart: Tensor


def pretrain(corpus: Corpus, plan: Plan) -> BertForPreTraining:
    """Train on masked words and next sentences together, a shallow model first.

    A stage starts from the layers of the one before, stacked upon themselves (Gong et al. 2019,
    "Efficient Training of BERT by Progressively Stacking"): two layers cost half of four while
    there is little to learn for more. The model stays in evaluation mode: no text comes twice, so
    that dropout would only cost time.
    """
    torch.manual_seed(plan.seed)
    masks = torch.Generator().manual_seed(plan.seed)
    batches = draw_batches(corpus, plan)
    size = corpus.tokenizer.get_vocab_size()
    model = _new_model(size, plan.stages[0][0], plan)
    warm_start(model, corpus.draw(plan.counted))
    start = 0
    for layers, share in plan.stages:
        if layers > model.config.num_hidden_layers:
            model = _stack(model, _new_model(size, layers, plan))
        last = (layers, share) == plan.stages[-1]
        stop = plan.steps if last else start + round(plan.steps * share)
        _train(model, batches, masks, range(start, stop), plan)
        start = stop
    return model


def _train(
    model: BertForPreTraining,
    batches: Iterator[list[Example]],
    masks: torch.Generator,
    steps: range,
    plan: Plan,
) -> None:
    """Train for a range of the plan's steps."""
    optimizer = torch.optim.AdamW(_weight_groups(model), betas=(0.9, 0.98), fused=True)
    recent: list[Tensor] = []
    for step in steps:
        for group in optimizer.param_groups:
            group["lr"] = plan.rate * _slope(step, step - steps.start, plan)
        inputs = [
            hide_words(next(batches), model.config.vocab_size, masks) for _ in range(_THREADS)
        ]
        losses = _set_gradients(model, inputs)
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        recent.append(losses)
        if (step + 1) % 100 == 0:
            words, pairs = torch.stack(recent).mean(0).tolist()
            _LOG.info("%d of %d: words %.3f, pairs %.3f", step + 1, plan.steps, words, pairs)
            recent.clear()


def _new_model(size: int, layers: int, plan: Plan) -> BertForPreTraining:
    """Build an untrained model."""
    shape = plan.shape | {"vocab_size": size, "num_hidden_layers": layers}
    model = BertForPreTraining(BertConfig.from_dict(shape))
    model.eval()
    return model


def _stack(small: BertForPreTraining, tall: BertForPreTraining) -> BertForPreTraining:
    """Fill a taller model with a small one's weights, its layers repeated."""
    trained = small.state_dict()
    count = small.config.num_hidden_layers
    weights = {}
    for name in tall.state_dict():
        parts = name.split(".")
        if "layer" in parts:
            at = parts.index("layer") + 1
            parts[at] = str(int(parts[at]) % count)
        weights[name] = trained[".".join(parts)]
    tall.load_state_dict(weights)
    return tall


def draw_batches(corpus: Corpus, plan: Plan) -> Iterator[list[Example]]:
    """Yield batches without end: examples of like lengths, as many as the ids allow."""
    rng = random.Random(plan.seed)
    while True:
        examples = sorted(corpus.draw(plan.round), key=lambda each: len(each.ids))
        batches: list[list[Example]] = [[]]
        for each in examples:
            if (len(batches[-1]) + 1) * len(each.ids) > plan.batch_ids:
                batches.append([])
            batches[-1].append(each)
        rng.shuffle(batches)
        yield from batches


def _set_gradients(model: BertForPreTraining, inputs: list[Inputs]) -> Tensor:
    """Set the mean gradients over some batches and return the mean losses `[2]`.

    A thread for a batch is faster than all threads for each small matrix product, above all on
    a machine that does other work.
    """
    weights = list(model.parameters())

    def differentiate(each: Inputs) -> tuple[Tensor, tuple[Tensor, ...]]:
        losses = _losses(model, each)
        return losses.detach(), torch.autograd.grad(losses.sum(), weights)

    with ThreadPoolExecutor(len(inputs)) as pool:
        losses, gradients = zip(*pool.map(differentiate, inputs), strict=True)
    for weight, parts in zip(weights, zip(*gradients, strict=True), strict=True):
        weight.grad = torch.stack(parts).mean(0)
    return torch.stack(losses).mean(0)


def _losses(model: BertForPreTraining, inputs: Inputs) -> Tensor:
    """Return the losses `[2]` of masked words and of next sentences."""
    output = model.bert(
        input_ids=inputs.hidden,
        attention_mask=inputs.mask.long(),
        token_type_ids=inputs.segments.long(),
    )
    # The vocabulary's logits are the dearest part: only where a word was chosen. [chosen, words]
    words = model.cls.predictions(output.last_hidden_state[inputs.chosen])
    pairs = model.cls.seq_relationship(output.pooler_output)
    sentences = nn.functional.cross_entropy(
        pairs, inputs.apart, ignore_index=IGNORED, reduction="sum"
    )
    known = (inputs.apart != IGNORED).sum().clamp(min=1)
    hits = nn.functional.cross_entropy(words, inputs.ids[inputs.chosen])
    return torch.stack([hits, sentences / known])


def hide_words(batch: list[Example], size: int, masks: torch.Generator) -> Inputs:
    """Choose 15 % of the words; of these, mask 80 %, swap 10 % for any word, leave 10 %."""
    rows = [torch.tensor(each.ids) for each in batch]
    ids = nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=PAD)
    chosen = (torch.rand(ids.shape, generator=masks) < 0.15) & (ids >= len(SPECIAL))
    if not chosen.any():
        chosen[:, 1] = True
    draw = torch.rand(ids.shape, generator=masks)
    anything = torch.randint(len(SPECIAL), size, ids.shape, generator=masks)
    hidden = torch.where(chosen & (draw < 0.8), torch.full_like(ids, MASK), ids)
    hidden = torch.where(chosen & (draw >= 0.9), anything, hidden)
    firsts = torch.tensor([each.first for each in batch])[:, None]
    segments = (torch.arange(ids.shape[1]) >= firsts) & (ids != PAD)
    apart = torch.tensor([each.apart for each in batch])
    return Inputs(ids, hidden, chosen, ids != PAD, segments, apart)


def _weight_groups(model: nn.Module) -> list[dict[str, object]]:
    """Spare biases and norms the weight decay, as BERT's own recipe does."""
    weights = list(model.parameters())
    return [
        {"params": [each for each in weights if each.ndim > 1], "weight_decay": 0.01},
        {"params": [each for each in weights if each.ndim <= 1], "weight_decay": 0.0},
    ]


def _slope(step: int, step_of_stage: int, plan: Plan) -> float:
    """Return the share of the rate: down to 0 over the plan, from a warm-up in each stage."""
    return min(1.0, (step_of_stage + 1) / plan.warmup) * (1 - step / plan.steps)
