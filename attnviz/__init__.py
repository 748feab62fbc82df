"""attnviz: see how multi-head attention works, in a model of your own or in the one that comes with it.

    import attnviz
    model = attnviz.load()
    trace = model.trace("I love you.", to="fr")
    trace.attn("cross", layer=2, head=5)        # (q_len, k_len), float32

Names are imported when they are first used, so that `import attnviz` costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from attnviz.doors import HOMES
from attnviz.extras import needs

if TYPE_CHECKING:
    from attnviz import views
    from attnviz.analysis.means import mean_contexts
    from attnviz.hosts.html.one_file import page
    from attnviz.hosts.notebook.show import show
    from attnviz.hosts.registry import picture
    from attnviz.kit.picture import Picture
    from attnviz.models.catalogue import load
    from attnviz.saving import save
    from attnviz.server.session import open as open
    from attnviz.spans.numbers.hidden import hide_spans
    from attnviz.spans.numbers.shares import span_shares
    from attnviz.text.tokens import Span, Token
    from attnviz.toys.learn import learn
    from attnviz.toys.storage import load_recording
    from attnviz.tracing.causes.intervention import Intervention
    from attnviz.tracing.causes.making import ablate, edit, exchange, patch
    from attnviz.tracing.external.from_tensors import from_tensors
    from attnviz.tracing.storage import load_trace
    from attnviz.tracing.trace import Trace
    from attnviz.transformer.probe import Site

__all__ = [
    "Intervention", "Picture", "Site", "Span", "Token", "Trace", "__version__", "ablate", "edit", "exchange",
    "from_tensors", "hide_spans", "learn", "load", "load_recording", "load_trace", "mean_contexts", "page", "patch",
    "picture", "save", "show", "span_shares", "views",
]  # fmt: skip
__version__ = "1.0.0"

_HOME = {
    "Intervention": "attnviz.tracing.causes.intervention",
    "Picture": "attnviz.kit.picture",
    "Site": "attnviz.transformer.probe",
    "Span": "attnviz.text.tokens",
    "Token": "attnviz.text.tokens",
    "Trace": "attnviz.tracing.trace",
    "ablate": "attnviz.tracing.causes.making",
    "edit": "attnviz.tracing.causes.making",
    "exchange": "attnviz.tracing.causes.making",
    "from_tensors": "attnviz.tracing.external.from_tensors",
    "hide_spans": "attnviz.spans.numbers.hidden",
    "learn": "attnviz.toys.learn",
    "load": "attnviz.models.catalogue",
    "load_recording": "attnviz.toys.storage",
    "load_trace": "attnviz.tracing.storage",
    "mean_contexts": "attnviz.analysis.means",
    "open": "attnviz.server.session",
    "page": "attnviz.hosts.html.one_file",
    "patch": "attnviz.tracing.causes.making",
    "picture": "attnviz.hosts.registry",
    "save": "attnviz.saving",
    "show": "attnviz.hosts.notebook.show",
    "span_shares": "attnviz.spans.numbers.shares",
}
HOMES.update({name: _HOME[name] for name in ("page", "picture")})
HOMES.update(
    trace_metrics="attnviz.analysis.metric_table",
    openable_recording="attnviz.learning.page.runs",
    reply_to="attnviz.decoding.reply.page.held",
    recording_beside="attnviz.lessons.library",
    draw_asking_form="attnviz.classroom.page.asking",
    start_class="attnviz.classroom.page.asking",
    language_of_class="attnviz.classroom.page.room",
)


def __getattr__(name: str) -> Any:
    if name == "views":
        return import_module("attnviz.views")
    if name not in _HOME:
        raise AttributeError(f"attnviz has no {name!r}; it has {', '.join(__all__)}.")
    if name == "open":  # left out of __all__, so that `from attnviz import *` keeps Python's own
        with needs("app", "attnviz.open"):
            return import_module(_HOME[name]).open
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return [*__all__, "open"]
