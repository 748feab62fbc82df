"""The maps of a trace as a person asked to see them. Defined beside the Trace, because figures read them too."""

from attnviz.tracing.shown import ColLabel, RowLabel, Shown, shown

__all__ = ["ColLabel", "RowLabel", "Shown", "shown"]
