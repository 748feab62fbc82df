"""HTML of the outputs of an untrained model for each prefix of its target. It contains only numbers."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from torch import Tensor


class PrefixLike(Protocol):
    """The outputs for one prefix; see `attnviz.decoding.numbers.prefix_experiment.Prefix`."""

    @property
    def ids(self) -> tuple[int, ...]:
        """The target ids of the prefix."""
        ...

    @property
    def theirs(self) -> "Tensor":
        """Output rows of PyTorch's model."""
        ...

    @property
    def ours(self) -> "Tensor":
        """Output rows of our model."""
        ...

    @property
    def theirs_equal(self) -> "Tensor":
        """True for PyTorch's rows that equal those of the previous prefix."""
        ...

    @property
    def ours_equal(self) -> "Tensor":
        """True for our rows that equal those of the previous prefix."""
        ...

    @property
    def difference(self) -> float:
        """Maximum |Δ| between PyTorch's rows and ours."""
        ...


def prefix_rows(prefixes: Sequence[PrefixLike]) -> str:
    """Return a block for each prefix: its ids, PyTorch's rows and our rows, with equal rows marked, and their
    difference.
    """
    return "<div class='prefix-blocks'>" + "".join(_block(prefix) for prefix in prefixes) + "</div>"


def _block(prefix: PrefixLike) -> str:
    ids = ", ".join(map(str, prefix.ids))
    columns = "".join(
        f"<div><h5>{name}</h5><pre>{_rows(rows, equal)}</pre></div>"
        for name, rows, equal in (
            ("torch.nn.Transformer", prefix.theirs, prefix.theirs_equal),
            ("attnviz, the same weights", prefix.ours, prefix.ours_equal),
        )
    )
    return (
        f"<section><h4>tgt [{ids}] <small>largest difference between the two: {prefix.difference:.1e}</small></h4>"
        f"<div class='prefix-pair'>{columns}</div></section>"
    )


def _rows(rows: "Tensor", equal: "Tensor") -> str:
    lines = []
    for row, same in zip(rows.tolist(), equal.tolist(), strict=True):
        numbers = " ".join(f"{number:8.4f}" for number in row)
        lines.append(f"<span class='{'same' if same else 'new'}'>{'=' if same else ' '} {numbers}</span>")
    return "\n".join(lines)
