"""Figures as files: what Plotly lacks is said in one sentence."""

from pathlib import Path

import plotly.graph_objects as go
import pytest

from attnviz import views


def test_a_figure_is_written_under_the_name_that_was_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple] = []
    monkeypatch.setattr(go.Figure, "to_image", lambda _, *form, **size: asked.append((form, size)) or b"<svg/>")
    made = views.save(go.Figure(), tmp_path / "paper" / "head.SVG", width=700)
    assert made.read_bytes() == b"<svg/>"
    assert asked == [(("svg",), {"width": 700, "height": None, "scale": 2.0})]


@pytest.mark.parametrize(
    "error", [ValueError("requires\nthe Kaleido package"), RuntimeError("Kaleido requires Chrome.")]
)
def test_what_is_missing_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    def fail(*_: object, **__: object) -> bytes:
        raise error

    monkeypatch.setattr(go.Figure, "to_image", fail)
    with pytest.raises(ValueError, match="pip install kaleido") as refused:
        views.save(go.Figure(), tmp_path / "head.pdf")
    assert "\n" not in str(refused.value)
    assert list(tmp_path.iterdir()) == []


def test_another_ending_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"ends in \.svg, \.png, \.pdf"):
        views.save(go.Figure(), tmp_path / "head.docx")
