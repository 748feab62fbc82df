"""The declaration of a picture, which pages, notebooks, files and lesson folders read."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

from attnviz.doors import door
from attnviz.kit.browser_view import is_of, to_view

if TYPE_CHECKING:
    from attnviz.kit.bundle import Widget
    from attnviz.kit.fields import PageState
    from attnviz.kit.subject import Subject
    from attnviz.kit.wire import Payload


class TabRules:
    """How the tab of a picture shares choices with the other tabs of its page.

    The tabs share parts of the state of Heads: the kind, the head, the pinned row, and the options of the maps. These
    default rules share nothing else. A picture that has to convert a choice overrides a method.
    """

    def bounds(self, trace: Any, shared: Any) -> Mapping[str, Any]:
        """Return the possible values of further fields, besides kind, layer and head."""
        return {}

    def start(self, trace: Any, shared: Any) -> Any:
        """Return the state for an address without parameters of this tab; None for the defaults of the fields."""
        return None

    def rows(self, trace: Any, page: Any) -> Any:
        """Return the query tokens of each row in the other tabs, if `settle` or `choose` reads them."""
        return ()

    def settle(self, trace: Any, state: Any, page: Any, host: Any) -> Any:
        """Return the state to draw, with the choices that were made in other tabs."""
        return state

    def choose(self, view: Mapping[str, Any], texts: dict[str, str], shown: Any) -> dict[str, str]:
        """Return the address parameters after the browser reported a view.

        `texts` are the view's fields as address parameters. `shown` describes the last run: its `texts`, its `rows`,
        and the `view` that was sent to the browser.
        """
        return texts

    def note(self, trace: Any, state: Any) -> str:
        """Return a sentence to show above the picture, or ""."""
        return ""


def weights_are_enough(texts: Mapping[str, str]) -> bool:
    """Return False: the picture needs only attention weights, and neither logits nor hidden states."""
    return False


def always(texts: Mapping[str, str]) -> bool:
    """Return True: a picture always needs logits and hidden states."""
    return True


def trace_alone(model: Any, trace: Any) -> Mapping[str, Any]:
    """Return the arguments for a picture of a single trace."""
    return {"trace": trace}


def model_and_trace(model: Any, trace: Any) -> Mapping[str, Any]:
    """Return the arguments of a picture that is drawn from a model and its trace."""
    return {"model": model, "trace": trace}


def another_run(model: Any, trace: Any) -> Any:
    """Trace a longer sentence with the same target, for the example of a picture of two runs."""
    return model.trace(f"{trace.src_text} again", to=trace.to, tgt_text=trace.tgt_text)


@dataclass(frozen=True, kw_only=True)
class Picture:
    """A picture: one declaration that pages, notebooks, files and folders of lessons read.

    A package offers a picture of its own under the entry point group `attnviz.pictures`. The picture then has a tab on
    its page, `attnviz.show.<name>`, `trace.to_html(path, picture=name)`, and its choices in the page's address::

        from attnviz import Picture
        from attnviz.pictures import FocusState

        def entropy(trace, state):
            kind, layer, head = state.site_in(trace)
            weights = trace.attn(kind, layer=layer, head=head)
            return {"tokens": [token.text for token in trace.query_tokens(kind)],
                    "bits": -weights.xlogy(weights).sum(-1) / 0.6931}

        PICTURE = Picture(name="entropy", title="Entropy", state=FocusState, payload=entropy, script="entropy.js")

    Args:
        name: by which Python, links and files refer to the picture: lower-case letters, digits and underscores.
        title: title of the tab.
        state: the class that declares the picture's choices.
        payload: for a picture of one trace: function of the trace and the state that returns the data to draw.
            It returns a dictionary of arrays and JSON values. It raises ValueError, with one sentence, for a trace
            that cannot be drawn.
        subject_of: instead of `payload`: function of the arguments of `of` that returns a `Subject`.
        script: the script that draws the picture; a path without a folder is relative to the file of `payload`. By
            default, the widget of attnviz that `widget` names draws the picture.
        style: a style sheet for the script.
        terms: pages of the app whose glossary explains the words on the controls, or a file of terms.
        page: the page with the picture's tab, "" for none.
        tab: the tab's name in addresses, if it is not `name`.
        position: of its tab among the tabs of the page; tabs of other packages come last.
        rules: how the tab shares choices with the page's other tabs.
        needs_whole_trace: function of the address parameters: does the picture need logits and hidden states?
        inputs: what it can show, "text", "image" or both; a model that reads images has no tab for a picture of text,
            and `of` refuses the trace of an image.
        needs_decoder: whether the tab is offered only for models with a decoder.
        draws_every_map: whether drawing it computes the map of every head. A visitor can then stop it, and can choose a
            quadrant of the maps for a text of two segments.
        controls: draws the tab's own controls above the picture: a function of the trace, the page's state, the model
            (None for a visitor's own weights) and the host; it returns the host with which the picture is drawn.
        tab_drawn_by: draws the tab on the page Causes: a function of the request, the model and the trace that returns
            the state for the link to copy. The page Heads draws its tabs itself.
        python_only: fields that need Python: their controls are left out of files.
        widget: the name of the widget, if it is not `name`; pictures may share a widget.
        example: arguments of `of` for a model and a trace, by name; the tests of attnviz draw it.
        example_choice: CSS selector of an element, and the key that chooses something there; for the tests of attnviz.
        example_point: CSS selector of an element where the pointer shows a note; for the tests of attnviz. With "" they
            point at a word that has a definition.

    `state`, `payload`, `subject_of`, `rules`, `controls` and `tab_drawn_by` may each be a text such as
    "my_package.numbers:entropy", which is imported when it is first needed: the tab is then there before torch is.
    """

    name: str
    title: str
    state: "type[PageState] | str"
    payload: "Callable[[Any, Any], Mapping[str, Any]] | str | None" = None
    subject_of: "Callable[..., Subject] | str | None" = None
    script: str | Path = ""
    style: str | Path = ""
    terms: tuple[str | Path, ...] = ("Heads",)
    page: str = "Heads"
    tab: str = ""
    position: int = 1000
    rules: type[TabRules] | str = TabRules
    needs_whole_trace: Callable[[Mapping[str, str]], bool] = weights_are_enough
    inputs: tuple[str, ...] = ("text", "image")
    needs_decoder: bool = False
    draws_every_map: bool = False
    controls: "Callable[..., Any] | str | None" = None
    tab_drawn_by: "Callable[..., Any] | str | None" = None
    python_only: tuple[str, ...] = ()
    widget: str = ""
    example: Callable[[Any, Any], Mapping[str, Any]] = trace_alone
    example_choice: tuple[str, str] = ("button[aria-pressed=false]", "Enter")
    example_point: str = ""

    def __post_init__(self) -> None:
        """Check the declaration. Raise ValueError with a message of one sentence."""
        if not (isinstance(self.name, str) and self.name.isidentifier() and self.name == self.name.lower()):
            raise ValueError(
                f"The name of a picture may contain only lower-case letters, digits and underscores, not {self.name!r}."
            )
        if (self.payload is None) == (self.subject_of is None):
            raise ValueError(f"The picture {self.name} needs either payload= or subject_of=, but not both.")
        object.__setattr__(self, "widget", self.widget or self.name)
        object.__setattr__(self, "tab", self.tab or self.name)

    @property
    def state_type(self) -> "type[PageState]":
        """The class that declares the picture's choices."""
        return _resolve(self.state)

    @property
    def tab_rules(self) -> TabRules:
        """How the tab shares choices with the page's other tabs."""
        return _resolve(self.rules)()

    def draw_controls(self, trace: Any, page: Any, model: Any, host: Any) -> Any:
        """Draw the tab's own controls, if the picture has any. Return the host with which the picture is drawn."""
        return host if self.controls is None else _resolve(self.controls)(trace, page, model, host)

    def draw_tab(self, request: Any, model: Any, trace: Any) -> Any:
        """Draw the whole tab on the page Causes. Return the state for the link to copy."""
        return _resolve(self.tab_drawn_by)(request, model, trace)

    @property
    def subject(self) -> "Callable[..., Subject]":
        """The function that reads the arguments of `of`, and returns a `Subject`."""
        if self.subject_of is not None:
            return _resolve(self.subject_of)
        from attnviz.kit.subject import subject_of_trace  # imported here because it imports torch

        return partial(subject_of_trace, self.name, self.title, self.state_type, _resolve(self.payload))

    @property
    def drawn_by(self) -> "Widget":
        """The widget that draws the picture."""
        from attnviz.kit.bundle import Widget, widget_pages

        if not self.script and self.widget not in widget_pages():
            raise ValueError(f"The picture {self.name} has no script: script= names the file that draws it.")
        page = self._beside(self.script) if self.script else widget_pages()[self.widget]
        style = self._beside(self.style) if self.style else None
        return Widget(self.widget, page, style, self._pages_of_terms + self.term_files, self.python_only)

    @property
    def term_files(self) -> tuple[Path, ...]:
        """The files of terms that belong to the picture."""
        return tuple(self._beside(one) for one in self.terms if str(one).endswith(".md"))

    @property
    def _pages_of_terms(self) -> tuple[str, ...]:
        return tuple(str(one) for one in self.terms if not str(one).endswith(".md"))

    def _beside(self, file: str | Path) -> Path:
        """Return the path of a file; a path without a folder is relative to the code that makes the picture's data."""
        if Path(file).is_absolute():
            return Path(file)
        made_by = self.payload or self.subject_of
        if isinstance(made_by, str):  # not imported, as a page asks for the terms before it draws its input
            found = find_spec(made_by.partition(":")[0])
            if found is not None and found.origin is not None:
                return Path(found.origin).parent / file
        return Path(inspect.getfile(inspect.unwrap(_resolve(made_by)))).parent / file

    def read(self, subject: tuple[Any, ...], offered: Mapping[str, Any]) -> "Subject":
        """Read a subject.

        Of the services in `offered`, such as `model`, only those that this picture takes are passed.
        """
        taken = inspect.signature(self.subject).parameters
        return self.subject(*subject, **{name: given for name, given in offered.items() if name in taken})

    def of(self, *subject: Any, **asked: Any) -> "ShownPicture":
        """Draw the picture from a trace, or from its other subject, with fields of its state such as `layer=2`.

        A value is given in the form of the state, or as the text in a link. Raises ValueError, with one sentence, for a
        subject without what the picture needs, for an unknown field, and for a value out of range.
        """
        signature = inspect.signature(self.subject)
        named = {name: asked.pop(name) for name in signature.parameters if name in asked}
        try:
            signature.bind(*subject, **named)
        except TypeError as why:
            raise ValueError(f"{self.title} is drawn from {_argument_list(signature)}: {why}.") from None
        if "image" not in self.inputs and any(map(_is_of_an_image, (*subject, *named.values()))):
            raise ValueError(f"{self.title} shows texts, and this is the trace of an image.")
        read = self.subject(*subject, **named)
        return ShownPicture(self, read, read.with_values(asked))


@dataclass(frozen=True)
class ShownPicture:
    """A picture of a subject, in one state.

    `seq` counts the choices that the browser has made. `is_alone` is True if no Python answers the browser, as in a
    file.
    """

    picture: Picture
    subject: "Subject"
    state: Any
    seq: int = 0
    is_alone: bool = False

    def __str__(self) -> str:
        """Return the name of the picture and what it shows, such as "heads: I love you."."""
        sentence = self.subject.caption(self.state).sentence
        return f"{self.picture.name}: {sentence}" if sentence else self.picture.name

    def payload(self) -> "Payload":
        """Return the data that the widget draws.

        Raise ValueError, with one sentence, for a state that cannot be drawn.
        """
        from attnviz.kit.views.captions import with_caption

        draw = self.subject.draw_whole if self.is_alone and self.subject.draw_whole else self.subject.draw
        made = with_caption(draw(self.state), self.subject.caption(self.state))
        told = {"lacks": list(self.lacks), "seq": self.seq}
        view = {"view": {**made.header["view"], "seq": self.seq}} if "view" in made.header else {}
        return made._replace(header=made.header | told | view)

    @property
    def lacks(self) -> tuple[str, ...]:
        """Names of the controls that are left out, because no Python answers them."""
        return tuple(dict.fromkeys(self.subject.unanswered + self.picture.python_only * self.is_alone))

    @property
    def view(self) -> dict[str, Any]:
        """The fields that can be set, in the form of the browser's view."""
        fields = self.subject.fields
        return {name: value for name, value in to_view(self.state).items() if name in fields}

    def with_fields(self, **asked: Any) -> "ShownPicture":
        """Return the picture with other fields, given as for `of`; fields that are not given keep their values."""
        kept = {name: getattr(self.state, name) for name in self.subject.fields}
        return replace(self, state=self.subject.with_values(kept | asked))

    def with_view(self, told: Any) -> "ShownPicture":
        """Return the picture with a view that the browser reported; unchanged if none of our scripts would send
        such a view.
        """
        seq = told.get("seq") if isinstance(told, Mapping) else None
        return replace(self, state=self.subject.with_report(self.state, told), seq=seq if is_of(seq, int) else self.seq)

    def to_html(self, path: str | Path, *, title: str = "") -> Path:
        """Write the picture as one HTML file, which needs neither Python nor a network; return its path.

        Raises ValueError, with one sentence, for a path that cannot be written, and for a text that is too long.
        """
        return door("page")([self], path, title=title)

    def without_python(self) -> "ShownPicture":
        """Return the picture without the controls that need Python, as in a file."""
        return replace(self, is_alone=True)


def _resolve(named: Any) -> Any:
    """Import the object that a text such as "package.module:name" names; return anything else unchanged."""
    return resolve_name(named) if isinstance(named, str) else named


def _is_of_an_image(given: Any) -> bool:
    """Check whether an argument is the trace of an image."""
    return any(getattr(sentence, "images", ()) for sentence in getattr(given, "sentences", ()))


def _argument_list(signature: inspect.Signature) -> str:
    """Return the arguments that have no default, such as (model, trace)."""
    names = [str(one).split(":")[0] for one in signature.parameters.values() if one.default is one.empty]
    return f"({', '.join(names)})"
