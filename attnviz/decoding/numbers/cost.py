"""Cost of decoding a target of a given length: multiply-adds counted from the config, and measured seconds."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import torch

from attnviz.models.translator.translator import Translator
from attnviz.transformer.config import ModelConfig
from attnviz.transformer.decoding import Stepper
from attnviz.transformer.device import wait_for
from attnviz.transformer.transformer import Transformer

WAYS = ("pass", "recomputed", "cached")
LENGTHS = (5, 10, 20, 40, 60, 80, 100)


@dataclass(frozen=True)
class Cost:
    """The cost of decoding a target of one length in one way: "pass", "recomputed" or "cached"."""

    way: str
    length: int
    multiply_adds: int
    seconds: float = float("nan")


def multiply_adds(config: ModelConfig, way: str, src_len: int, tgt_len: int) -> int:
    """Count the multiply-adds of the matrix products that compute `tgt_len` rows of logits, including the encoder once.

    Linear maps, scores, contexts (including masked cells, which are computed and discarded) and logits are counted, but
    not the softmax, norms, sums and embeddings. Raise ValueError for an unknown way.
    """
    layers = config.n_layers
    encoder = layers * (_attention(config, src_len, src_len, src_len) + _feed_forward(config, src_len))
    if way == "pass":
        return encoder + _decoder(config, tgt_len, tgt_len, (src_len, src_len)) + tgt_len * _logits(config)
    if way == "recomputed":
        prefixes = (_decoder(config, length, length, (src_len, src_len)) for length in range(1, tgt_len + 1))
        return encoder + sum(prefixes) + tgt_len * _logits(config)
    if way == "cached":
        # Keys and values of cross-attention are projected only at the first step.
        first = _decoder(config, 1, 1, (src_len, src_len))
        others = sum(_decoder(config, 1, length, (src_len, 0)) for length in range(2, tgt_len + 1))
        return encoder + first + others + tgt_len * _logits(config)
    raise ValueError(f"way must be one of {', '.join(WAYS)}, not {way!r}.")


def measure_costs(
    translator: Translator, *, src_len: int = 12, lengths: Sequence[int] = LENGTHS, runs: int = 2
) -> Iterator[Cost]:
    """Time the three ways for each length on random tokens.

    Yield each cost, the best of `runs`, once it is measured.
    """
    model = translator.model
    generator = torch.Generator().manual_seed(0)
    ids = torch.randint(model.config.vocab_size, (1, src_len + max(lengths)), generator=generator)
    src, tgt = ids[:, :src_len].to(translator.device), ids[:, src_len:].to(translator.device)
    for length in lengths:
        for way, run in _ways(model, src, tgt[:, :length]).items():
            seconds = min(_seconds(run, translator.device) for _ in range(runs))
            yield Cost(way, length, multiply_adds(model.config, way, src_len, length), seconds)


def _ways(model: Transformer, src: torch.Tensor, tgt: torch.Tensor) -> dict[str, Callable[[], object]]:
    def stepping(cached: bool) -> None:
        stepper = Stepper(model, model.encode(src, None), None, capacity=tgt.shape[1], cached=cached)
        for ids in tgt.unbind(dim=1):
            stepper.step(ids)

    return {
        "pass": lambda: model.logits(model.decode(tgt, model.encode(src, None), None)),
        "recomputed": lambda: stepping(cached=False),
        "cached": lambda: stepping(cached=True),
    }


@torch.inference_mode()
def _seconds(run: Callable[[], object], device: torch.device) -> float:
    started = time.perf_counter()
    run()
    wait_for(device)
    return time.perf_counter() - started


def _decoder(config: ModelConfig, q_len: int, k_len: int, src: tuple[int, int]) -> int:
    """Count all decoder layers for `q_len` new rows and `k_len` target keys.

    `src` is (number of source keys, number of source keys that are projected now).
    """
    own = _attention(config, q_len, k_len, q_len)
    cross = _attention(config, q_len, src[0], src[1])
    return config.n_layers * (own + cross + _feed_forward(config, q_len))


def _attention(config: ModelConfig, q_len: int, k_len: int, projected: int) -> int:
    """Count W_q and W_o for each query, W_k and W_v for each newly projected key, and scores and context for
    each pair.
    """
    width = config.n_heads * config.head_size
    return config.d_model * width * (2 * q_len + 2 * projected) + 2 * width * q_len * k_len


def _feed_forward(config: ModelConfig, length: int) -> int:
    return 2 * length * config.d_model * config.d_ff


def _logits(config: ModelConfig) -> int:
    return config.d_model * config.vocab_size
