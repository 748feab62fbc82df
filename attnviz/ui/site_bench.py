"""One attention site on the bench: the typed sentence and a second one as a batch, and what the site is made of."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pandas as pd
import streamlit as st
from torch import Tensor

from attnviz.analysis.rerun import batch_of_two
from attnviz.analysis.site_case import site_case
from attnviz.implementations.bugs.case import Case
from attnviz.models.translator import Translator
from attnviz.text.display import display
from attnviz.text.tokens import Token
from attnviz.tracing.trace import Trace
from attnviz.transformer.probe import Kind
from attnviz.ui import choices, session
from attnviz.ui.session import Request
from attnviz.views.labels import KINDS

SECOND, MAX_SECOND = "I love you.", 200


@dataclass(frozen=True)
class SiteView:
    """The part of a link that chooses a site, a head and the second sentence of the batch."""

    kind: Kind = "encoder_self"
    layer: int = 0
    head: int = 0
    second: str = SECOND

    @classmethod
    def read(cls, reader: choices.Reader, trace: Trace) -> dict[str, Any]:
        """What the texts ask for."""
        return {
            "kind": reader.one_of("kind", trace.kinds, trace.kinds[0]),
            "layer": reader.index("layer", trace.n_layers),
            "head": reader.index("head", trace.n_heads),
            "second": (reader.params.get("second", "").strip() or SECOND)[:MAX_SECOND],
        }

    def to_params(self) -> dict[str, str]:
        """Every field as the text that stands in a link."""
        return {name: str(value) for name, value in vars(self).items()}


@dataclass(frozen=True, eq=False)
class SiteBench:
    """A request, its trace, and the batch of two that it makes with the second sentence."""

    request: Request
    trace: Trace
    batch: Trace
    view: SiteView

    @property
    def model(self) -> Translator:
        """The model that ran."""
        return session.model(self.request.entry.name)

    @cached_property
    def case(self) -> Case:
        """The site's weights, inputs and mask, for both sentences."""
        return site_case(self.model, self.batch, self.view.kind, self.view.layer)

    @cached_property
    def alone(self) -> Case:
        """The same site for the typed sentence alone, without padding."""
        return site_case(self.model, self.trace, self.view.kind, self.view.layer)

    @property
    def rows(self) -> list[str]:
        """The typed sentence's query tokens, safe to show."""
        return texts(self.batch.query_tokens(self.view.kind))

    @property
    def cols(self) -> list[str]:
        """The typed sentence's key tokens, safe to show."""
        return texts(self.batch.key_tokens(self.view.kind))

    @property
    def name(self) -> str:
        """The site in words."""
        kind = KINDS[self.view.kind].name if self.view.kind in KINDS else self.view.kind
        return f"{kind}, L{self.view.layer}"


def bench(request: Request, trace: Trace, view: SiteView) -> SiteBench:
    """Put a site on the bench. Raises ValueError for a second sentence that cannot be read."""
    key = (trace.model_id, *request.to_params().values(), view.second)
    return SiteBench(request, trace, _batch(key, request.entry.name, view.second, _trace=trace), view)


def site(trace: Trace, view: SiteView) -> None:
    """Kind, layer, head and second sentence, side by side."""
    columns = st.columns([26, 10, 10, 54], gap="small")
    with columns[0]:
        choices.pick("kind", "Site", trace.kinds, view.kind, lambda kind: KINDS[kind].name if kind in KINDS else kind)
    with columns[1]:
        choices.pick("layer", "Layer", range(trace.n_layers), view.layer, lambda layer: f"L{layer}")
    with columns[2]:
        choices.pick("head", "Head", range(trace.n_heads), view.head, lambda head: f"H{head}")
    with columns[3]:
        choices.typed(
            "second",
            "Second sentence of the batch",
            view.second,
            limit=MAX_SECOND,
            help_text="Batch, heads and lengths should all differ, so that no wrong line is right by luck.",
        )


def texts(tokens: Sequence[Token]) -> list[str]:
    """Tokens as they can be shown."""
    return [display(token.text) for token in tokens]


def numbers(of: str, values: Tensor, rows: Sequence[str], cols: Sequence[str]) -> None:
    """A matrix as a table that can be sorted and saved as CSV, folded away until somebody asks for it."""
    with st.expander(f"The numbers as a table: {of}"):
        names = [f"{at} {col}" for at, col in enumerate(cols)]
        table = pd.DataFrame(values.numpy(), columns=names)
        table.insert(0, "row", [f"{at} {row}" for at, row in enumerate(rows)])
        st.dataframe(table, hide_index=True, height=260, key=f"numbers {of}")


def theme() -> str:
    """The browser's theme, "light" or "dark"."""
    return st.context.theme.type or "light"


@st.cache_resource(max_entries=16, show_spinner=False)
def _batch(key: tuple[str, ...], name: str, second: str, *, _trace: Trace) -> Trace:
    model = session.model(name)
    return batch_of_two(model, _trace, model.trace(second, to=_trace.to))
