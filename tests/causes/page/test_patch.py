"""The Patch tab without a browser: its numbers are the analysis' own, and impossible questions get a sentence."""

import numpy as np
import pytest

from attnviz.causes.numbers.pair import pair_of
from attnviz.causes.numbers.patching import matrices
from attnviz.kit.wire import unpack
from attnviz.models import catalogue
from attnviz.toys import shipped
from attnviz.toys.experiment import Experiment

CLEAN, CHANGED = "a big red dog jumped", "a big black cat jumped"


def payload(app):
    (component,) = [part for part in app.get("bidi_component") if part.proto.bytes]
    return unpack(component.proto.bytes)


def notes(app) -> str:
    return "\n".join(note.value for note in (*app.error, *app.info, *app.warning)).replace("\\", "")


def floats(found, matrix, name):
    rows, cols = matrix["size"]
    return np.frombuffer(found.blobs, dtype="<f4", count=rows * cols, offset=matrix[name]).reshape(rows, cols)


@pytest.fixture
def patch_tab(open_page):
    return lambda **params: open_page(
        "causes", tab="patch", **({"src": CLEAN, "changed": CHANGED, "to": "fr"} | params)
    )


def test_without_a_second_sentence_the_page_says_what_to_type(patch_tab) -> None:
    app = patch_tab(changed="")
    assert not app.exception
    assert "Type a second sentence" in notes(app)


def test_its_matrices_are_those_of_the_analysis_in_both_directions(patch_tab) -> None:
    here = payload(patch_tab(step="2"))
    model = catalogue.translator()
    pair = pair_of(model, model.trace(CLEAN, to="fr"), model.trace(CHANGED, to="fr"))
    metric = pair.metric(2)
    expected = matrices(model, pair, metric, pair.control(2, metric))
    assert here.header["metric"]["clean"] == pytest.approx(expected.ends.clean, abs=1e-5)
    for matrix, stream in zip(here.header["matrices"], expected.streams, strict=False):
        assert matrix["where"] == stream.stack
        np.testing.assert_allclose(floats(here, matrix, "share"), stream.share.numpy(), atol=1e-4)
        np.testing.assert_allclose(floats(here, matrix, "moved"), stream.control.numpy(), atol=1e-4)
    heads = [floats(here, matrix, "patched").ravel() for matrix in here.header["matrices"][2:]]
    np.testing.assert_allclose(np.concatenate(heads), expected.heads.patched.numpy(), atol=1e-4)
    there = payload(patch_tab(step="2", way="out")).header
    assert (there["from"], there["into"]) == (here.header["into"], here.header["from"])
    assert there["metric"]["clean"] == here.header["metric"]["changed"]


def test_all_of_crosss_context_in_force_is_the_clean_runs_answer_to_the_bit(patch_tab) -> None:
    model = catalogue.translator()
    layers, heads = model.shapes["cross"]
    put = "~".join(f"cross.{layer}.{head}" for layer in range(layers) for head in range(heads))
    told = payload(patch_tab(step="1", put=put)).header
    assert told["result"]["patched"] == told["metric"]["clean"]
    assert told["result"]["share"] == 1
    assert len(told["done"]) == layers * heads
    assert "".join(text for text, _ in told["result"]["texts"][1])


def test_a_link_carries_what_is_chosen(patch_tab) -> None:
    app = patch_tab(step="1", put="encoder.0.2~cross.0.1")
    told = payload(app).header
    assert told["view"]["put"] == ["encoder.0.2", "cross.0.1"]
    assert [cell for cell, _ in told["done"]] == ["encoder.0.2", "cross.0.1"]
    links = [str(part.proto) for part in app.get("bidi_component") if "put=encoder.0.2" in str(part.proto)]
    assert links
    assert all("changed=a" in link for link in links), "the menu has it, too"


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"a": "#5", "b": "#5"}, "choose two different ones"),
        ({"a": "#999999"}, "There is no token 999999"),
        ({"a": "a big red dog"}, "Please choose a single token"),
        ({"c": "#5", "d": "#5"}, "choose two different ones"),
        ({"a": "#5", "b": "#6", "c": "#6", "d": "#5"}, "control pair is the metric itself"),
        ({"step": "900"}, "does not exist in both runs"),
        ({"put": "cross.7.1"}, "this cell does not exist for this pair"),
        ({"put": "sideways"}, "a cell is a kind"),
        ({"changed": "love"}, "no token in common"),
        ({"src": "", "changed": CHANGED}, "empty"),
    ],
)
def test_what_cannot_be_asked_is_one_sentence_and_nothing_typed_is_lost(patch_tab, wrong, says) -> None:
    app = patch_tab(**wrong)
    assert not app.exception
    assert says in notes(app)
    if "src" not in wrong:
        assert app.text_input(key="pick-changed").value == wrong.get("changed", CHANGED)
    for name in ("a", "b"):
        if name in wrong and not wrong[name].startswith("#"):
            assert app.selectbox(key=f"pick-{name}").value == wrong[name]


def test_another_sentence_lets_go_of_what_was_chosen_for_the_one_before(patch_tab) -> None:
    app = patch_tab()
    app.selectbox(key="pick-a").select_index(5).run()
    assert "#" in str(app.query_params["a"])
    app.text_input(key="pick-changed").set_value("a small red dog jumped").run()
    assert not app.exception
    assert "a" not in app.query_params
    assert app.query_params["changed"] in ("a small red dog jumped", ["a small red dog jumped"])


def test_runs_that_hardly_differ_have_no_shares(patch_tab) -> None:
    app = patch_tab(changed=CLEAN)
    told = payload(app).header
    assert not told["matrices"]
    assert "less than 0.1" in told["why_not"]


_EXCHANGED = "I love cats and dogs"


@pytest.mark.parametrize(
    ("name", "changed"),
    [("gpt2", _EXCHANGED), ("bart", _EXCHANGED), ("t5", _EXCHANGED), ("bert", "I love the old town")],
)  # random weights: BERT's tell the exchanged animals hardly apart
def test_checkpoints_are_patched_too(patch_tab, folder, name, changed) -> None:
    app = patch_tab(model=folder(name), src="I love dogs and cats", changed=changed, to="")
    assert not app.exception, notes(app)
    told = payload(app)
    wheres = [matrix["where"] for matrix in told.header["matrices"]]
    assert wheres, told.header["why_not"] or notes(app)
    assert ("cross" in wheres) == (name in ("bart", "t5"))
    assert np.isfinite(floats(told, told.header["matrices"][-1], "share")).all()


def test_two_prompts_of_different_length_are_compared_where_they_stand_for_each_other(patch_tab, folder) -> None:
    app = patch_tab(model=folder("gpt2"), src="I love dogs and cats", changed="I love big dogs and cats")
    assert not app.exception, notes(app)
    told = payload(app)
    states = np.frombuffer(told.blobs, dtype=np.uint8)
    stream = told.header["matrices"][0]
    rows, cols = stream["size"]
    assert 2 in states[stream["state"] : stream["state"] + rows * cols]


def test_a_model_without_logits_says_so(patch_tab, folder) -> None:
    app = patch_tab(model=folder("electra"), src="I love dogs", changed="I love cats")
    assert not app.exception
    assert "no output over a vocabulary" in notes(app)


@pytest.mark.parametrize("without", [(), ("causal-mask",)], ids=["with its mask", "without"])
def test_a_toy_is_patched_and_nothing_is_grey_where_rows_see_what_follows(patch_tab, without) -> None:
    model = str(shipped.path(Experiment("french", without=without)))
    src = "the black dogs see my small car"
    app = patch_tab(model=model, src=src, changed="the white cats see my small car", to="")
    assert not app.exception
    assert not app.error
    told = payload(app)
    wheres = {matrix["where"]: matrix for matrix in told.header["matrices"]}
    assert set(wheres) == {"encoder", "decoder", "encoder_self", "decoder_self", "cross"}
    decoder = wheres["decoder"]
    rows, cols = decoder["size"]
    states = np.frombuffer(told.blobs, dtype=np.uint8, count=rows * cols, offset=decoder["state"]).reshape(rows, cols)
    row = told.header["step"]
    assert row < cols - 1
    assert (states[0, row + 1 :] == 1).all() == (not without)
