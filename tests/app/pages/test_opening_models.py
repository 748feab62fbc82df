"""A model that a visitor opens: from a link or the list, refused in one sentence, told apart from others, or pinned."""

from pathlib import Path

from attnviz.app import model_picker
from tests.app.pages.on_screen import bar
from tests.each_case import each_case
from tests.models.huggingface import architectures, checkpoints


def test_a_checkpoint_that_is_refused_says_why_on_the_page(open_page, tmp_path) -> None:
    without = architectures.ALL["mamba"](tmp_path / "mamba")
    cut = checkpoints.save(tmp_path / "cut", checkpoints.ALL["bert"])
    (cut / "model.safetensors").write_bytes((cut / "model.safetensors").read_bytes()[:5000])
    for folder, why in ((without, "there is nothing to show"), (cut, "or is cut short")):
        app = open_page("heads", model=str(folder), src="I love you.")
        assert not app.exception
        (error,) = app.error
        assert why in error.value.replace("\\", "")
        assert str(tmp_path) not in error.value.replace("\\", "")


def test_a_checkpoint_that_a_link_opens_tells_how_far_it_is(open_page, tmp_path, monkeypatch) -> None:
    from attnviz.app.frame import top_bar

    told: list[str] = []
    real = top_bar.traces.inputs

    def inputs(entry, tell=None):
        return real(entry, tell and (lambda share, what: told.append(what) or tell(share, what)))

    monkeypatch.setattr(top_bar.traces, "inputs", inputs)
    folder = checkpoints.save(tmp_path / "new", checkpoints.ALL["gpt2"])
    app = open_page("heads", model=str(folder), src="I love you.", new="0")
    assert not app.exception
    assert "Reading the weights" in told


def test_a_folder_that_is_none_is_one_sentence_and_nothing_typed_is_lost(open_page) -> None:
    app = open_page("heads", model="/no/such/folder", src="I love you.")
    assert not app.exception
    (error,) = app.error
    assert "There is no folder" in error.value.replace("\\", "")
    assert any(widget.value == "I love you." for widget in app.text_input)


def test_an_instance_can_pin_its_models_and_switch_the_field_off(open_page, folder, monkeypatch) -> None:
    monkeypatch.setenv("ATTNVIZ_MODELS", f"{folder('bert')}, ")
    pinned = open_page("heads", model=folder("bert"), src="I love you.")
    assert not pinned.error
    options = next(box.options for box in pinned.selectbox if box.label == "Model")
    assert options == ["tiny", Path(folder("bert")).name]
    other = open_page("heads", model=folder("gpt2"), src="I love you.")
    assert not other.exception
    assert any("does not offer" in info.value for info in other.info)
    assert "Source sentence" in bar(other)


def test_anybody_may_open_another_where_nothing_is_pinned(open_page, monkeypatch) -> None:
    monkeypatch.delenv("ATTNVIZ_MODELS", raising=False)
    app = open_page("heads")
    options = next(box.options for box in app.selectbox if box.label == "Model")
    assert options == ["tiny", "Another model …"]


def test_of_two_models_with_the_same_last_name_each_can_be_chosen_and_stays(open_page, tmp_path) -> None:
    bert, gpt2 = (str(checkpoints.save(tmp_path / name / "model", checkpoints.ALL[name])) for name in ("bert", "gpt2"))
    app = open_page("heads", model=bert, src="I love you.")
    app.session_state["models-opened"] = [bert, gpt2]
    app.run()
    assert app.text_input(key="src-shown").set_value("Hello there.").run().query_params["model"] == bert
    app.selectbox(key="model-shown").set_value(gpt2).run()
    assert app.query_params["model"] == gpt2
    assert "Tokens to write" in bar(app)
    app.selectbox(key="model-shown").set_value(bert).run()
    assert app.query_params["model"] == bert
    assert app.selectbox(key="model-shown").options == ["tiny", "bert/model", "gpt2/model", "Another model …"]


@each_case(
    ("titles", "shown"),
    [
        ({"a": "A", "x/b": "b"}, ["A", "b"]),
        ({"gpt2": "gpt2", "openai/gpt2": "gpt2"}, ["gpt2", "openai/gpt2"]),
        ({"/m/1/bert": "bert", "/n/1/bert": "bert", "t5": "t5"}, ["m/1/bert", "n/1/bert", "t5"]),
        ({"bert": "bert", "./bert": "bert", "bert/": "bert"}, ["bert", "./bert", "bert/"]),
        ({"first": "A/b", "A/b": "A/b"}, ["first", "A/b"]),
        ({"a": "T", "b": "T"}, ["a", "b"]),
        ({"a": "T", "b": "T", "c": "a"}, ["a", "b", "c"]),
        ({}, []),
    ],
)
def test_models_with_the_same_title_are_told_apart_by_the_end_of_their_names(titles, shown) -> None:
    assert list(model_picker.distinct_titles(titles).values()) == shown


def test_what_is_known_of_a_model_opens_beside_its_name_and_its_card_is_text(open_page, tmp_path) -> None:
    folder = checkpoints.save(tmp_path / "known", checkpoints.ALL["llama"])
    (folder / "README.md").write_text("---\nlicense: <b>mit</b>\n---\n", encoding="utf-8")
    app = open_page("heads", model=str(folder), src="I love you.", new="0")
    assert "class='model-facts'" not in _html(app)
    app.button(key="model-facts").click().run()
    assert not app.exception
    said = _html(app)
    assert "3 layers × 6 heads, d_k 10, 2 groups of keys, 3 heads each" in said
    assert "&lt;b&gt;mit&lt;/b&gt;" in said
    app = open_page("anatomy", src="I love you.", to="fr")
    app.button(key="model-facts").click().run()
    assert "encoder and decoder, attnviz&#x27;s own Transformer" in _html(app)


def test_of_a_model_that_cannot_be_read_the_refusal_is_said_there_too(open_page, tmp_path) -> None:
    app = open_page("heads", model=str(tmp_path / "nothing"), src="I love you.")
    app.button(key="model-facts").click().run()
    assert not app.exception
    assert app.error


def _html(app) -> str:
    return "".join(str(node.proto.body) for node in app.get("html"))
