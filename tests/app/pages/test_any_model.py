"""Every page with a checkpoint (encoder, decoder, or both): it works, or gives its reason in one sentence."""

from pathlib import Path

import pytest

from attnviz.app.request import Request
from attnviz.kit.wire import unpack
from tests.app.pages.on_screen import bar, notes
from tests.models.huggingface import architectures, checkpoints

# Every page once, each kind of model (encoder, decoder, both) on two of them.
PAGES = {"": "bart", "heads": "bert", "masks": "gpt2", "decoding": "bart", "anatomy": "bert", "implementations": "gpt2"}


@pytest.mark.parametrize(("page", "name"), PAGES.items())
def test_a_page_shows_a_checkpoint(open_page, folder, page: str, name: str) -> None:
    app = open_page(page, model=folder(name), src="I love you.")
    assert not app.exception
    assert not app.error


def test_decoding_says_that_an_encoder_writes_no_text(open_page, folder) -> None:
    app = open_page("decoding", model=folder("bert"), src="I love you.")
    assert not app.exception
    assert len(app.error) == 1
    assert "writes no text" in app.error[0].value.replace("\\", "")


@pytest.mark.parametrize(("name", "line", "says"), [("llama", "11", "RoFormer"), ("t5", "12", "head and distance")])
def test_the_walk_has_a_line_for_the_models_positions(open_page, folder, name: str, line: str, says: str) -> None:
    app = open_page("anatomy", model=folder(name), src="I love you.", tgt="I.", line=line, new="0")
    assert not app.exception
    assert not app.error
    assert any(says in str(node.proto.body) for node in app.get("html"))


@pytest.mark.parametrize(
    ("tab", "name", "says"),
    [
        ("agreement", "llama", "rotated by position"), ("agreement", "t5", "a bias for the distance is added"),
        ("relative", "llama", ""), ("bugs", "t5", ""),
    ],
)  # fmt: skip
def test_every_way_is_compared_with_the_models_positions(open_page, folder, tab: str, name: str, says: str) -> None:
    app = open_page("implementations", model=folder(name), src="I love you.", tgt="I.", tab=tab, new="0")
    assert not app.exception
    assert not app.error
    assert not says or any(says in caption.value for caption in app.caption)


def test_a_bug_that_a_model_cannot_have_is_said_and_shown_elsewhere(open_page, folder) -> None:
    app = open_page("implementations", model=folder("t5"), src="I love you.", tab="bugs", bug="no_scale")
    assert not app.exception
    captions = [caption.value for caption in app.caption]
    assert any("does not divide its scores by √d" in said and "at other sizes" in said for said in captions)
    assert not [group for group in app.button_group if group.label == "Put the bug into the model at"]


def test_what_is_not_four_projections_cannot_be_taken_apart_and_says_why(open_page, tmp_path) -> None:
    folder = str(architectures.ALL["gemma2"](tmp_path / "gemma2"))
    for page in ("anatomy", "implementations"):
        app = open_page(page, model=folder, src="I", new="0")
        assert not app.exception
        (error,) = app.error
        assert "go through a tanh" in error.value.replace("\\", "")


@pytest.mark.parametrize(
    ("tab", "name"), [("skip", "gpt2"), ("claims", "qwen3"), ("counts", "t5"), ("modulation", "qwen3")]
)
def test_a_model_is_taken_apart_on_every_part_of_anatomy(open_page, folder, tab: str, name: str) -> None:
    app = open_page(
        "anatomy", model=folder(name), src="I love you.", tab=tab, layer="1", head="4", new="2", skip="scale"
    )
    assert not app.exception
    assert not app.error


def test_a_bug_is_put_into_a_checkpoint_which_then_writes_another_text(open_page, folder) -> None:
    for name, said in (("gpt2", "text changes"), ("bert", "writes no text")):
        app = open_page("implementations", model=folder(name), src="I love you.", tab="bugs", scope="model", new="2")
        assert not app.exception
        assert any(said in caption.value for caption in app.caption)


@pytest.mark.parametrize("name", ["albert", "electra", "gemma", "llama", "t5", "marian"])
def test_an_architecture_is_drawn(open_page, folder, name: str) -> None:
    app = open_page("heads", model=folder(name), src="I love you.", new="2")
    assert not app.exception
    assert not app.error
    (component,) = [part for part in app.get("bidi_component") if part.proto.bytes]
    told = unpack(component.proto.bytes).header
    kinds = {"ENCODERS": ["encoder_self"], "DECODERS": ["decoder_self"]}
    wanted = next((kinds[group] for group in kinds if name in getattr(checkpoints, group)), None)
    assert [kind["kind"] for kind in told["kinds"]] == (wanted or ["encoder_self", "decoder_self", "cross"])


def test_the_bar_asks_for_what_a_model_takes(open_page, folder) -> None:
    assert {"Sentence", "Second sentence (may stay empty)"} <= bar(open_page("heads", model=folder("bert")))
    assert {"Prompt", "Tokens to write"} <= bar(open_page("heads", model=folder("gpt2")))
    assert {"Source text", "Target (empty: the model writes it)"} <= bar(open_page("heads", model=folder("bart")))


def test_masks_run_a_checkpoint_again_and_say_what_it_writes(open_page, folder) -> None:
    app = open_page("masks", model=folder("gpt2"), src="I love you.", tab="says", masks="window_1", scope="kind")
    assert not app.exception
    assert not app.error
    assert not any("rules are" in note.value for note in app.info)  # one that cannot be read is dropped with a word
    written = next(node.proto.body for node in app.get("html") if "what it writes" in str(node.proto.body))
    assert [written.count(f"<th>{name}</th>") for name in ("before", "after")] == [1, 1]


def test_decoding_a_prompt_step_by_step_equals_one_pass(open_page, folder) -> None:
    for way in ("cached", "recomputed", "teacher"):
        app = open_page("decoding", model=folder("gpt2"), src="I love you.", way=way, new="3")
        assert not app.exception
        assert "data-verdict='equal'" in "".join(str(node.proto.body) for node in app.get("html"))
        told = next(unpack(part.proto.bytes).header for part in app.get("bidi_component") if part.proto.bytes)
        rows, steps = told["training"]["rows"], told["steps"]
        assert [step["input"] for step in steps] == [row["input"] for row in rows], "prompt and continuation are fed"


def test_a_quadrant_of_a_pair_can_be_chosen(open_page, folder) -> None:
    app = open_page("heads", model=folder("bert"), src="I love you.", tgt="You too.", quadrant="0-1")
    assert not app.exception
    choice = next(group for group in app.button_group if group.label == "Quadrant of the maps")
    assert choice.value == "0-1" or choice.value == ["0-1"]
    assert [caption.value for caption in app.caption] == ["A, B: the two sentences"]


def test_the_neuron_view_shows_every_token_and_offers_no_quadrant(open_page, folder) -> None:
    app = open_page("heads", model=folder("gpt2"), src="I love you.", new="3", quadrant="0-0", tab="neuron")
    assert not app.exception
    assert not [group for group in app.button_group if group.label == "Quadrant of the maps"]


@pytest.mark.parametrize("kind", ["encoder_self", "decoder_self", "cross"])
def test_a_decoder_taller_and_narrower_than_its_encoder_is_shown_to_its_last_head(open_page, folder, kind: str) -> None:
    layer, head = {"encoder_self": ("1", "4"), "decoder_self": ("2", "2"), "cross": ("2", "2")}[kind]
    for page in ("heads", "masks"):
        app = open_page(page, model=folder("bart"), src="I love you.", kind=kind, layer=layer, head=head)
        assert not app.exception
        assert not [info for info in app.info if "link asks" in info.value]
        beyond = open_page(page, model=folder("bart"), src="I love you.", kind=kind, layer="2", head="4")
        assert not beyond.exception
        assert [
            info for info in beyond.info if "link asks" in info.value
        ]  # one of both does not exist in this kind: a sentence says so


@pytest.mark.parametrize(("name", "says"), [("bert", "Second sentence: only"), ("gpt2", "Prompt: only")])
def test_a_text_too_long_is_cut_as_it_is_typed_and_named(open_page, folder, name: str, says: str) -> None:
    app = open_page("heads", model=folder(name), src="I love you.")
    key = "tgt" if name == "bert" else "src"
    app.text_input(key=f"{key}-shown").set_value("love " * 9_000).run()
    assert not app.exception
    assert len(app.text_input(key=f"{key}-shown").value) == 8_192
    said = [info.value.replace("\\", "") for info in app.info]
    assert any(note.startswith(says) and "8,192 of 45,000 characters were read" in note for note in said)
    assert any(note.startswith(says) and "tokens were kept" in note for note in said)


def test_a_number_of_tokens_that_is_none_is_answered_in_a_sentence(open_page, folder) -> None:
    for asked in ("999", "-1", "many"):
        app = open_page("heads", model=folder("gpt2"), src="I love you.", new=asked)
        assert not app.exception
        assert app.number_input(key="new-shown").value == 8
        assert f"new “{asked}”, but it is a whole number from 0 to 64; used instead: 8" in notes(app)
    app.number_input(key="new-shown").set_value(2).run()
    assert "link asks" not in notes(app)
    app = open_page("heads", model=folder("gpt2"), src="I love you.", new="64")
    assert "link asks" not in notes(app)
    app.number_input(key="new-shown").set_value(2).run()
    assert "link asks" not in notes(app)


@pytest.mark.parametrize(("tab", "name"), [("links", "albert"), ("model", "t5"), ("neuron", "llama")])
def test_the_other_tabs_draw_a_checkpoint(open_page, folder, tab: str, name: str) -> None:
    app = open_page("heads", model=folder(name), src="I love you.", tab=tab, layer="1", head="2")
    assert not app.exception
    assert not app.error
    (component,) = [part for part in app.get("bidi_component") if part.proto.bytes]
    told = unpack(component.proto.bytes).header
    assert told["title"]
    if tab == "neuron":
        assert (told["layer"], told["head"]) == (1, 2)


def test_heads_computes_no_logits_and_other_pages_do(open_page, folder) -> None:
    """Half of a long pass is the scores of the vocabulary, which no map shows."""
    from attnviz.app.cache import traces
    from attnviz.models.catalogue import Entry

    name, text = folder("gpt2"), "The wolf sleeps on the hill."
    app = open_page("heads", model=name, src=text, new="2")
    assert not app.exception
    request = Request(Entry(name, Path(name), name, ()), text, new=2)
    lean, whole = traces.attention(request), traces.trace(request)
    assert (lean.logits, lean.layers) == (None, {})
    assert whole.logits is not None
    assert whole.layers
    assert lean.attn("decoder_self").equal(whole.attn("decoder_self"))
    assert traces.attention(request) is whole  # what is there already serves both
