"""The cost of recording on top of the forward pass, and of every head's map and thumbnail on top of that."""

from collections.abc import Iterator
from itertools import product

import torch

from attnviz.models.translator.translator import Translator
from attnviz.tracing.record import Sentence
from attnviz.tracing.recorder import Recorder
from attnviz.tracing.thumbnails import thumbnail
from attnviz.tracing.trace import Trace
from attnviz.transformer.layers import ForwardContext
from benchmarks.model import translator
from benchmarks.report import Row
from benchmarks.timing import median, ratio, time_in_turn

# Shorter passes are repeated more often: their times scatter more.
RUNS = {16: 200, 64: 100, 256: 30, 512: 20}


def rows() -> Iterator[Row]:
    """Measure whole passes, teacher forced, logits included, with source and target of each length."""
    model = translator()
    for length, runs in RUNS.items():
        seconds = time_in_turn(_tasks(model, length), runs=runs)
        plain = seconds["plain"]
        yield Row(f"forward pass, {length} tokens", 1e3 * median(plain), "ms")
        yield Row(f"recording, {length} tokens", ratio(seconds["recorded"], plain), "x", 1.05)
        yield Row(f"recording, every map and thumbnail, {length} tokens", ratio(seconds["drawn"], plain), "x", 1.25)


def _tasks(model: Translator, length: int):
    generator = torch.Generator().manual_seed(length)
    ids = torch.randint(5, model.model.config.vocab_size, (2, 1, length), generator=generator)
    src, tgt = ids.to(model.device)

    @torch.inference_mode()
    def forward(recorder: Recorder | None) -> Trace:
        run = ForwardContext(recorder) if recorder else ForwardContext()
        memory = model.model.encode(src, None, run)
        logits = model.model.logits(model.model.decode(tgt, memory, None, run))
        return Trace.from_recorder(recorder or Recorder(), [Sentence()], memory=memory, logits=logits)

    def draw() -> None:
        trace = forward(Recorder())
        for kind, layer in product(trace.kinds, range(trace.n_layers)):
            thumbnail(trace.attn(kind, layer=layer), side=64)

    return {"plain": lambda: forward(None), "recorded": lambda: forward(Recorder()), "drawn": draw}
