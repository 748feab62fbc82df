"""Methods of a trace whose work is done above `tracing`: named here, where people look for them."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from attnviz.doors import door
from attnviz.text.arguments import reads_arguments
from attnviz.transformer.probe import Kind

if TYPE_CHECKING:
    import pandas as pd


@reads_arguments
class TraceDoors:
    """Each method asks for what does its work when it is called: a trace knows nothing of analysis or pictures."""

    def metrics(self, kind: Kind | None = None, *, item: int = 0) -> "pd.DataFrame":
        """Measure every head, or those of one `kind`: a row a head, with the numbers of the Heads page.

        Columns: kind, layer, head; entropy in bits; mean_distance in tokens; diagonality; the weight on the previous,
        the next, the first and the end token; and induction, the weight on what came after an earlier place of the same
        token. NaN where a metric means nothing. Raises ValueError for a kind or an item that the trace does not have.
        """
        return door("trace_metrics")(self, kind, item=item)

    def to_html(self, path: str | Path, picture: str = "heads", **view: Any) -> Path:
        """Write a picture of the trace as one HTML file, which shows it without Python and without a network.

        `picture` is heads, links, whole_model, one_row, neuron, flow, spans or alignment, and `view` holds fields of
        its state such as ``kind="cross", layer=2, head=5``. The file has every number, float32 up to some 150 tokens,
        and 16 bits of each weight up to some 400. Returns the path. Raises ValueError, with one sentence, for a
        picture or a field that there is not, for a longer text, and for a path that cannot be written.
        """
        return door("picture")(picture).of(self, **view).to_html(path)
