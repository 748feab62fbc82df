"""The fifteen pictures by name: the widget of each, its subject, and the controls that only Python can answer."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from attnviz.doors import door
from attnviz.pictures.browser_view import is_of, to_view
from attnviz.pictures.captions import with_caption
from attnviz.pictures.shown import runs, traces
from attnviz.pictures.shown.subject import Subject
from attnviz.text.arguments import reads_arguments
from attnviz.widgets.lacks import PYTHON_ONLY
from attnviz.widgets.wire import Payload


@dataclass(frozen=True)
class NamedPicture:
    """A picture before it has a subject.

    `widget` is its folder in `attnviz/widgets`, and `subject` reads what `of` is given.
    """

    name: str
    title: str
    widget: str
    subject: Callable[..., Subject]

    @property
    def python_only(self) -> tuple[str, ...]:
        """Names of the controls that only Python can answer."""
        return PYTHON_ONLY.get(self.widget, ())

    def of(self, *subject: Any, **asked: Any) -> "ShownPicture":
        """Draw it from a trace, or from its other subject, with fields of its state such as `layer=2`.

        A value is as the state has it, or a text as a link writes it. Raises ValueError, with one sentence, for what
        has not what the picture needs, for a field that there is not, and for a value out of range.
        """
        signature = inspect.signature(self.subject)
        named = {name: asked.pop(name) for name in signature.parameters if name in asked}
        try:
            signature.bind(*subject, **named)
        except TypeError as why:
            raise ValueError(f"{self.title} is drawn from {_argument_list(signature)}: {why}.") from None
        read = self.subject(*subject, **named)
        return ShownPicture(self, read, read.with_values(asked))


@dataclass(frozen=True)
class ShownPicture:
    """A picture of something, in one state; `seq` counts the choices that its browser has made.

    `is_alone` says that no Python answers.
    """

    picture: NamedPicture
    subject: Subject
    state: Any
    seq: int = 0
    is_alone: bool = False

    def __str__(self) -> str:
        """Name the picture and what it shows, such as Heads of “I love you.”."""
        sentence = self.subject.caption(self.state).sentence
        return f"{self.picture.name}: {sentence}" if sentence else self.picture.name

    def payload(self) -> Payload:
        """Make what the widget draws from. Raises ValueError, with one sentence, for a state that cannot be drawn."""
        draw = self.subject.draw_whole if self.is_alone and self.subject.draw_whole else self.subject.draw
        made = with_caption(draw(self.state), self.subject.caption(self.state))
        told = {"lacks": list(self.lacks), "seq": self.seq}
        view = {"view": {**made.header["view"], "seq": self.seq}} if "view" in made.header else {}
        return made._replace(header=made.header | told | view)

    @property
    def lacks(self) -> tuple[str, ...]:
        """Names of the controls that are left out, since no Python answers them."""
        return tuple(dict.fromkeys(self.subject.unanswered + self.picture.python_only * self.is_alone))

    @property
    def view(self) -> dict[str, Any]:
        """The fields that may be asked, as the browser has them."""
        return {name: value for name, value in to_view(self.state).items() if name in self.subject.fields}

    def with_fields(self, **asked: Any) -> "ShownPicture":
        """Return the picture with other fields, as `of` takes them; those that are left out stay as they are."""
        kept = {name: getattr(self.state, name) for name in self.subject.fields}
        return replace(self, state=self.subject.with_values(kept | asked))

    def with_view(self, told: Any) -> "ShownPicture":
        """Return the picture with what a browser reported; as it is, where no script of ours reports such a thing."""
        seq = told.get("seq") if isinstance(told, Mapping) else None
        return replace(self, state=self.subject.with_report(self.state, told), seq=seq if is_of(seq, int) else self.seq)

    def to_html(self, path: str | Path, *, title: str = "") -> Path:
        """Write it as one HTML file, which shows it without Python and without a network; return its path.

        Raises ValueError, with one sentence, for a path that cannot be written and for a text that is too long.
        """
        return door("page")([self], path, title=title)

    def without_python(self) -> "ShownPicture":
        """Return the picture without the controls that only Python can answer, as a file has it."""
        return replace(self, is_alone=True)


_ALL = (
    NamedPicture("heads", "Heads", "heads", traces.heads_of),
    NamedPicture("links", "Links", "links", traces.links_of),
    NamedPicture("whole_model", "Whole model", "every_head", traces.whole_model_of),
    NamedPicture("one_row", "One row", "every_head", traces.one_row_of),
    NamedPicture("neuron", "Neuron", "neuron", traces.neuron_of),
    NamedPicture("flow", "Flow", "flow", traces.flow_of),
    NamedPicture("spans", "Spans", "span_shares", traces.spans_of),
    NamedPicture("alignment", "Alignment", "alignment", traces.alignment_of),
    NamedPicture("stepper", "Decoding", "stepper", runs.stepper_of),
    NamedPicture("mask_lab", "Masks", "mask_lab", runs.mask_lab_of),
    NamedPicture("switches", "Switch off", "switches", runs.switches_of),
    NamedPicture("patching", "Patching", "patching", runs.patching_of),
    NamedPicture("attribution", "Attribution", "attribution", runs.attribution_of),
    NamedPicture("compared", "Compared", "compared", runs.compared_of),
    NamedPicture("learning", "Learning", "learning", runs.learning_of),
)
PICTURES = {picture.name: picture for picture in _ALL}


@reads_arguments
def picture(name: str) -> NamedPicture:
    """Return a picture by its name. Raises ValueError, which lists them, for another name."""
    if name not in PICTURES:
        raise ValueError(f"There is no picture {name!r}: choose one of {', '.join(PICTURES)}.")
    return PICTURES[name]


def _argument_list(signature: inspect.Signature) -> str:
    """Write the arguments that have no default, such as (model, trace)."""
    names = [str(one).split(":")[0] for one in signature.parameters.values() if one.default is one.empty]
    return f"({', '.join(names)})"
