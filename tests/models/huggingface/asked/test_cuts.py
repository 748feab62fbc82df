"""A text that is too long is never cut in silence: a warning, the trace's repr and the app's notice say so."""

import warnings
from pathlib import Path

import pytest

import attnviz
from attnviz.app.cache import traces
from attnviz.models.translator.tiny import tiny_translator
from attnviz.tracing.storage import from_bytes, to_bytes
from tests.models.huggingface.chat import chat_folder

PLACES = 2_000
LONG = "cat " * 1_200


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return attnviz.load(chat_folder.save(tmp_path_factory.mktemp("long"), positions=PLACES))


@pytest.fixture(scope="module")
def n_tokens(model) -> int:
    return len(model.text.encode(LONG, limit=PLACES).ids)


def test_a_cut_that_nobody_asked_for_is_warned_of_once_in_the_callers_line(model, n_tokens: int) -> None:
    with pytest.warns(UserWarning, match=f"Prompt: only the first 1,024 of {n_tokens:,} tokens") as told:
        trace = model.trace(LONG, hidden=False, logits=False)
    assert [Path(one.filename) for one in told] == [Path(__file__)]
    assert f"reads up to {PLACES:,} tokens: max_tokens=" in str(told[0].message)
    assert f"only the first 1,024 of {n_tokens:,} tokens were kept): decoder_self" in repr(trace)
    assert repr(from_bytes(to_bytes(model.trace("cat " * 9, max_tokens=5)))).count("only the first 5 of") == 1


def test_what_was_asked_for_is_no_surprise(model, n_tokens: int) -> None:
    assert len(model.trace(LONG, max_tokens=n_tokens, new_tokens=0, hidden=False).tokens("tgt")) == n_tokens
    assert len(model.trace(LONG, max_tokens=16, new_tokens=2).tokens("tgt")) == 18
    says = f"This model reads at most {PLACES:,} tokens."
    with pytest.warns(UserWarning, match=rf"only the first {PLACES:,} of .* tokens were kept\. {says}$"):
        found = model.trace("cat " * 2_500, max_tokens=9_000, hidden=False, logits=False)
    assert found.info.notes[-1] == says


def test_writing_after_a_cut_has_to_be_asked_for(model, n_tokens: int, monkeypatch) -> None:
    said = (
        rf"1,024 of {n_tokens:,} tokens .* New tokens would follow the cut\. Please pass a larger max_tokens=.*=1024 to"
    )
    with pytest.raises(ValueError, match=said):
        model.trace(LONG, new_tokens=3)
    with pytest.raises(
        ValueError, match=r"only the first 4,096 of .* pass a larger max_tokens=.*=512 to write on from"
    ):
        model.stepwise(LONG)
    assert len(model.stepwise(LONG, max_tokens=n_tokens, new_tokens=0).__next__().trace.info.notes) == 0
    monkeypatch.setattr(model.text, "max_tokens", 40)
    for write in (model.trace, model.stepwise):
        with pytest.raises(
            ValueError, match=r"only the first .* cut\. Please pass a shorter text, or max_tokens=40 to write on"
        ):
            write(LONG, new_tokens=3)


def test_steps_and_translators_warn_too(model) -> None:
    translator = tiny_translator()
    runs = {
        "512 of": lambda: next(model.stepwise(LONG, max_tokens=512)),
        "first 512": lambda: next(model.stepwise(LONG, new_tokens=0)),
        "Source: only": lambda: translator.trace("dog " * 600, to="fr", max_tokens=1),
        "only the first": lambda: next(translator.stepwise("dog " * 600, to="fr")),
        "Only the first": lambda: translator.translate("dog " * 600, to="fr"),
    }
    for said, run in runs.items():
        with pytest.warns(UserWarning, match=said) as told:
            run()
        assert [Path(one.filename) for one in told] == [Path(__file__)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        translator.translate("dog " * 600, to="fr", tell=lambda *_: None)


def test_the_apps_own_end_is_a_setting_that_its_notice_names(model, monkeypatch) -> None:
    """No warning: pytest makes one an error."""
    found = traces.run(model, LONG, new=2, hidden=False, logits=False)
    assert found.info.notes[-1] == "This dashboard reads up to 1,024 tokens (ATTNVIZ_MAX_TOKENS)."
    monkeypatch.setenv("ATTNVIZ_MAX_TOKENS", "40")
    short = traces.run(model, LONG, new=2)
    assert len(short.tokens("tgt")) == 42
    assert short.info.notes[-1] == "This dashboard reads up to 40 tokens (ATTNVIZ_MAX_TOKENS)."
    assert traces.run(model, "cat", new=2).info.notes == ()
    monkeypatch.setenv("ATTNVIZ_MAX_TOKENS", "many")
    with pytest.raises(ValueError, match="ATTNVIZ_MAX_TOKENS='many' is not a number of tokens"):
        traces.run(model, "cat")


def test_a_conversation_is_told_by_its_last_question(model) -> None:
    asked = [{"role": "user", "content": "A dog?"}, {"role": "assistant", "content": "Yes."}]
    trace = model.trace(messages=[*asked, {"role": "user", "content": "And a cat?"}], new_tokens=2)
    assert repr(trace).startswith("<Trace of a conversation, 'And a cat?': decoder_self")
