"""Why steps and pass are no longer equal: a sentence for each switch that is on, and what is good to know besides."""

from dataclasses import dataclass

from attnviz.analysis.tolerance import Tolerance
from attnviz.ui.decoding_link import DROPOUT, DecodingView

_BITS = {"float16": 10, "bfloat16": 7}  # after the leading one; float32 has 23


@dataclass(frozen=True)
class Reason:
    """The sentence that is always seen, and what follows for whoever opens it."""

    why: str
    more: str = ""


def reasons(view: DecodingView) -> tuple[Reason, ...]:
    """One for each switch that is on, true for the way of stepping that was chosen."""
    found = (_mask(view), _dropout(view), _dtype(view), _positions(view))
    return tuple(reason for reason in found if reason is not None)


def _mask(view: DecodingView) -> Reason | None:
    if view.causal == "none":
        return Reason(
            "Without the causal mask every row of the pass also looks at tokens that no step has seen.",
            "Training would learn from the answer.",
        )
    if view.causal == "ahead":
        return Reason(
            "The mask shows each row one token too many, the very one that it should predict.",
            "Trained so, a model would look wonderful and fall apart when it decodes, with no such token to peek at.",
        )
    return None


def _dropout(view: DecodingView) -> Reason | None:
    if not view.dropout:
        return None
    return Reason(
        f"Dropout {DROPOUT:g} zeroes other numbers in every run (seed {view.seed}), from the embedding on.",
        "That is what a forgotten eval() does: two runs of the same sentence differ.",
    )


def _dtype(view: DecodingView) -> Reason | None:
    if view.dtype not in _BITS:
        return None
    own = Tolerance.of(view.dtype)
    return Reason(
        f"The steps run in {view.dtype}, rounded to {_BITS[view.dtype]} bits; the pass stays in float32, with 23.",
        "The error grows from layer to layer. Two runs that are both in "
        f"{view.dtype} may part by {own.attn:.0e} in weights, {own.hidden:.0e} · (1 + max|x|) in the rest.",
    )


def _positions(view: DecodingView) -> Reason | None:
    if not view.restart:
        return None
    if view.way == "recomputed":
        return Reason("Recomputing has no cache whose positions could restart: this switch changes nothing here.")
    return Reason(
        "Every cached step is embedded as if it stood at position 0.",
        "Only the first one does: all that comes from position 1 on is computed for another place in the sentence.",
    )
