"""Every page with hybrids, sinks, soft caps and replays: it shows what is true of them, or says why it does not."""

from collections.abc import Callable
from functools import cache

import pytest

import attnviz
from attnviz.analysis.metric_table import head_metrics
from attnviz.kit.wire import unpack
from attnviz.maps.selection import select
from tests.app.pages.on_screen import notes
from tests.models.huggingface import architectures

WHY = "does not use transformers"


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Callable[[str], str]:
    return cache(lambda name: str(architectures.ALL[name](tmp_path_factory.mktemp("more") / name)))


def picture_header(app):
    return next(unpack(part.proto.bytes).header for part in app.get("bidi_component") if part.proto.bytes)


@pytest.mark.parametrize("page", ["", "heads", "masks", "decoding", "anatomy", "implementations"])
def test_a_replay_shows_its_weights_and_says_why_there_is_no_more(open_page, folder, page):
    name = "prophetnet"
    app = open_page(page, model=folder(name), src="I love you.")
    assert not app.exception
    errors = [error.value.replace("\\", "") for error in app.error]
    if page in ("", "heads"):
        assert not errors
        assert WHY in notes(app)
    else:
        assert len(errors) == 1
        assert f"{name} {WHY}" in errors[0]


@pytest.mark.parametrize("tab", ["links", "model", "neuron"])
def test_the_tabs_of_a_replay(open_page, folder, tab):
    app = open_page("heads", model=folder("prophetnet"), src="I love you.", tab=tab)
    assert not app.exception
    assert not app.error
    told = [info.value.replace("\\", "") for info in app.info if "neuron view shows" in info.value]
    assert bool(told) == (tab == "neuron")
    assert all(WHY in text and "file" not in text for text in told)


@pytest.mark.parametrize("page", ["", "masks", "decoding", "anatomy", "implementations", "neuron"])
def test_a_model_whose_scores_alone_are_known_has_what_needs_no_queries(open_page, folder, page):
    tab = {"tab": page} if page == "neuron" else {}
    app = open_page("heads" if tab else page, model=folder("bloom"), src="I love you.", new="2", **tab)
    assert not app.exception
    told = [each.value for each in (*app.error, *app.info) if "only the scores are known" in each.value]
    assert len(told) == (page in ("anatomy", "implementations", "neuron"))
    assert len(app.error) == (page in ("anatomy", "implementations"))


@pytest.mark.parametrize(
    ("page", "name"),
    [
        *((page, name) for page in ("heads", "masks", "decoding") for name in ("lfm2", "gpt_oss")),
        *(("masks", "xlm"), ("masks", "fsmt"), ("decoding", "openai")),
        *(("masks", "gemma2"), ("decoding", "gemma2"), ("heads", "bart_classifier"), ("decoding", "bart_classifier")),
    ],
)
def test_a_model_that_is_odd_in_one_thing_has_its_pages(open_page, folder, page, name):
    app = open_page(page, model=folder(name), src="I love you.", new="2")
    assert not app.exception
    errors = [error.value for error in app.error]
    assert len(errors) == (name == "bart_classifier" and page == "decoding")
    if page == "decoding" and not errors:
        assert "data-verdict='equal'" in "".join(str(node.proto.body) for node in app.get("html"))
    if name == "lfm2" and page in ("", "heads"):
        assert "Only 2 layers of this model compute attention: its layers 1, 4" in notes(app)


def test_decoding_says_that_a_model_has_no_cache(open_page, folder):
    app = open_page("decoding", model=folder("openai"), src="I love you.", new="2")
    assert "this model has no cache to step on" in str(picture_header(app))


def test_masks_name_what_an_indexer_hides(open_page, folder):
    header = picture_header(open_page("masks", model=folder("deepseek_v32"), src="The quick brown fox jumps."))
    assert header["indexed"] is not None


@pytest.mark.parametrize("tab", ["links", "neuron"])
def test_heads_with_a_sink_say_where_the_rest_of_a_row_went(open_page, folder, tab):
    told = picture_header(open_page("heads", model=folder("gpt_oss"), src="I love you."))["kinds"][0]
    assert told["to_sink"]
    assert "the rest goes to the head’s sink" in told["left_out"]
    hidden = picture_header(open_page("heads", model=folder("lfm2"), src="I love you."))["kinds"][0]
    assert not hidden.get("to_sink")
    assert "L0 is layer 1, L1 is layer 4" in hidden["left_out"]
    app = open_page("heads", model=folder("gpt_oss"), src="I love you.", tab=tab)
    assert not app.exception
    assert not app.error


def test_masks_keep_the_sink_in_the_softmax(open_page, folder):
    for fill in ("", "zero after, renormalised"):
        app = open_page("masks", model=folder("gpt_oss"), src="I love you.", **({"fill": fill} if fill else {}))
        assert not app.exception
        header = picture_header(app)
        assert isinstance(header["sink"], float)
        assert any("the head's sink, which is not a token, takes up to" in said for said in header["findings"])


@pytest.mark.parametrize("tab", ["links", "model"])
def test_a_hybrids_layers_have_the_models_own_numbers_in_legends_tables_and_captions(open_page, folder, tab):
    told = picture_header(open_page("heads", model=folder("lfm2"), src="I love you.", tab=tab, new="0"))
    assert told["layer_numbers"] == [1, 4]
    assert "L0 is layer 1, L1 is layer 4 in the model’s own numbering" in told["caption"]["model"]
    plain = picture_header(open_page("heads", model=folder("gpt_oss"), src="I love you.", tab=tab, new="0"))
    assert plain["layer_numbers"] == []
    assert "is layer" not in plain["caption"]["model"]


@pytest.mark.parametrize(("page", "key"), [("masks", "pick-layer"), ("anatomy", "pick-layer")])
def test_a_hybrids_layers_are_chosen_by_the_models_own_numbers_too(open_page, folder, page, key):
    app = open_page(page, model=folder("lfm2"), src="I love you.", new="0")
    assert not app.exception
    assert list(app.selectbox(key=key).options) == ["L0 (layer 1)", "L1 (layer 4)"]


def test_a_table_of_heads_has_the_models_own_numbers(folder):
    model = attnviz.load(folder("lfm2"), device="cpu", dtype="float32")
    trace = model.trace("I love you.", new_tokens=0)
    table = head_metrics(select(trace, "decoder_self"), trace)
    assert sorted(set(zip(table["layer"], table["model_layer"], strict=True))) == [(0, 1), (1, 4)]
    assert trace.layer_name("decoder_self", 1) == "L1 (layer 4)"
