"""Methods of a trace whose work is done above `tracing`: named here, where people look for them."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from attnviz.text.arguments import reads_arguments
from attnviz.transformer.probe import Kind

if TYPE_CHECKING:
    import pandas as pd


@reads_arguments
class TraceDoors:
    """Each method imports what does its work when it is called, for a trace knows nothing of analysis or pictures."""

    def metrics(self, kind: Kind | None = None, *, item: int = 0) -> "pd.DataFrame":
        """Measure every head, or those of one `kind`: a row a head, with the numbers of the Heads page.

        Columns: kind, layer, head; entropy in bits; mean_distance in tokens; diagonality; the weight on the previous,
        the next, the first and the end token; and induction, the weight on what came after an earlier place of the same
        token. NaN where a metric means nothing. Raises ValueError for a kind or an item that the trace does not have.
        """
        return _above("attnviz.analysis.heads.trace_metrics").trace_metrics(self, kind, item=item)


def _above(module: str) -> Any:
    return import_module(module)
