"""The usual effects of heads: written to a file, and read only for the weights that they were measured on."""

import json

import torch

from attnviz.causes.numbers.effects import NAME, measured_usual, reference_effects, usual_effects, write
from attnviz.models import catalogue


def test_what_was_measured_is_read_again_for_these_weights_and_this_language(model, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(catalogue, "SHIPPED", tmp_path)
    assert usual_effects(model, "fr") is None
    texts = ("I love fun.", "A pond.")
    measured = measured_usual(model, texts, "fr")
    direct = reference_effects(model, [model.trace(text, to="fr") for text in texts])
    torch.testing.assert_close(measured.spread, direct.spread)
    (tmp_path / "tiny").mkdir()
    write(tmp_path / "tiny" / NAME, model.model_id, {"fr": measured})
    read = usual_effects(model, "fr")
    assert read is not None
    assert read.sentences == 2
    torch.testing.assert_close(read.mean, measured.mean, atol=1e-6, rtol=0)
    torch.testing.assert_close(read.spread, measured.spread, atol=1e-6, rtol=0)
    assert usual_effects(model, "zh") is None
    write(tmp_path / "tiny" / NAME, "other weights", {"fr": measured})
    assert usual_effects(model, "fr") is None


def test_the_shipped_file_is_of_the_shipped_weights_in_every_language() -> None:
    said = json.loads((catalogue.SHIPPED / catalogue.DEFAULT / NAME).read_text(encoding="utf-8"))
    shipped = catalogue.translator()
    assert said["weights"] == shipped.model_id, "python -m attnviz.causes.numbers measures it anew"
    heads = sum(layers * count for layers, count in shipped.shapes.values())
    assert set(said["languages"]) == set(shipped.languages)
    for found in said["languages"].values():
        assert len(found["mean"]) == len(found["spread"]) == heads
        assert found["sentences"] == 200
        assert min(found["spread"]) > 0
