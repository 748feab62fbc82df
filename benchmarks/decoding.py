"""The savings of a KV cache when every step is recorded, the cost of recording, and the time of a whole verdict."""

import time
from collections.abc import Iterator

import torch

from attnviz.decoding.numbers.verdict import judge
from attnviz.models.decoding_record import decoding_record
from attnviz.models.translator.stepwise import Plan, RecordedSteps, steps, teacher_forced
from attnviz.models.translator.translator import Translator
from attnviz.transformer.decoding import BatchStepping, Stepper
from benchmarks.model import text_of, translator
from benchmarks.report import Row
from benchmarks.timing import median, ratio, time_in_turn

LENGTH = 100
VERDICT_TOKENS = 20


def rows() -> Iterator[Row]:
    """Measure a source and a target of 100 tokens; then the verdict on 20, everything included."""
    model = translator()
    src, tgt = _sentences(model, LENGTH)
    tasks = {
        "cached": lambda: _run(_recorded_stepper(model, src, cached=True), tgt),
        "recomputed": lambda: _run(_recorded_stepper(model, src, cached=False), tgt),
        "plain": lambda: _run(_stepper(model, src, cached=True), tgt),
        "plain, recomputed": lambda: _run(_stepper(model, src, cached=False), tgt),
    }
    seconds = time_in_turn(tasks, runs=11, warm_up=1)
    yield Row(f"cached stepping, recorded, {LENGTH} tokens", 1e3 * median(seconds["cached"]), "ms")
    faster = ratio(seconds["recomputed"], seconds["cached"])
    yield Row(f"cached against recomputed, recorded, {LENGTH} tokens: faster", faster, "x", 2.5, "at least")
    last = _last_step(model, src, tgt)
    yield Row(f"step {LENGTH} alone, cached, recorded", 1e3 * median(last["cached"]), "ms")
    faster = ratio(last["recomputed"], last["cached"])
    yield Row(f"step {LENGTH} alone, cached against recomputed: faster", faster, "x")
    less = _bytes_alive(model, src, tgt, cached=False) / _bytes_alive(model, src, tgt, cached=True)
    yield Row(f"cached against recomputed, {LENGTH} tokens: less memory kept", less, "x", 40, "at least")
    recording = ratio(seconds["cached"], seconds["plain"])
    yield Row(f"recording each cached step, {LENGTH} tokens", recording, "x", 1.1)
    recording = ratio(seconds["recomputed"], seconds["plain, recomputed"])
    yield Row(f"recording each recomputed step, {LENGTH} tokens", recording, "x", 1.1)
    for way, cached in (("cached", True), ("recomputed", False)):
        yield Row(f"whole verdict, {way}, {VERDICT_TOKENS} tokens", _verdict_ms(model, cached=cached), "ms", 700)


@torch.inference_mode()
def _run(stepper: BatchStepping, tgt: torch.Tensor) -> None:
    for ids in tgt.unbind(dim=1):
        stepper.step(ids)


@torch.inference_mode()
def _stepper(model: Translator, src: torch.Tensor, *, cached: bool) -> Stepper:
    return Stepper(model.model, model.model.encode(src, None), None, capacity=LENGTH, cached=cached)


def _recorded_stepper(model: Translator, src: torch.Tensor, *, cached: bool) -> RecordedSteps:
    return RecordedSteps(_stepper(model, src, cached=cached))


@torch.inference_mode()
def _last_step(model: Translator, src: torch.Tensor, tgt: torch.Tensor, runs: int = 25) -> dict[str, list[float]]:
    """Measure the seconds of the last step of each way, after the steps before it."""
    seconds: dict[str, list[float]] = {"cached": [], "recomputed": []}
    for _ in range(runs):
        for way in seconds:
            watched = _recorded_stepper(model, src, cached=way == "cached")
            watched.step(tgt[:, :-1])
            watched.step(tgt[:, -1])
            seconds[way].append(watched.seconds)
    return seconds


@torch.inference_mode()
def _bytes_alive(model: Translator, src: torch.Tensor, tgt: torch.Tensor, *, cached: bool) -> int:
    """Count the bytes of query, key and value that the records of all steps keep alive; shared storage counts once."""
    watched, recorders = _recorded_stepper(model, src, cached=cached), []
    for ids in tgt.unbind(dim=1):
        watched.step(ids)
        recorders.append(watched.recorder)
    calls = [call for recorder in recorders for call in recorder.calls.values()]
    storages = (t.untyped_storage() for call in calls for t in (call.query, call.key, call.value))
    return sum({storage.data_ptr(): storage.nbytes() for storage in storages}.values())


def _verdict_ms(model: Translator, *, cached: bool) -> float:
    """Measure all that the page computes for a visitor: steps, their record, the pass, its tolerance, the verdict."""
    _, tgt = _sentences(model, VERDICT_TOKENS)
    ids = tuple(tgt[0].tolist())
    text, plan = text_of(VERDICT_TOKENS), Plan(model.languages[0], teacher=(*ids, model.codec.eos_id), cached=cached)
    times = []
    ids = (*ids, model.codec.eos_id)
    for _ in range(7):
        started = time.perf_counter()
        made = decoding_record(steps(model, text, plan))
        judge(made, lambda probe: teacher_forced(model, text, ids, to=plan.to, probe=probe)).table()
        times.append(time.perf_counter() - started)
    return 1e3 * median(times)


def _sentences(model: Translator, length: int) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(length)
    # No end of sentence among them: every row runs to the last token.
    low = max(model.codec.special_ids) + 1
    ids = torch.randint(low, model.model.config.vocab_size, (2, 1, length), generator=generator).to(model.device)
    ids[1, 0, 0] = model.codec.bos_id(model.languages[0])
    return ids[0], ids[1]
