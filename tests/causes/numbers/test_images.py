"""Causes on an image, in Python: a label's score as a sum, and the pictures as a notebook and a file have them."""

import copy
from pathlib import Path

import pytest
import torch

import attnviz
from attnviz.analysis.runs import rows_of_edits
from attnviz.models.example_images import draw_example
from attnviz.models.toy.image_toy import prepare
from tests.each_case import each_case
from tests.models.huggingface.images.vision import classifier, photo, processor, vision_model

pytestmark = pytest.mark.computes


def test_a_head_adds_to_a_label_what_the_weights_of_transformers_say():
    own = classifier("vit").requires_grad_(False)
    model = attnviz.load(own, processor("vit"))
    trace = model.trace(photo())
    told = attnviz.picture("attribution").of(model, trace).payload().header
    label, base = int(trace.logits[0, 0].argmax()), own.vit
    context = trace.context("encoder_self", 2)[3, 0]  # what head 3 of the last layer hands to [CLS]
    given = context @ base.layers[2].attention.o_proj.weight[:, 18:24].T
    stream = trace.layer_output("encoder", 2)[0]
    scale = (stream.var(unbiased=False) + base.layernorm.eps).sqrt()
    direction = (given - given.mean()) / scale * base.layernorm.weight
    expected = float(direction @ own.classifier.weight[label])
    assert {bar["head"]: bar["value"] for bar in told["bars"]}["encoder_self.2.3"] == pytest.approx(expected, abs=1e-4)
    assert told["total"] == pytest.approx(float(trace.logits[0, 0, label]), abs=1e-4)
    opened = told["opened"]["encoder_self.2"]
    assert opened["cols"][:3] == ["[CLS]", "r0c0", "r0c1"]
    final = told["lenses"][0]["cells"][-1][0][0]
    chance = trace.logits[0, 0].softmax(-1)[label]
    assert final == [f"thing {label}", pytest.approx(float(chance), abs=1e-4)]


@each_case("name, says", [
    ("dinov2 with registers", "its layers do more than add to the residual stream"),
    ("clip", "its labels are not read from one token"),
])  # fmt: skip
def test_labels_without_an_exact_sum_are_refused_with_the_reason(name: str, says: str):
    model = attnviz.load(classifier(name), processor(name))
    with pytest.raises(ValueError, match=says):
        attnviz.picture("attribution").of(model, model.trace(photo())).payload()


def test_switches_of_an_image_work_in_a_notebook_and_in_a_file(tmp_path: Path):
    model = attnviz.load(classifier("vit"), processor("vit"))
    trace = model.trace(photo())
    shown = attnviz.picture("switches").of(model, trace)
    off = shown.with_fields(off=("encoder_self.0.1",)).payload().header
    done = attnviz.ablate("encoder_self", layer=0, heads=[1])
    expected = model.trace(photo(), interventions=[done]).logits[0, 0].softmax(-1)
    for token in off["strip"]:
        assert token["chance"][1] == pytest.approx(float(expected[int(token["text"][-1])]), abs=1e-5)
    assert off["answer_title"] == "Which label it gives now"
    assert shown.to_html(tmp_path / "switches.html").stat().st_size < 2_000_000


def test_pictures_of_texts_refuse_an_image_in_one_sentence():
    model = attnviz.load(vision_model("vit"), processor("vit"))
    trace = model.trace(photo())
    for name, given in (("patching", (model, trace, trace)), ("spans", (trace,)), ("flow", (trace,))):
        with pytest.raises(ValueError, match=r"shows texts, and this is the trace of an image\.$"):
            attnviz.picture(name).of(*given)


def test_the_toy_of_digits_without_a_head_equals_the_toy_whose_weights_for_that_head_are_zero():
    model = attnviz.load("toy:digits")
    trace = model.trace(draw_example("digit-3"))
    edits = rows_of_edits(model, trace, [attnviz.ablate("encoder_self", layer=1, heads=[at]) for at in (0, 2)])
    found, network = model.logits_under(trace, edits), copy.deepcopy(model.model)
    joins = next(module for name, module in network.named_modules() if ".1." in name and name.endswith("W_o"))
    size = joins.in_features // 4
    with torch.inference_mode(False), torch.no_grad():
        joins.weight[:, 2 * size : 3 * size] = 0
        values = prepare(trace.sentences[0].images[0].array)[0]
        expected = network(torch.from_numpy(values)[None].float() / 16)
    torch.testing.assert_close(found[1], expected, atol=1e-5, rtol=1e-5)
    assert model.decode_ids([int(trace.logits.argmax())])[0] == "3"
