"""The subject of a picture: its initial state, the fields that can be set, and how it is drawn."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from attnviz.guards.arguments import reads_arguments
from attnviz.kit.browser_view import add_view, from_view, is_of, shapes_of, to_list
from attnviz.kit.caching import NO_HELP, Host
from attnviz.kit.fields import PageState, Spec, read, specs_of, write, write_view
from attnviz.kit.focus import SiteBounds, known_kind
from attnviz.kit.payload import data_payload
from attnviz.kit.views.captions import Caption, caption_of
from attnviz.kit.wire import Payload
from attnviz.models.protocol import Model
from attnviz.tracing.trace_like import TraceLike

EVERYTHING = 1 << 40  # bytes; no limit


def as_told(state: Any, told: Mapping[str, Any], before: Any) -> Any:
    """Return a state unchanged after the browser reported it."""
    return state


@dataclass(frozen=True, eq=False)
class Subject:
    """A trace, or a model and its runs, prepared for one picture.

    `start` is the picture's initial state, `draw` makes the payload for a state, `caption` describes a state, and
    `bounds` are the possible values of fields (`fields.read`). `silent` are fields without meaning here, and
    `unanswered` controls that even Python cannot answer here. `settle` adjusts a state after the browser's report,
    given the state before, because one choice may undo another. `draw_whole` replaces `draw` if no Python can send more
    data later. `trace` is the drawn trace, if the subject is one.
    """

    start: PageState
    draw: Callable[[Any], Payload]
    caption: Callable[[Any], Caption]
    bounds: Mapping[str, Any] = field(default_factory=dict)
    silent: tuple[str, ...] = ()
    unanswered: tuple[str, ...] = ()
    settle: Callable[[Any, Mapping[str, Any], Any], Any] = as_told
    draw_whole: Callable[[Any], Payload] | None = None
    trace: TraceLike | None = None

    @property
    def fields(self) -> tuple[str, ...]:
        """Names of the fields that can be set."""
        return tuple(name for name in shapes_of(type(self.start)) if name not in self.silent)

    def with_values(self, values: Mapping[str, Any]) -> Any:
        """Return the state with these values, each in the form of the state or as the text in a link; None is
        the default.

        Raise ValueError, with one sentence, for an unknown field or an invalid value.
        """
        for name in values:
            if name not in self.fields:
                raise ValueError(f"There is no field {name!r}: this picture has {', '.join(self.fields)}.")
        specs, given = self._specs, {name: value for name, value in values.items() if value is not None}
        texts = {specs[name].name or name: _text(specs[name], given[name]) for name in given if name in specs}
        told = {name: self._view_value(name, value) for name, value in given.items() if name not in specs}
        state, problems = read(
            type(self.start), texts, self.bounds, self.start, **self._unlinked_values(self.start) | told
        )
        if problems:
            name = next(name for name, spec in specs.items() if (spec.name or name) == problems[0].name)
            raise _refusal(name, values[name], problems[0].allowed)
        return state

    def with_report(self, state: Any, told: Any) -> Any:
        """Return the state after a browser's report; unchanged if none of our scripts would send such a report."""
        view = from_view(type(self.start), told)
        if view is None:
            return state
        texts = write(state) | write_view(type(self.start), view)
        rest = self._unlinked_values(state)
        rest |= {name: view[name] for name in rest if name in view}
        return self.settle(read(type(self.start), texts, self.bounds, self.start, **rest)[0], told, state)

    @property
    def _specs(self) -> Mapping[str, Spec]:
        return specs_of(type(self.start))

    def _unlinked_values(self, state: Any) -> dict[str, Any]:
        """Return the values of the fields that links do not contain."""
        return {name: getattr(state, name) for name in shapes_of(type(state)) if name not in self._specs}

    def _view_value(self, name: str, value: Any) -> Any:
        view = from_view(type(self.start), {name: to_list(value)})
        if view is None:
            raise _refusal(name, value, f"{getattr(self.start, name)!r} is such a value")
        return view[name]


def _text(spec: Spec, value: Any) -> str:
    """Return a value as the text in a link. A value that the field cannot have becomes a text that `read` refuses."""
    if isinstance(value, str):
        return value
    value = value.item() if hasattr(value, "item") else value  # a NumPy or PyTorch scalar
    return spec.write(value) if is_of(to_list(value), spec.shape) else str(value)


def _refusal(name: str, value: Any, allowed: str) -> ValueError:
    return ValueError(f"{name}={str(repr(value))[:60]} cannot be shown: {allowed.rstrip('.')}.")


def caption_by(trace: TraceLike, model: Model | None = None, **which: Any) -> Caption:
    """Return the caption for a run's pictures, with the model's name if it is known."""
    return caption_of(trace, "" if model is None else f"{model.name}, weights {trace.model_id}", **which)


def constant_caption(trace: TraceLike, model: Model) -> Callable[[Any], Caption]:
    """Return a function that captions every state of a picture alike: with the run and its model."""
    caption = caption_by(trace, model)
    return lambda state: caption


def site_bounds(trace: TraceLike) -> dict[str, Any]:
    """Return the bounds of the fields kind, layer, head and row."""
    return SiteBounds.from_trace(trace).by_field() | {"row": lambda found: len(trace.query_tokens(found["kind"]))}


def of_trace(
    trace: TraceLike, start: PageState, draw: Any, model: Model | None = None,
    bounds: Mapping[str, Any] | None = None, unanswered: tuple[str, ...] = (),
) -> Subject:  # fmt: skip
    """Return a trace as the subject of a picture with the initial state `start`."""
    bounds = {**site_bounds(trace), **(bounds or {})}
    return Subject(start, draw, lambda state: caption_by(trace, model), bounds, unanswered=unanswered, trace=trace)


def subject_of_trace(
    name: str, title: str, state: type[PageState], make: Callable[[Any, Any], Mapping[str, Any]], trace: TraceLike,
    *, host: Host = NO_HELP,
) -> Subject:  # fmt: skip
    """Return a trace as the subject of a picture whose data `make` computes from the trace and a state.

    An error in `make` becomes a ValueError that says in one sentence which picture failed, and why.
    """
    _read_trace(trace)
    has_kind = "kind" in shapes_of(state)
    start = replace(state(), kind=trace.kinds[-1]) if has_kind else state()  # type: ignore[type-var]  # a dataclass

    def draw(asked: Any) -> Payload:
        if has_kind:
            asked = replace(asked, kind=known_kind(asked.kind, trace))
        kind = asked.kind if has_kind else trace.kinds[-1]
        try:
            made = host.cached(name, (trace, asked), lambda: data_payload(kind, trace.kinds, make(trace, asked)))
        except ValueError:
            raise
        except Exception as error:
            why = " ".join(str(error).split())
            raise ValueError(f"The picture {title} failed: {type(error).__name__}: {why}.") from error
        return add_view(made, asked)

    return of_trace(trace, start, draw)


@reads_arguments
def _read_trace(trace: TraceLike) -> None:
    """Raise ValueError, with one sentence, for any value that is not a trace."""
