"""Training curves of runs as tables, with a row for each recorded step."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from attnviz.toys.recording import Recording
from attnviz.toys.translator.recording import TranslatorRecording

COLUMNS = ("run", "updates", "loss_since_last", "held_out_loss", "teacher_prefix", "own_prefix")


def curve_table(runs: Mapping[str, Recording]) -> pd.DataFrame:
    """Return a table of recordings.

    `loss_since_last` is the mean loss of the updates since the last recorded step, in nats.
    """
    return pd.DataFrame([row for title, found in runs.items() for row in _rows(title, found)], columns=list(COLUMNS))


def translator_table(found: TranslatorRecording) -> pd.DataFrame:
    """Return a table of a translator's training: dev loss in nats per token, and scores from 0 to 100."""
    return pd.DataFrame({"updates": found.steps, "held_out_loss": found.held_out_loss} | dict(found.scores))


def _rows(title: str, found: Recording) -> list[tuple]:
    pieces = np.split(found.losses.astype(float), found.steps[:-1])
    losses = [float(piece.mean()) if len(piece) else None for piece in pieces]
    curves = (found.held_out_loss, found.teacher_prefix, found.own_prefix)
    return [(title, *row) for row in zip(found.steps, losses, *(curve.tolist() for curve in curves), strict=True)]
