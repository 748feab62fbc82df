"""Hidden patches: a run in which nothing attends to them equals transformers' own eager attention with a mask."""

import importlib
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

import attnviz
from attnviz.kit.seen_image import NO_IMAGE
from attnviz.masks.brush.example import example_run
from attnviz.masks.masks import MaskBench, MasksState, painting_to_text
from attnviz.masks.numbers.hidden_patches import HiddenRun, run_without, visible_tokens
from attnviz.models.translator.tiny import tiny_translator
from tests.each_case import each_case
from tests.models.huggingface.images.vision import classifier, photo, processor, vision_model

pytestmark = pytest.mark.computes


def hidden_grid(rows: int, columns: int) -> np.ndarray:
    """Return which patches are visible: all but the upper row's first two, and one further down."""
    visible = np.ones((rows, columns), dtype=bool)
    visible[0, :2] = visible[2, 1] = False
    return visible


def eager_with_mask(
    monkeypatch: pytest.MonkeyPatch, name: str, visible: np.ndarray, first: int, model: Any = None
) -> Any:
    """Run transformers alone, with −∞ added to the scores of hidden patches, the first of which is token `first`."""
    model = vision_model(name) if model is None else model
    model.set_attn_implementation("eager")
    module = importlib.import_module(type(model).__module__)
    own = module.eager_attention_forward
    fields = dict(processor(name)(images=Image.fromarray(photo()), return_tensors="pt"))
    if name == "vit of another size":
        fields["interpolate_pos_encoding"] = True

    def masked(part: Any, query: Any, key: Any, value: Any, attention_mask: Any, *rest: Any, **more: Any) -> Any:
        added = torch.zeros(1, 1, 1, key.shape[2])
        added[..., first : first + visible.size][..., ~torch.from_numpy(visible.flatten())] = -torch.inf
        both = added if attention_mask is None else attention_mask + added
        return own(part, query, key, value, both, *rest, **more)

    monkeypatch.setattr(module, "eager_attention_forward", masked)
    with torch.inference_mode():
        return model(**fields, output_attentions=True)


@pytest.mark.parametrize(
    ("name", "grid", "first"),
    [
        ("vit", (4, 4), 1),
        ("vit of another size", (3, 5), 1),
        ("deit", (4, 4), 2),
        ("dinov2 with registers", (3, 5), 4),
        ("clip", (4, 4), 1),
        ("siglip", (4, 4), 0),
        ("siglip 2", (3, 5), 0),  # its processor pads to 19 patches, which stay hidden
    ],
)
def test_a_run_without_patches_is_the_eager_run_of_transformers_with_a_mask(monkeypatch, name, grid, first):
    visible = hidden_grid(*grid)
    model = attnviz.load(vision_model(name), processor(name))
    trace = model.trace(photo())
    after = run_without(model, trace, visible_tokens(trace, visible))
    own, count = eager_with_mask(monkeypatch, name, visible, first), len(trace.query_tokens("encoder_self"))
    expected = torch.stack(own.attentions)[:, 0, :, :count, :count]
    torch.testing.assert_close(after.attn("encoder_self"), expected, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(after.memory[0], own.last_hidden_state[0, :count], atol=1e-5, rtol=1e-4)
    hidden = first + np.flatnonzero(~visible)
    assert after.attn("encoder_self")[..., hidden].abs().max() == 0
    assert (after.attn("encoder_self") - trace.attn("encoder_self")).abs().max() > 0.01


def test_numbers_before_and_after_are_those_computed_by_hand():
    model, trace = example_run()
    visible = hidden_grid(4, 4)
    seen = visible_tokens(trace, visible)
    found = HiddenRun(trace, run_without(model, trace, seen), seen)
    before, after = (run.attn("encoder_self").double().numpy() for run in (found.before, found.after))
    by_hand = np.abs(after - before)[:, :, [0, *(1 + np.flatnonzero(visible))]].sum(-1).mean(-1) / 2
    np.testing.assert_allclose(found.moved().numpy(), by_hand, atol=1e-6)
    assert found.summary == "[CLS]"
    names, near = zip(*found.similarity(), strict=True)
    assert names == ("input", "L0", "L1", "output")
    for at, value in zip((-1, 0, 1), near[:-1], strict=True):
        one, other = (run.layer_output("encoder", at)[0].numpy() for run in (found.before, found.after))
        assert value == pytest.approx(one @ other / np.linalg.norm(one) / np.linalg.norm(other), abs=1e-6)
    assert near[0] == pytest.approx(1)
    assert near[-1] < 0.9999


def test_labels_are_those_of_the_classifier_of_transformers_with_the_mask(monkeypatch):
    model = attnviz.load(classifier("vit"), processor("vit"))
    trace, visible = model.trace(photo()), hidden_grid(4, 4)
    seen = visible_tokens(trace, visible)
    found = HiddenRun(trace, run_without(model, trace, seen), seen).labels(model)
    own = eager_with_mask(monkeypatch, "vit", visible, 1, classifier("vit")).logits[0].softmax(-1)
    assert len(found) == 3
    for name, before, after in found:
        at = int(name.removeprefix("thing "))
        assert after == pytest.approx(float(own[at]), abs=1e-5)
        assert before == pytest.approx(float(trace.logits[0, 0].softmax(-1)[at]), abs=1e-6)
    seeing, seen_trace = example_run()
    assert HiddenRun(seen_trace, seen_trace, torch.ones(17, dtype=torch.bool)).labels(seeing)[0][0] == "3"


def test_without_cls_the_mean_of_visible_patches_stands_for_the_image():
    model = attnviz.load(vision_model("siglip"), processor("siglip"))
    trace = model.trace(photo())
    seen = visible_tokens(trace, hidden_grid(4, 4))
    found = HiddenRun(trace, run_without(model, trace, seen), seen)
    one, other = (run.memory[0][seen].mean(0).numpy() for run in (found.before, found.after))
    expected = one @ other / np.linalg.norm(one) / np.linalg.norm(other)
    assert dict(found.similarity())["output"] == pytest.approx(expected, abs=1e-6)
    assert found.summary == "the mean of the visible patches"
    assert found.labels(model) == []
    with pytest.raises(ValueError, match="Every patch is hidden, and this model has no other token"):
        visible_tokens(trace, np.zeros((4, 4), dtype=bool))


@each_case("hidden, said", [
    (painting_to_text(hidden_grid(3, 5)), r"drawn on a grid of 3 × 5 patches, but this image has 4 × 4"),
    ("no mask", "cannot be read"),
])  # fmt: skip
def test_hidden_patches_that_do_not_fit_are_refused_in_a_sentence(hidden, said):
    with pytest.raises(ValueError, match=said):
        attnviz.picture("hidden_patches").of(*example_run(), hidden=hidden).payload()


def test_a_text_has_no_patches_to_hide():
    model = tiny_translator()
    with pytest.raises(ValueError, match=NO_IMAGE.format(picture="Hide patches").split(":")[0]):
        attnviz.picture("hidden_patches").of(model, model.trace("I love you", to="fr"))


def test_a_painted_mask_of_the_laboratory_leaves_padding_hidden():
    model = attnviz.load(vision_model("siglip 2"), processor("siglip 2"))
    trace = model.trace(photo())
    bench = MaskBench(model, trace, MasksState("encoder_self", scope="kind"))
    torch.testing.assert_close(bench.effect().after.attn("encoder_self"), trace.attn("encoder_self"))
