"""Pictures: functions of a trace and a state, which know no Streamlit. A page, a notebook and a file call the same one.

A picture is a folder. Its `__init__.py` declares it (`attnviz.Picture`), and `hosts/registry.py` finds the declaration.
A file beside it has the state and the function::

    @dataclass(frozen=True)
    class LinksState(PageState):                # names, types, defaults and options, declared once
        heads: Heads = declare((), _read, _write, name="lines", shape=list)
        scale: str = choice("fixed", {"fixed": "0 to 1", "max": "0 to max"}, name="opacity")

    def links(trace, state=LinksState(), *, options=MapOptions(), cached=make_anew) -> Payload: ...

Of the state come its texts in the address (`fields.read`, `fields.write`; `name` is the name there, where that is
another), what the browser is sent (`browser_view.to_view`, the payload's `view`), what it may answer
(`browser_view.from_view`, which `attnviz.app.reports.reported_view` calls), and in the payload's header the defaults
and the options with their titles, from which a script's `choices(app, name)` draws its buttons. The view holds every
field, so that a script has no defaults of its own.

The function makes the whole payload but for its caption: the choice of maps, metrics, cells and header; what a lesson
covers is an argument. It fits the state to what the trace has, and makes expensive parts by
`cached(picture, key, make)`: `make_anew` by default, on a page `app.cache.pictures.get_or_make`, which returns what
`make` returned before for the same picture and key. The key is a tuple of the trace and of all else that `make` reads::

    made = cached("links", (trace, kind, options), lambda: links_payload(…))
    return add_view(made, state)

A page reads the state, calls the picture, adds the caption (`app/captions.py`, or `captions.with_caption`), mounts it
(`app/mount.py`) and writes what the browser reports into the address.
"""

from attnviz.kit.fields import PageState, choice, flag, number, or_mean, text, whole_number
from attnviz.kit.focus import FocusState

__all__ = ["FocusState", "PageState", "choice", "flag", "number", "or_mean", "text", "whole_number"]
