"""Hold what attnviz computes on a GPU against the CPU's numbers, then measure time and memory there.

    PYTHONPATH=. python benchmarks/gpu.py            # writes out/gpu.json and out/gpu.md

It runs on a machine that has CUDA, torch and transformers, and this repository, and nothing else: no network, no
Streamlit, and neither pandas nor jaxtyping. All weights are random, but for the shipped translator's. A part that fails
stands in the table with its error, and the others go on. After `--seconds` the script stops and says what it left out.
"""

import argparse
import copy
import gc
import json
import math
import os
import signal
import sys
import time
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path
from statistics import median
from typing import Any

STARTED = time.monotonic()  # before torch is imported, which takes some seconds of the budget
if sys.path and Path(sys.path[0]).resolve() == Path(__file__).resolve().parent:
    del sys.path[0]  # run as a script: the files of this folder are modules of `benchmarks`, and of nothing else


def stand_in_for_jaxtyping() -> None:
    """Put a module in the place of jaxtyping where it is not installed: only annotations use it."""
    try:
        import jaxtyping  # noqa: F401
    except ImportError:
        shaped = type("Shaped", (), {"__class_getitem__": classmethod(lambda cls, _: cls)})
        module = types.ModuleType("jaxtyping")
        module.__dict__.update(dict.fromkeys(("Bool", "Float", "Int", "Shaped", "UInt8"), shaped))
        sys.modules["jaxtyping"] = module


stand_in_for_jaxtyping()

import torch  # noqa: E402
from torch import Tensor  # noqa: E402

import attnviz  # noqa: E402
from attnviz.transformer.device import rounding_unit, wait_for  # noqa: E402
from benchmarks import report  # noqa: E402
from benchmarks.timing import ratio, time_in_turn  # noqa: E402

SECONDS = 330  # of six minutes; what is under way at the end is interrupted within a layer
LENGTHS, WRITTEN = (512, 2048, 8192, 32768), 300
SHAPE = {"hidden_size": 576, "intermediate_size": 1536, "num_hidden_layers": 30, "vocab_size": 49_152,
         "num_attention_heads": 9, "num_key_value_heads": 3}  # fmt: skip  # of SmolLM2-135M
SMALL_SHAPE = {"hidden_size": 48, "intermediate_size": 64, "num_hidden_layers": 2, "vocab_size": 300,
               "num_attention_heads": 6, "num_key_value_heads": 2}  # fmt: skip
TEXT, DONOR, TARGET = "The quick brown fox jumps over it.", "The quick brown dog jumps over it.", "A dog."
LONG = "the old man who lives in this small house has a big red dog "
# What a number may differ by, in units of the rounding of the type that ran. Each number goes through a few roundings
# in each layer; they are independent, so their sum grows with the root of their number, and sixteen of them are what
# attnviz allows wherever it compares two computations (`attnviz.tracing.rounding.FACTOR`).
FACTOR = 16


@dataclass(frozen=True)
class Result:
    """A row of the table: a number, or why there is none. `most` is the aim, None if there is none. With `is_refused`
    there is no number, and that is no fault of attnviz.
    """

    part: str
    what: str
    value: float | None
    unit: str = ""
    most: float | None = None
    note: str = ""
    is_refused: bool = False

    @property
    def passed(self) -> bool:
        """Whether there is a number that meets the aim, or a refusal."""
        return self.is_refused or (self.value is not None and (self.most is None or self.value <= self.most))


class RefusedError(Exception):
    """attnviz says in a sentence why it does not show something: no number, and no fault."""


class OutOfTimeError(Exception):
    """The time for the whole script is used up."""


@dataclass
class Session:
    """The rows so far, and the time that is left. It writes both files after each part, so that none is lost."""

    device: torch.device
    folder: Path
    seconds: float
    started: float = STARTED
    results: list[Result] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)

    @property
    def left(self) -> float:
        """Seconds that are left."""
        return self.seconds - (time.monotonic() - self.started)

    def run(self, name: str, rows: Callable[[], Iterator[Result]], *, expected: float = 0.0) -> float:
        """Run a part and keep its rows; return the seconds that it took. A part that is `expected` to take longer than
        what is left is left out, and an error of a part is a row of its own.
        """
        if self.left <= max(expected, 0):
            self.left_out.append(name)
            return 0.0
        print(f"{name} …", file=sys.stderr, flush=True)
        began = time.monotonic()
        try:
            with _alarm(self.left):
                for result in rows():
                    self.results.append(result)
        except OutOfTimeError:
            self.left_out.append(f"{name} (the rest of it)")
        except Exception as error:  # of any sort: the other parts go on
            self.results.append(Result(name, "failed", None, note=one_line(error)))
        free(self.device)
        self.write()
        return time.monotonic() - began

    def write(self) -> None:
        """Write the JSON file and the Markdown table."""
        self.folder.mkdir(parents=True, exist_ok=True)
        found = [asdict(result) | {"passed": result.passed} for result in self.results]
        about = machine(self.device) | {"seconds": round(time.monotonic() - self.started, 1)}
        content = {"machine": about, "results": found, "left_out": self.left_out}
        (self.folder / "gpu.json").write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
        (self.folder / "gpu.md").write_text(markdown(about, self.results, self.left_out), encoding="utf-8")


@contextmanager
def _alarm(seconds: float) -> Iterator[None]:
    """Raise OutOfTimeError in the block after so many seconds, where the system has such an alarm."""

    def ring(*_: Any) -> None:
        raise OutOfTimeError

    if not hasattr(signal, "setitimer"):
        yield
        return
    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, max(seconds, 1e-3))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def one_line(error: BaseException) -> str:
    """Write an error in one line, without signs that end a cell of a table."""
    said = (str(error).strip() or "no message").splitlines()[0].replace("|", "/")
    return f"{type(error).__name__}: {said[:200]}"


def free(device: torch.device) -> None:
    """Hand back the device's memory that nothing uses."""
    gc.collect()
    if device.type == "cuda":
        torch.cuda.empty_cache()


def machine(device: torch.device) -> dict[str, Any]:
    """Describe the device, its driver's version of CUDA, and the libraries."""
    about: dict[str, Any] = {"device": str(device), "name": report.machine()["processor"]}
    if device.type == "cuda":
        gigabytes = round(torch.cuda.get_device_properties(device).total_memory / 1e9, 1)
        about |= {"name": torch.cuda.get_device_name(device), "memory_gb": gigabytes, "cuda": torch.version.cuda}
    versions = {"torch": str(torch.__version__), "transformers": import_module("transformers").__version__}
    return about | versions | {"python": sys.version.split()[0], "cores": os.cpu_count()}


def markdown(about: Mapping[str, Any], results: Sequence[Result], left_out: Sequence[str]) -> str:
    """Write the results as a Markdown table under the device's name."""
    lines = [f"{about['name']}; {', '.join(f'{key} {value}' for key, value in about.items() if key != 'name')}", ""]
    lines += ["| part | what | measured | aim | |", "| --- | --- | ---: | ---: | --- |"]
    for one in results:
        measured = "" if one.value is None else f"{_number(one.value)} {one.unit}".strip()
        aim = "" if one.most is None else f"<= {one.most:g}"
        verdict = "" if one.most is None or one.value is None else "met" if one.passed else "missed"
        lines.append(f"| {one.part} | {one.what} | {measured} | {aim} | {' '.join((verdict, one.note)).strip()} |")
    lines += ["", f"Left out for lack of time: {', '.join(left_out) or 'nothing'}."]
    return "\n".join(lines) + "\n"


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


# ---- models ----------------------------------------------------------------------------------------------------------


def of_transformers(name: str) -> Any:
    """Return a class of transformers, which takes some seconds to import."""
    return getattr(import_module("transformers"), name)


@cache
def byte_tokenizer() -> Any:
    """Make a tokenizer with a token for each byte."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers

    special = {"</s>": 0, "<pad>": 1, "<unk>": 2}
    alphabet = {sign: index for index, sign in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()), start=3)}
    tokenizer = Tokenizer(models.BPE(vocab=special | alphabet, merges=[]))
    tokenizer.pre_tokenizer, tokenizer.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    names = {"eos_token": "</s>", "pad_token": "<pad>", "unk_token": "<unk>"}
    return of_transformers("PreTrainedTokenizerFast")(tokenizer_object=tokenizer, **names)


IDS = {"vocab_size": 300, "bos_token_id": 0, "eos_token_id": 0, "pad_token_id": 1}


def gpt2() -> Any:
    """Make a small GPT-2."""
    return _sharpen(
        "GPT2LMHeadModel", of_transformers("GPT2Config")(n_embd=120, n_layer=4, n_head=5, n_positions=256, **IDS)
    )


def llama() -> Any:
    """Make a small Llama, three query heads to a key head."""
    sizes = {"hidden_size": 120, "intermediate_size": 200, "num_hidden_layers": 4, "num_attention_heads": 6}
    config = of_transformers("LlamaConfig")(num_key_value_heads=2, max_position_embeddings=256, **sizes, **IDS)
    return _sharpen("LlamaForCausalLM", config)


def t5() -> Any:
    """Make a small T5, which adds a bias to its scores and never scales them."""
    sizes = {"d_model": 120, "d_kv": 24, "d_ff": 200, "num_layers": 3, "num_decoder_layers": 4, "num_heads": 5}
    config = of_transformers("T5Config")(decoder_start_token_id=1, **sizes, **IDS)
    return _sharpen("T5ForConditionalGeneration", config, noise=0.04)


def _sharpen(name: str, config: Any, *, noise: float = 0.08) -> Any:
    """Build a model with weights that are the same each time, and large enough for attention to be far from even."""
    torch.manual_seed(7)
    model = of_transformers(name)(config).eval()
    with torch.no_grad():
        for weight in model.parameters():
            weight.add_(torch.randn_like(weight) * noise)
    return model


def on_device(make: Callable[[], Any], device: torch.device, dtype: torch.dtype) -> Any:
    """Open a model of transformers in attnviz, on a device and in a type; this compares it with its own attention."""
    return attnviz.load(make(), byte_tokenizer(), device=device, dtype=dtype)


def translator(device: torch.device, dtype: torch.dtype) -> Any:
    """Open the shipped translator."""
    return attnviz.load(device=device, dtype=dtype)


MODELS: dict[str, Callable[[torch.device, torch.dtype], Any]] = {
    "GPT-2": lambda device, dtype: on_device(gpt2, device, dtype),
    "Llama with groups": lambda device, dtype: on_device(llama, device, dtype),
    "T5": lambda device, dtype: on_device(t5, device, dtype),
    "shipped translator": translator,
}


# ---- numbers that must be the CPU's ----------------------------------------------------------------------------------

Numbers = dict[str, Tensor]


@dataclass(frozen=True)
class Case:
    """A model, and the runs that its numbers are of: a sentence, and one with another word."""

    model: Any
    trace: Any
    donor: Any

    @classmethod
    def of(cls, model: Any) -> "Case":
        """Run both sentences, with the same target where the model has one."""
        return cls(model, *(model.trace(text, **cls.given(model)) for text in (TEXT, DONOR)))

    @staticmethod
    def given(model: Any) -> dict[str, Any]:
        """Return the target that a model is given, so that no close choice of a token makes another text."""
        if not model.inputs.takes_target:
            return {"new_tokens": 0}
        return {"tgt_text": TARGET} | ({"to": "fr"} if "fr" in model.languages else {})


def traced(case: Case) -> Numbers:
    """Collect weights, hidden states and logits of a pass."""
    trace = case.trace
    maps = {f"weights {kind}": trace.attn(kind) for kind in trace.kinds}
    hidden = {f"hidden {stack} {layer}": trace.layer_output(stack, layer) for stack, layer in trace.layers}
    return maps | hidden | {"logits": trace.logits}


def stepped(case: Case) -> Numbers:
    """Collect the same of steps on a cache, a token at a time."""
    from attnviz.models.decoding_record import decoding_record

    given = {"new_tokens": 1} if case.model.inputs.is_prompt else Case.given(case.model)
    made = decoding_record(case.model.stepwise(TEXT, **given))
    maps = {f"weights {kind}": weights for kind, weights in made.attn.items()}
    return {**maps, **{f"hidden {stack}": hidden for stack, hidden in made.hidden.items()}, "logits": made.logits}


def ablated(case: Case) -> Numbers:
    """Compute the log-probabilities of the text without each single head."""
    from attnviz.causes.numbers.effects import head_effects

    return {"log-probabilities": head_effects(case.model, case.trace).after}


def patched(case: Case) -> Numbers:
    """Compute the lead of one token's logit over another's, with each head patched from the other sentence."""
    from attnviz.causes.numbers.pair import LogitDifference
    from attnviz.causes.numbers.patching import patched_heads

    metric = LogitDifference(2, 20, 30)
    return {"leads": patched_heads(case.model, case.donor, case.trace, metric).patched}


def attributed(case: Case) -> Numbers:
    """Split one logit into its parts."""
    from attnviz.analysis.attribution import LogitTarget, attribution
    from attnviz.analysis.residual import ResidualMaps, residual_maps
    from attnviz.causes.numbers.last_layer import LastLayer, last_layer

    asked, maps = LogitTarget(2, 20), residual_maps(case.model, case.trace)
    if isinstance(maps, ResidualMaps):
        found = attribution(maps, case.trace, asked)
    else:
        last = last_layer(case.model, case.trace)
        if not isinstance(last, LastLayer):
            raise RefusedError(f"{maps.why}; {last.why}")
        found = last.attribution(case.trace, asked)
    return {"parts": torch.tensor([part.value for part in found.parts]), "sum": torch.tensor([found.total])}


def measured(case: Case) -> Numbers:
    """Compute the metrics of every head."""
    from attnviz.analysis.metric_table import metric_columns

    columns = [(kind, metric_columns(case.trace, kind)) for kind in case.trace.kinds]
    return {
        f"{name} {kind}": torch.as_tensor(values)
        for kind, table in columns
        for name, values in table.items()
        if values.dtype.kind == "f"
    }


def taken_apart(case: Case) -> Numbers:
    """Collect the tensors of Anatomy's walk through each kind's first site, and what a bug there does to the model."""
    from attnviz.analysis.inputs import observed_inputs, site_inputs
    from attnviz.analysis.projections import projections
    from attnviz.anatomy.implementations.numbers.bug_in_model import BugEffect, bug_in_model
    from attnviz.anatomy.numbers.shape_walk import BatchFirstWalk
    from attnviz.implementations.bugs.cabinet import BUGS
    from attnviz.implementations.weights import SiteWeights
    from attnviz.transformer.probe import Site

    model, trace, numbers = case.model, case.trace, Numbers()
    sites = [Site(kind, 0) for kind in trace.kinds]
    found = {} if model.inputs.has_language else projections(model, trace, sites)
    parts: dict[Any, SiteWeights] = {}
    for site in sites:
        known = found.get(site)
        if known is not None and not isinstance(known, SiteWeights):
            raise RefusedError(f"{site.kind}: {known.why}")
        inputs = (
            site_inputs(model, trace, site.kind, 0) if known is None else observed_inputs(known, trace, site.kind, 0)
        )
        parts[site] = inputs.weights
        for line, step in enumerate(BatchFirstWalk(inputs).steps()):
            if step.tensor.is_floating_point():
                numbers[f"{site.kind} line {line}"] = step.tensor.nan_to_num(nan=0.0, neginf=0.0)
    effect = bug_in_model(model, trace, BUGS["mask_transposed"].steps, parts)
    if not isinstance(effect, BugEffect):
        raise TypeError(f"The bug raises: {effect}")
    return numbers | {"change of the logits": torch.tensor([effect.logits_change])}


AREAS: dict[str, Callable[[Case], Numbers]] = {
    "traces": traced, "stepping": stepped, "ablation": ablated, "patching": patched, "attribution": attributed,
    "metrics": measured, "Anatomy": taken_apart,
}  # fmt: skip


@dataclass(frozen=True)
class Precision:
    """A type that the device computes in, and how it multiplies float32 matrices: "highest", or "high" for TF32."""

    name: str
    dtype: torch.dtype
    products: str = "highest"


PRECISIONS = (
    Precision("float32", torch.float32),
    Precision("TF32", torch.float32, "high"),
    Precision("bfloat16", torch.bfloat16),
)


@dataclass(frozen=True)
class Sizes:
    """The largest logit and the largest score of a run, whose rounding other numbers carry."""

    logit: float
    score: float

    @classmethod
    def of(cls, trace: Any) -> "Sizes":
        """Measure a trace."""
        scores = (trace.scores(kind).abs().max() for kind in trace.kinds)
        return cls(float(trace.logits.abs().max()), float(max(scores)))

    def of_numbers(self, area: str, name: str, numbers: Tensor) -> float:
        """Return what differences of these numbers are measured against.

        That is the largest of them. Differences of logits carry the rounding of the logits. A score that moves by δ
        moves a weight by up to δ / 2, so weights, and the metrics made of them, carry half of the largest score's.
        """
        own = float(numbers.nan_to_num().abs().max())
        if area in ("ablation", "patching", "attribution"):
            return max(own, self.logit)
        are_weights = area == "metrics" or name.startswith("weights")
        return own * max(1.0, self.score / 2) if are_weights else own


def share_of_allowed(area: str, found: Numbers, expected: Numbers, sizes: Sizes, unit: float) -> tuple[float, str]:
    """Return the largest difference of an area's numbers as a share of what rounding may do, and the number's name."""
    worst = (0.0, "")
    for name, want in expected.items():
        have, want = (torch.as_tensor(part).detach().cpu().double() for part in (found[name], want))
        if have.shape != want.shape or not torch.equal(have.isnan(), want.isnan()):
            return math.inf, name
        size = sizes.of_numbers(area, name, want)
        apart = float((have - want).nan_to_num().abs().max())
        share = apart / (FACTOR * unit * size) if size else math.inf * bool(apart)
        if share > worst[0]:
            worst = share, name
    return worst


def compared(session: Session, name: str) -> Iterator[Result]:
    """Compute each area on the CPU and on the device, in each precision."""
    make, cpu = MODELS[name], torch.device("cpu")
    reference = Case.of(make(cpu, torch.float32))
    expected, sizes = {}, Sizes.of(reference.trace)
    for area, numbers in AREAS.items():
        try:
            expected[area] = numbers(reference)
        except Exception as error:
            yield Result(name, f"{area} on the CPU", None, note=one_line(error))
    for precision in PRECISIONS:
        torch.set_float32_matmul_precision(precision.products)
        try:
            yield from _compared_in(session, (name, precision), make, expected, sizes)
        finally:
            torch.set_float32_matmul_precision("highest")


def _compared_in(
    session: Session, of: tuple[str, Precision], make: Callable, expected: Mapping[str, Numbers], sizes: Sizes
) -> Iterator[Result]:
    name, precision = of
    unit = rounding_unit(precision.dtype, session.device.type)
    try:
        case = Case.of(make(session.device, precision.dtype))
    except Exception as error:
        yield Result(name, f"opened in {precision.name}", None, note=one_line(error))
        return
    for area, want in expected.items():
        what = f"{area}, {precision.name}: difference from the CPU, of what is allowed"
        try:
            share, worst = share_of_allowed(area, AREAS[area](case), want, sizes, unit)
            yield Result(name, what, share, "x", 1.0, f"in {worst}" if share > 1 else "")
        except RefusedError as said:
            yield Result(name, what, None, note=f"refused: {said}", is_refused=True)
        except Exception as error:
            yield Result(name, what, None, note=one_line(error))


# ---- time and memory -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class LongModel:
    """A Llama of SmolLM2-135M's shape: as attnviz runs it, and as transformers does."""

    ours: Any
    bare: Any
    device: torch.device

    @classmethod
    def make(cls, device: torch.device, dtype: torch.dtype, shape: Mapping[str, int], places: int) -> "LongModel":
        """Make both of the same random weights."""
        torch.manual_seed(0)
        ends = {"bos_token_id": 0, "eos_token_id": 0, "pad_token_id": 1}
        config = of_transformers("LlamaConfig")(
            **shape, max_position_embeddings=places, tie_word_embeddings=True, **ends
        )
        made = of_transformers("LlamaForCausalLM")(config).eval().requires_grad_(False)
        bare = copy.deepcopy(made).to(device, dtype)
        return cls(attnviz.load(made, byte_tokenizer(), device=device, dtype=dtype), bare, device)

    def text(self, length: int) -> str:
        """Return a text of so many tokens, which are bytes."""
        return (LONG * (length // len(LONG) + 1))[:length]

    @torch.inference_mode()
    def transformers_pass(self, length: int, how: str, *, weights: bool = False) -> Any:
        """Run transformers' own layers, "sdpa" or "eager"; `weights` returns what every head's weights are."""
        self.bare.set_attn_implementation(how)
        return self.bare.model(self._ids(length), use_cache=False, output_attentions=weights)

    @torch.inference_mode()
    def recorded_pass(self, length: int) -> Any:
        """Run the same layers by attnviz and keep every head's queries, keys and values, on the device."""
        from attnviz.models.huggingface.network.network import Batch, PassRequest
        from attnviz.tracing.recorder import Recorder

        ids = self._ids(length)
        recorder = Recorder(keeps_hidden=False)
        request = PassRequest(recorder, hidden=False, logits=False)
        return self.ours.network.run_only_stack(Batch(ids, torch.ones_like(ids)), request), recorder

    def trace(self, length: int) -> Any:
        """Trace a text as Heads does: without hidden states and logits; the trace goes to the machine's memory."""
        how = {"new_tokens": 0, "logits": False, "hidden": False, "max_tokens": length}
        return self.ours.trace(self.text(length), **how)

    @cache  # noqa: B019 - as many texts as there are lengths
    def _ids(self, length: int) -> Tensor:
        ids = byte_tokenizer()(self.text(length))["input_ids"]
        return torch.tensor([ids], device=self.device)


def timed(device: torch.device, task: Callable[[], object]) -> Callable[[], None]:
    """Return a task that ends when the device has done it."""

    def run() -> None:
        task()
        wait_for(device)

    return run


def seconds_of(device: torch.device, task: Callable[[], object], *, runs: int) -> float:
    """Measure the median of some runs after one that warms up."""
    return median(time_in_turn({"task": timed(device, task)}, runs=runs, warm_up=1)["task"])


def bytes_at_peak(device: torch.device, task: Callable[[], object]) -> int:
    """Return the bytes that a task takes at its peak, above those that were taken before."""
    if device.type != "cuda":
        from attnviz.analysis.peak_memory import peak_memory

        return peak_memory(task).peak
    free(device)
    before = torch.cuda.memory_allocated(device)
    torch.cuda.reset_peak_memory_stats(device)
    kept = task()
    wait_for(device)
    del kept
    return torch.cuda.max_memory_allocated(device) - before


def timings(model: LongModel, length: int, dtype: str) -> Iterator[Result]:
    """Time a recorded pass against transformers' own, and what is made of it, at one length."""
    device, part = model.device, f"{length:,} tokens, {dtype}"
    runs = 7 if length < 8192 else 3
    tasks = {
        "sdpa": timed(device, lambda: model.transformers_pass(length, "sdpa")),
        "recorded": timed(device, lambda: model.recorded_pass(length)),
    }
    seconds = time_in_turn(tasks, runs=runs, warm_up=2)
    yield Result(part, "transformers' sdpa pass, nothing recorded", 1e3 * median(seconds["sdpa"]), "ms")
    yield Result(part, "recorded pass, of the sdpa pass", ratio(seconds["recorded"], seconds["sdpa"]), "x", 1.05)
    ours = bytes_at_peak(device, lambda: model.recorded_pass(length))
    yield Result(part, "recorded pass, memory at its peak", ours / 1e6, "MB")
    yield from _eager(model, length, part, (median(seconds["recorded"]), ours))
    trace = model.trace(length)  # the first of its length is also compared with the model as it was given
    took = seconds_of(device, lambda: model.trace(length), runs=min(runs, 3))
    yield Result(part, "model.trace, moved to the machine's memory", 1e3 * took, "ms")
    yield from _looked_at(trace, part, aim=length == 8192)


def _eager(model: LongModel, length: int, part: str, ours: tuple[float, int]) -> Iterator[Result]:
    """Compare with transformers' eager attention, which returns all weights, or where they do not fit, returns none."""
    aim = 0.1 if length == 8192 else None
    for weights, what in ((True, "eager with all weights"), (False, "eager, whose weights are thrown away")):

        def run(keep: bool = weights) -> Any:
            return model.transformers_pass(length, "eager", weights=keep)

        try:
            used = bytes_at_peak(model.device, run)
            took = seconds_of(model.device, run, runs=3)
        except torch.OutOfMemoryError as error:
            yield Result(part, what, None, note=one_line(error), is_refused=True)  # what attnviz is there to avoid
            free(model.device)
            continue
        yield Result(part, f"recorded pass, time of {what}", ours[0] / took, "x", aim)
        yield Result(part, f"recorded pass, memory of {what}", ours[1] / used, "x", aim)
        return


def _looked_at(trace: Any, part: str, *, aim: bool) -> Iterator[Result]:
    """Time every head's small map and every head's numbers, whose results are on the CPU."""
    from attnviz.analysis.metric_table import metric_columns

    (kind,) = trace.kinds
    layers, heads = trace.shape(kind)
    for what, task, most in (
        ("small map", lambda: trace.thumbnails(kind), 1.5 if aim else None),
        ("numbers", lambda: metric_columns(trace, kind), None),
    ):
        began = time.perf_counter()
        task()
        yield Result(part, f"every head's {what} ({layers * heads} heads)", time.perf_counter() - began, "s", most)


def written(model: LongModel, count: int, dtype: str) -> Iterator[Result]:
    """Time tokens that are written, each step recorded, against transformers' own `generate`."""
    part, prompt = f"{count} written tokens, {dtype}", LONG[:20]
    ids = model._ids(len(LONG))[:, :20]
    model.bare.set_attn_implementation("sdpa")
    how = {"max_new_tokens": count, "min_new_tokens": count, "do_sample": False, "pad_token_id": 1}

    def ours() -> None:
        for step in model.ours.stepwise(prompt, new_tokens=count, max_tokens=count + len(prompt)):
            assert step.trace is not None

    def bare() -> None:
        model.bare.generate(ids, attention_mask=torch.ones_like(ids), **how)

    tasks = {"ours": timed(model.device, ours), "bare": timed(model.device, bare)}
    seconds = time_in_turn(tasks, runs=2, warm_up=1)
    steps = len(prompt) - 1 + count  # a prompt is fed token by token, so that each of its steps is seen
    yield Result(part, "a recorded step", 1e3 * median(seconds["ours"]) / steps, "ms")
    yield Result(part, "a token of transformers' generate", 1e3 * median(seconds["bare"]) / count, "ms")
    yield Result(part, "memory at its peak, recorded", bytes_at_peak(model.device, ours) / 1e6, "MB")


def time_long_texts(session: Session, precision: Precision, *, small: bool) -> None:
    """Time each length until there is no time left. A text four times as long takes at least four times as long."""
    lengths, count = ((16, 64), 5) if small else (LENGTHS, WRITTEN)
    made: list[LongModel] = []

    def make() -> Iterator[Result]:
        began = time.monotonic()
        shape = SMALL_SHAPE if small else SHAPE
        made.append(LongModel.make(session.device, precision.dtype, shape, lengths[-1]))
        yield Result(precision.name, "model made, opened and compared", time.monotonic() - began, "s")

    session.run(f"opening the long model, {precision.name}", make)
    if not made:
        session.left_out.append(f"long texts in {precision.name}")
        return
    model, took = made[0], 0.0
    session.run(f"written tokens, {precision.name}", lambda: written(model, count, precision.name))
    for length in lengths:
        name = f"{length:,} tokens, {precision.name}"
        took = session.run(name, lambda length=length: timings(model, length, precision.name), expected=4 * took)


def main(arguments: list[str] | None = None) -> int:
    """Compare, measure, and write both files. The exit status is 1 where a number is missing or misses its aim."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.gpu", description="Hold a GPU against the CPU, then measure it."
    )
    parser.add_argument("--device", default="cuda", help="cuda, cuda:1, …; cpu runs the same there")
    parser.add_argument("--out", type=Path, default=Path("out"), help="the folder for gpu.json and gpu.md")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="stop after so many")
    parser.add_argument("--small", action="store_true", help="short texts and a tiny model, to try the script")
    options = parser.parse_args(arguments)
    if options.device.startswith("cuda") and not torch.cuda.is_available():
        print("This machine has no CUDA device. --device cpu --small tries the script.", file=sys.stderr)
        return 2
    started = STARTED if arguments is None else time.monotonic()
    session = Session(torch.empty(0, device=options.device).device, options.out, options.seconds, started)
    for name in MODELS:
        session.run(f"{name} against the CPU", lambda name=name: compared(session, name))
    for precision in (one for one in PRECISIONS if one.products == "highest"):
        time_long_texts(session, precision, small=options.small)
    session.write()
    print((session.folder / "gpu.md").read_text(encoding="utf-8"))
    return 0 if all(result.passed for result in session.results) and not session.left_out else 1


if __name__ == "__main__":
    sys.exit(main())
