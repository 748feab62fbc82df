"""Pictures of steps: what a link shows, for the reader's browser.

What no widget draws, or needs a model that runs, is a still (`stills`).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from attnviz.html.one_file import require_room
from attnviz.learning import shipped
from attnviz.learning.names import experiment_of
from attnviz.learning.recording import Recording
from attnviz.learning.storage import toy_recording
from attnviz.lesson_folder.stills import still
from attnviz.lessons.lesson import Link
from attnviz.lessons.phrases import Translatable
from attnviz.lessons.picture import Picture
from attnviz.lessons.question import Question
from attnviz.pictures.causes.compared import Side
from attnviz.pictures.fields import specs_of
from attnviz.pictures.head_maps.covering import Covering
from attnviz.pictures.learning_state import EXPERIMENTS, view_of
from attnviz.pictures.shown.registry import ShownPicture, picture
from attnviz.widgets.wire import Payload

COVERED = Translatable("Covered until you answer the question or skip it.")
_TABS_OF_HEADS = {
    "heads": "heads", "links": "links", "model": "whole_model", "row": "one_row", "neuron": "neuron",
    "alignment": "alignment", "flow": "flow",
}  # fmt: skip
_OTHER_TABS_OF_MASKS = {
    "says": "What it would say", "fills": "All fills", "leak": "Leak test", "rows": "Row by row",
    "broadcast": "Broadcast",
}  # fmt: skip
_PARTS = ("row", "map", "maps")  # covers that leave the rest of a Heads picture to be seen


@dataclass(frozen=True)
class Drawn:
    """The picture of a step: the payload of a widget, or HTML that stands still.

    `covered` is the payload while the question is open, where that keeps back a part of the picture alone. `tab` is the
    tab of the page in whose place another one is drawn.
    """

    widget: str = ""
    opened: Payload | None = None
    covered: Payload | None = None
    html: str = ""
    tab: str = ""

    @property
    def site(self) -> tuple[Any, ...] | None:
        """Kind, layer and head in focus, of a Heads picture."""
        if self.widget != "heads" or self.opened is None:
            return None
        return tuple(self.opened.header["view"][name] for name in ("kind", "layer", "head"))


def draw(link: Link, shown: Picture | None, question: Question | None, say: Callable[[str], str]) -> Drawn:
    """Draw a step's link; `shown` is its run, None for a page that runs nothing. `say` translates what stands on it.

    Raises ValueError with one sentence for a link that cannot be followed.
    """
    if shown is None:
        return _live(_learning(link))
    if link.page == "Heads" and _tab(link, "heads") == "heads":
        return _heads(shown, question, say)
    found = _PAGES[link.page](shown) if link.page in _PAGES else None
    if found is None:
        return Drawn(html=still(shown))
    other = _OTHER_TABS_OF_MASKS.get(_tab(link, "pipeline"), "") if link.page == "Masks" else ""
    return replace(_live(_as_linked(found, shown)), tab=other)


def _live(shown: ShownPicture) -> Drawn:
    require_room(shown.subject.trace)
    return Drawn(shown.picture.widget, shown.lacking().payload())


def _heads(shown: Picture, question: Question | None, say: Callable[[str], str]) -> Drawn:
    found = _live(_as_linked(picture("heads").of(shown.trace), shown))
    if question is None or question.cover not in _PARTS:
        return found
    covering = Covering(shown.cover(question, say(COVERED)))
    covered = _live(_as_linked(picture("heads").of(shown.trace, covering=covering), shown))
    return replace(found, covered=covered.opened)


def _other_heads(shown: Picture) -> ShownPicture | None:
    name = _TABS_OF_HEADS.get(_tab(shown.link, "heads"))
    return None if name is None else picture(name).of(shown.trace)


def _mask_lab(shown: Picture) -> ShownPicture:
    return picture("mask_lab").of(shown.model, shown.trace)


def _stepper(shown: Picture) -> ShownPicture | None:
    """Step through the sentence; None for a run that is changed, which a stepper makes of its own."""
    if shown.trace.interventions:
        return None
    said, takes_target = shown.link.texts, shown.model.inputs.takes_target
    more = {"target": said.get("tgt", "").strip()} if takes_target else {"new_tokens": int(said.get("new") or 0)}
    return picture("stepper").of(shown.model, said.get("src", ""), to=shown.trace.to, **more)


def _causes(shown: Picture) -> ShownPicture | None:
    said, model, trace = shown.link.texts, shown.model, shown.trace
    tab = _tab(shown.link, "switch-off")
    if tab == "switch-off":
        return picture("switches").of(model, trace)
    if tab == "patch" and said.get("changed", "").strip():
        return picture("patching").of(model, trace, said["changed"])
    if tab == "attribute":
        return picture("attribution").of(model, trace)
    return _compared(shown) if tab == "compare" and not trace.interventions else None


def _compared(shown: Picture) -> ShownPicture | None:
    """Compare with another sentence, or another language; None for what else the page compares with."""
    said, model, here = shown.link.texts, shown.model, (shown.link.texts.get("src", ""), shown.trace.to)
    by, other, into = said.get("by") or "sentence", said.get("other", "").strip(), said.get("into", "")
    if by == "sentence" and other:
        names, there = (here[0], other), (other, here[1])
    elif by == "language" and into:
        names, there = (here[1], into), (here[0], into)
    else:
        return None
    runs = (_run(model, *asked) for asked in (here, there))
    sides = (
        Side(name, model, run, run.tgt_text if model.writes else "") for name, run in zip(names, runs, strict=True)
    )
    return picture("compared").of(*sides)


def _run(model: Any, src: str, to: str) -> Any:
    return model.trace(src, **({"to": to} if to else {}))


def _learning(link: Link) -> ShownPicture:
    if (where := link.texts.get("recording") or EXPERIMENTS) != EXPERIMENTS:
        raise ValueError(f"The recording “{where[:40]}” is not among the shipped runs: link to one of the experiments.")
    state, problems = view_of(link.texts)
    if problems:
        raise ValueError(str(problems[0]))
    runs = [_recording(state.task, parts, state.seed) for parts in state.runs]
    values = {name: link.texts[name] for name in ("moment", "site", "line") if link.texts.get(name)}
    return picture("learning").of(*runs, **values)


def _recording(task: str, parts: tuple[str, ...], seed: int) -> Recording:
    experiment = experiment_of(task, parts, seed=seed)
    path = shipped.path(experiment)
    if not path.is_file():
        raise ValueError(f"No recording of {experiment.name[:60]} comes with the package: link to a shipped run.")
    return toy_recording(path)


def _tab(link: Link, first: str) -> str:
    return link.texts.get("tab") or first


def _as_linked(made: ShownPicture, shown: Picture) -> ShownPicture:
    """Return a picture in the state that its link says. Raises ValueError for a text that cannot be followed."""
    subject, texts = made.subject, shown.link.texts
    names = {field: spec.name or field for field, spec in specs_of(type(subject.start)).items()}
    asked = {field: texts[name] for field, name in names.items() if field in subject.fields and texts.get(name)}
    if getattr(subject.start, "kind", ""):
        asked["kind"] = shown.kind
    return replace(made, state=subject.asked(asked))


_PAGES: Mapping[str, Callable[[Picture], ShownPicture | None]] = {
    "Heads": _other_heads, "Masks": _mask_lab, "Decoding": _stepper, "Causes": _causes,
}  # fmt: skip
