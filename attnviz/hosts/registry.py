"""Registry of all pictures by name: those of attnviz, and those that other packages offer as `attnviz.pictures`."""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from attnviz.guards.arguments import reads_arguments
from attnviz.kit import glossary
from attnviz.kit.bundle import Widget, source, widget_pages
from attnviz.kit.picture import Picture

GROUP = "attnviz.pictures"
NamedPicture = Picture  # its name in attnviz 1.0
_TRACES, _RUNS = "attnviz.hosts.traces", "attnviz.hosts.runs"
_SHARED = ("kind", "layer", "head")  # the head in focus, which every tab shows
_log = logging.getLogger(__name__)


def _model_and_trace(model: Any, trace: Any) -> Mapping[str, Any]:
    return {"model": model, "trace": trace}


def _decoding(model: Any, trace: Any) -> Mapping[str, Any]:
    return {"model": model, "text": trace.src_text, "to": trace.to}


def _another(model: Any, trace: Any) -> Any:
    return model.trace(f"{trace.src_text} again", to=trace.to, tgt_text=trace.tgt_text)


def _two_runs(model: Any, trace: Any) -> Mapping[str, Any]:
    return {"here": ("one", model, trace), "there": ("other", model, _another(model, trace))}


def _recording(model: Any, trace: Any) -> Mapping[str, Any]:
    from attnviz.toys import shipped
    from attnviz.toys.experiment import Experiment
    from attnviz.toys.storage import toy_recording

    return {"recording": toy_recording(shipped.path(Experiment("reverse")))}


def _more_than_weights(name: str) -> Any:
    return lambda texts: texts.get(name, "") not in ("", "weight")


def _always(texts: Mapping[str, str]) -> bool:
    return True


def _needs_runs(texts: Mapping[str, str]) -> bool:
    return texts.get("hidden", "") != "" or texts.get("shares", "") not in ("", "weight")


_ALL = (
    Picture(
        name="heads", title="Heads", state="attnviz.heads.heads_state:HeadsState", subject_of=f"{_TRACES}:heads_of",
        rules="attnviz.heads.heads:HeadsRules", needs_whole_trace=_more_than_weights("cells"),
        python_only=("specials", "words", "off", "cells", "plotly", "table", "npz"),
    ),
    Picture(
        name="links", title="Links", state="attnviz.heads.links.links:LinksState", subject_of=f"{_TRACES}:links_of",
        rules="attnviz.heads.links.links:LinksRules", python_only=("kind",),
    ),
    Picture(
        name="whole_model", title="Whole model", state="attnviz.heads.every_head.every_head:WholeModelState",
        subject_of=f"{_TRACES}:whole_model_of", tab="model", widget="every_head",
        rules="attnviz.heads.every_head.every_head:EveryHeadRules", python_only=("kind", "row", "open"),
    ),
    Picture(
        name="one_row", title="One row", state="attnviz.heads.every_head.every_head:OneRowState",
        subject_of=f"{_TRACES}:one_row_of", tab="row", widget="every_head",
        rules="attnviz.heads.every_head.every_head:OneRowRules", python_only=("kind", "row", "open"),
    ),
    Picture(
        name="neuron", title="Neuron", state="attnviz.heads.neuron.neuron:NeuronState",
        subject_of=f"{_TRACES}:neuron_of", rules="attnviz.heads.neuron.neuron:NeuronRules", python_only=("kind",
        "layer", "head"),
    ),
    Picture(
        name="alignment", title="Alignment", state="attnviz.heads.alignment.alignment:AlignmentState",
        subject_of=f"{_TRACES}:alignment_of", needs_whole_trace=_always, python_only=("way",),
    ),
    Picture(
        name="flow", title="Flow", state="attnviz.heads.flow.flow:FlowState", subject_of=f"{_TRACES}:flow_of",
        rules="attnviz.heads.flow.flow:FlowRules", needs_whole_trace=_always, python_only=("by", "flow"),
    ),
    Picture(
        name="spans", title="Spans", state="attnviz.spans.spans:SpansState",
        subject_of=f"{_TRACES}:spans_of", widget="span_shares",
        rules="attnviz.spans.spans:SpansRules", needs_whole_trace=_needs_runs, needs_decoder=True,
        python_only=("spans", "answer", "shares", "hidden"),
    ),
    Picture(
        name="stepper", title="Decoding", state="attnviz.decoding.decoding:DecodingState",
        subject_of=f"{_RUNS}:stepper_of", page="Decoding", terms=("Heads", "Decoding"), python_only=("open",),
        example=_decoding,
    ),
    Picture(
        name="mask_lab", title="Masks", state="attnviz.masks.masks:MasksState", subject_of=f"{_RUNS}:mask_lab_of",
        page="Masks", terms=("Masks",), example=_model_and_trace,
    ),
    Picture(
        name="switches", title="Switch off", state="attnviz.causes.switches.switches:SwitchOffState",
        subject_of=f"{_RUNS}:switches_of", page="Causes", tab="switch-off", terms=("Heads", "Causes"),
        python_only=("off", "put", "measure", "count"), example=_model_and_trace,
    ),
    Picture(
        name="patching", title="Patching", state="attnviz.causes.patching.patching:PatchState",
        subject_of=f"{_RUNS}:patching_of", page="Causes", tab="patch", terms=("Heads", "Causes"),
        python_only=("step", "put"),
        example=lambda model, trace: {**_model_and_trace(model, trace), "other": _another(model, trace)},
    ),
    Picture(
        name="attribution", title="Attribution", state="attnviz.causes.attribution.attribution:AttributeState",
        subject_of=f"{_RUNS}:attribution_of", page="Causes", tab="attribute", terms=("Heads", "Causes"),
        python_only=("step", "drops"), example=_model_and_trace,
    ),
    Picture(
        name="compared", title="Compared", state="attnviz.causes.compared.compared:CompareState",
        subject_of=f"{_RUNS}:compared_of", page="Causes", tab="compare", terms=("Heads", "Causes"), example=_two_runs,
    ),
    Picture(
        name="learning", title="Learning", state="attnviz.learning.learning:LearningState",
        subject_of=f"{_RUNS}:learning_of", page="Learning", terms=("Heads", "Learning"), example=_recording,
    ),
)  # fmt: skip
PICTURES = {one.name: one for one in _ALL}


@dataclass(frozen=True)
class _Offered:
    """Pictures of other packages by name, and a message for each that cannot be used, by the name of its entry
    point.
    """

    pictures: Mapping[str, Picture]
    refusals: Mapping[str, str]


@cache
def _offered() -> _Offered:
    found: dict[str, Picture] = {}
    refused: dict[str, str] = {}
    for point in sorted(entry_points(group=GROUP), key=lambda point: point.name):
        try:
            made = _load(point, found)
        except Exception as error:
            why = " ".join(str(error).split()).removesuffix(".")
            what = why if isinstance(error, ValueError) else f"{type(error).__name__}: {why}"
            refused[point.name] = f"The picture {point.name} of {_package(point)} cannot be used: {what}."
            _log.warning(refused[point.name], exc_info=error)
        else:
            found[made.name] = made
    return _Offered(found, refused)


def _load(point: EntryPoint, known: Mapping[str, Picture]) -> Picture:
    """Return the picture of an entry point. Raise an error of any type if it cannot be used."""
    made = point.load()
    if not isinstance(made, Picture):
        raise ValueError(f"{point.value} is no attnviz.Picture")
    if made.name in PICTURES or made.name in known or any(made.tab == one.tab for one in _ALL):
        raise ValueError(f"there is another picture called {made.name}")
    if made.script and made.widget in widget_pages():
        raise ValueError(f"attnviz has a widget called {made.widget}")
    source(made.drawn_by)
    for file in made.term_files:
        glossary.add_terms(file, made.page)
    return made


def _package(point: EntryPoint) -> str:
    return point.dist.name if point.dist is not None else point.module


def pictures() -> Mapping[str, Picture]:
    """Return all pictures by name: those of attnviz, then those of other packages."""
    return {**PICTURES, **_offered().pictures}


def refusals() -> tuple[str, ...]:
    """Return a message for each picture of another package that cannot be used."""
    return tuple(_offered().refusals.values())


def tabs(page: str) -> Mapping[str, Picture]:
    """Return the pictures that have a tab on the page with this title, by the tab's name in addresses."""
    return {one.tab: one for one in pictures().values() if one.page == page}


def is_ours(one: Picture) -> bool:
    """Return whether a picture is one of attnviz's own."""
    return PICTURES.get(one.name) is one


def names_in_address(one: Picture) -> Callable[[str], str]:
    """Return the function from a picture's field name to its name in the page's address.

    For a picture of another package, the field name is prefixed with the picture's name, unless all tabs share the
    field.
    """
    return str if is_ours(one) else partial(_with_prefix, one.name)


def _with_prefix(prefix: str, name: str) -> str:
    return name if name in _SHARED else f"{prefix}.{name}"


def widget(name: str) -> Widget:
    """Return the widget with this name: a picture's widget, or another one of attnviz."""
    drawing = next((one for one in pictures().values() if one.widget == name), None)
    return Widget(name, widget_pages()[name]) if drawing is None else drawing.drawn_by


@reads_arguments
def picture(name: str) -> Picture:
    """Return a picture by its name. Raises ValueError, which lists all names, for an unknown name."""
    if name in PICTURES:
        return PICTURES[name]
    if name in _offered().refusals:
        raise ValueError(_offered().refusals[name])
    if name not in pictures():
        raise ValueError(f"There is no picture {name!r}: choose one of {', '.join(pictures())}.")
    return pictures()[name]
