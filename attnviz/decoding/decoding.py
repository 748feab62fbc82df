"""The options of a decoding, as a page or notebook gives them, and the run that they request from a model."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

import torch

from attnviz.analysis.cancellable import TO_THE_END, Cancellable
from attnviz.decoding.numbers.comparison import Decoded, Decoding, compare
from attnviz.kit.fields import (  # fmt: skip
    MEAN,
    PageState,
    Problem,
    choice,
    flag,
    number,
    or_mean,
    read,
    text,
    whole_number,
    write,
)
from attnviz.models import chat
from attnviz.models.decoding_record import DecodingRecord, DecodingRows
from attnviz.models.protocol import Model, Step
from attnviz.models.translator.faults import Faults
from attnviz.models.translator.stepwise import Plan, steps, teacher_forced
from attnviz.models.translator.translator import Translator
from attnviz.text.conversation import Turn
from attnviz.tracing.causes.resolution import CheckedInterventions
from attnviz.tracing.trace import Trace
from attnviz.transformer.beam import Beam
from attnviz.transformer.decoding import Choose, Sampling, likeliest_ids

WAYS = {"cached": "KV cache", "recomputed": "Recompute the prefix", "teacher": "Teacher's prefix"}
CHOICES = {"greedy": "Greedy", "sampled": "Sampled", "beam": "Beam"}
MASKS = {"causal": "Causal mask", "none": "No causal mask", "ahead": "Mask off by one"}
DTYPES = {"float32": "float32", "float16": "float16", "bfloat16": "bfloat16"}
MORE = {
    "verdict": "Every difference", "cost": "Cost", "experiment": "The untrained experiment",
    "tables": "Numbers as tables",
}  # fmt: skip
DROPOUT = 0.1  # the dropout rate of the switch, as in the paper
NO_WRITER = (
    "This model writes no text, so there are no decoding steps to show. The pages Heads and Masks show its attention."
)
MAX_IDS = 500  # maximum characters of a list of ids


@dataclass(frozen=True)
class Number:
    """The range of a numeric option, and the step size of its input field."""

    low: float
    high: float
    step: float = 1


NUMBERS = {
    "seed": Number(0, 9999),
    "temperature": Number(0.1, 3.0, 0.1),
    "top_k": Number(0, 1000),
    "top_p": Number(0.05, 1.0, 0.05),
    "beam": Number(1, 8),
    "smoothing": Number(0.0, 0.5, 0.05),
    "padding": Number(0, 8),
    "ids_seed": Number(0, 9999),
    "limit": Number(1, 1000),
}
OF_CHOICE = {
    "sampled": {"temperature": "Temperature", "top_k": "Top k", "top_p": "Top p"},
    "beam": {"beam": "Beam size"},
}


def _ranged_field(name: str, default: float) -> Any:
    return number(default, NUMBERS[name].low, NUMBERS[name].high)


@dataclass(frozen=True)
class DecodingState(PageState):
    """All options of the page. `top_k` 0 and `top_p` 1 mean no truncation; `step` None means the last step."""

    way: str = choice("cached", WAYS)
    choose: str = choice("greedy", CHOICES)
    seed: int = _ranged_field("seed", 0)
    temperature: float = _ranged_field("temperature", 1.0)
    top_k: int = _ranged_field("top_k", 0)
    top_p: float = _ranged_field("top_p", 1.0)
    beam: int = _ranged_field("beam", 4)
    smoothing: float = _ranged_field("smoothing", 0.0)
    padding: int = _ranged_field("padding", 2)
    causal: str = choice("causal", MASKS)
    dropout: bool = flag()
    dtype: str = choice("float32", DTYPES)
    restart: bool = flag()
    more: str | None = choice(None, MORE)
    ids_src: str = text("0 1 2 3 4", limit=MAX_IDS)  # for the untrained experiment
    ids_tgt: str = text("4 3 2 1 0", limit=MAX_IDS)
    ids_seed: int = _ranged_field("ids_seed", 0)
    ids_causal: bool = flag(default=True)
    step: int | None = whole_number(used="the last one")
    layer: int | str = or_mean(MEAN, of="layer")
    head: int | str = or_mean(MEAN, of="head")

    @property
    def is_plain(self) -> bool:
        """Whether stepping, choice of tokens and loss have their default options."""
        return all(getattr(self, name) == _HEALTHY[name] for name in ("way", "choose", "seed", "smoothing", "padding"))

    @property
    def broken_switches(self) -> tuple[str, ...]:
        """Names of the switches that are set to break the decoding."""
        return tuple(
            name for name in ("causal", "dropout", "dtype", "restart") if getattr(self, name) != _HEALTHY[name]
        )

    def to_params(self) -> dict[str, str]:
        """Return every option as an address parameter; options of the untrained experiment only while it is shown."""
        texts = write(self)
        if self.more == "experiment":
            return texts
        return {name: chosen for name, chosen in texts.items() if not name.startswith("ids_")}

    def computed_options(self) -> "DecodingState":
        """Return the state with defaults for all options that change no computed value: what is in view, and
        the part shown below.
        """
        return replace(self, **{name: _HEALTHY[name] for name in _LOOKED_AT})


_LOOKED_AT = ("step", "layer", "head", "more", "ids_src", "ids_tgt", "ids_seed", "ids_causal")
_HEALTHY = {field.name: field.default for field in fields(DecodingState)}
START = DecodingState()


def view_of(
    params: Mapping[str, str], n_layers: int, n_heads: int, start: Mapping[str, Any]
) -> tuple[DecodingState, tuple[Problem, ...]]:
    """Parse the options from address parameters, and return them with a message for each invalid one.

    `start` has the model's initial values. Options that belong to another choice of tokens are ignored.
    """
    unused = {name for choice, names in OF_CHOICE.items() if choice != params.get("choose") for name in names}
    asked = {name: chosen for name, chosen in params.items() if name not in unused}
    return read(DecodingState, asked, {"layer": n_layers, "head": n_heads}, DecodingState(**start))


@dataclass(frozen=True)
class DecodingInput:
    """The source, prompt or conversation to decode, the target language, and the number of tokens to write
    after a prompt.
    """

    src: str
    to: str = ""
    new: int = 0
    messages: tuple[Turn, ...] = ()


def run_decoding(
    model: Model,
    trace: Trace,
    state: DecodingState = START,
    *,
    asked: DecodingInput | None = None,
    stepping: Model | None = None,
    work: Cancellable = TO_THE_END,
    rows: DecodingRows | None = None,
) -> Decoded:
    """Decode a run's sentence step by step as `state` asks, and compare the steps with one pass.

    `asked` is the input of the trace if it differs from the trace's texts, as for a prompt with its continuation.
    `stepping` is `copy_in_dtype(model, state.dtype)`, made here by default. `work` receives the progress of the steps
    and passes. The steps are added to `rows`, if given; if `work` was stopped, the steps made so far are compared.
    Raise ValueError with a message of one sentence.
    """
    asked = asked or DecodingInput(trace.src_text or trace.tgt_text, trace.to)
    if isinstance(model, Translator):
        stepping = stepping or copy_in_dtype(model, state.dtype)
        assert isinstance(stepping, Translator)  # a copy of a Translator
        planned = _translator_decoding(model, stepping, asked, trace, state)
    else:
        planned = _checkpoint_decoding(model, asked, trace, state)
    most = len(trace.sentences[0].tgt)
    # Passes run after the steps, and cannot be stopped.
    passes = Cancellable(lambda _done, _total: work.tell(most, most))
    run = compare(replace(planned, steps=work.iterate(planned.steps, most)), rows, work=passes)
    if state.way != "teacher" or len(run.made.fed) >= most:
        return run
    return replace(run, made=replace(run.made, after=trace.sentences[0].tgt[len(run.made.fed)]))


def copy_in_dtype(model: Model, dtype: str) -> Model:
    """Return the model for the steps in this dtype: a copy of a translator. A checkpoint keeps its own dtype."""
    if dtype == "float32" or not isinstance(model, Translator):
        return model
    return model.copy_in_dtype(getattr(torch, dtype))


def _translator_decoding(
    model: Translator, stepping: Translator, asked: DecodingInput, trace: Trace, state: DecodingState
) -> Decoding:
    """Plan the steps and passes of a translator.

    The training pass keeps the model's dtype; a coarser dtype applies only to the steps.
    """
    ids = tuple(token.id for token in trace.sentences[0].tgt)
    changes = CheckedInterventions.check(trace.interventions, model.shapes, model.model_id)
    plan = replace(_plan(model, asked, ids, state), changes=changes)
    how = {"to": asked.to, "faults": plan.faults, "changes": changes}
    is_broken = plan.faults.mask != "causal" or plan.faults.dropout
    return Decoding(
        model,
        steps(stepping, asked.src, plan),
        teacher_forced(model, asked.src, ids, padding=state.padding, **how),
        one_pass=lambda made: lambda probe: teacher_forced(model, asked.src, made.ids, probe=probe, **how),
        sampling=plan.choose if isinstance(plan.choose, Sampling) else None,
        intact=teacher_forced(model, asked.src, ids, to=asked.to, changes=changes) if is_broken else None,
        pad_id=model.codec.pad_id,
        smoothing=state.smoothing,
    )


def _plan(model: Translator, asked: DecodingInput, ids: tuple[int, ...], state: DecodingState) -> Plan:
    is_taught = state.way == "teacher"
    uses_beam = state.choose == "beam" and not is_taught  # beam search chooses the tokens itself
    return Plan(
        asked.to,
        teacher=ids if is_taught else None,
        cached=state.way != "recomputed",
        choose=Beam(state.beam) if uses_beam else _choose(model, state),
        max_tokens=model.decoding_limit(asked.src),
        faults=Faults(
            mask=state.causal,  # type: ignore[arg-type]
            dropout=DROPOUT if state.dropout else 0.0,
            seed=state.seed,
            restart_positions=state.restart,
        ),
    )


def _choose(model: Model, state: DecodingState) -> Choose:
    if state.choose != "sampled":
        return likeliest_ids
    generator = torch.Generator(model.device).manual_seed(state.seed)
    return Sampling(generator, state.temperature, state.top_k or None, state.top_p if state.top_p < 1 else None)


def _checkpoint_decoding(model: Model, asked: DecodingInput, trace: Trace, state: DecodingState) -> Decoding:
    """Plan the steps and passes of a checkpoint, with its own stepping and transformers' cache.

    No token counts as padding, because a checkpoint may end its texts with its padding id. Raise ValueError for a model
    that writes no text.
    """
    if not model.writes:
        raise ValueError(NO_WRITER)
    choose = _choose(model, state)
    return Decoding(
        model,
        _steps(model, asked, trace, state, choose),
        model.rerun(trace),
        one_pass=lambda made: lambda probe: model.rerun(_stepped_through(trace, made), probe),
        sampling=choose if isinstance(choose, Sampling) else None,
        smoothing=state.smoothing,
    )


def _steps(model: Model, asked: DecodingInput, trace: Trace, state: DecodingState, choose: Choose) -> Iterator[Step]:
    """Let the model decode: continue a prompt, write a target, or feed the training target token by token; yield the
    steps.
    """
    how = {"cached": state.way != "recomputed", "choose": choose, "interventions": trace.interventions}
    if state.way == "teacher":
        how["tgt_in"] = tuple(token.id for token in trace.sentences[0].tgt_in)
    elif not model.inputs.takes_target:
        how["new_tokens"] = max(1, asked.new)
    if asked.to:
        how["to"] = asked.to
    if asked.messages:
        chat.require(model)
        return model.stepwise(messages=[turn.as_message for turn in asked.messages], **how)
    return model.stepwise(asked.src, **how)


def _stepped_through(trace: Trace, made: DecodingRecord) -> Trace:
    """Return the trace with its target replaced by the tokens of the steps."""
    sentence = replace(trace.sentences[0], tgt=(*made.fed, made.chosen[-1]), cut=False)
    return replace(trace, sentences=(sentence,))
