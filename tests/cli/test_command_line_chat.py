"""The commands on a conversation: traced, stepped through, and answered."""

import json

import pytest

import attnviz
from attnviz.__main__ import main
from tests.each_case import each_case

SAID = [{"role": "system", "content": "The cat sat."}, {"role": "user", "content": "It sleeps on."}]
AS_JSON = json.dumps(SAID)


@pytest.fixture
def chat_file(tmp_path):
    """Write a conversation to a file."""
    path = tmp_path / "chat.json"
    path.write_text(AS_JSON, encoding="utf-8")
    return str(path)


def test_trace_saves_a_conversation_with_its_turns(chat_folder, chat_file, tmp_path, capsys):
    out, page = tmp_path / "chat.npz", tmp_path / "chat.html"
    asked = ["trace", "--model", chat_folder, "--new-tokens", "3", "--out", str(out), "--html", str(page)]
    assert main([*asked, "--chat", chat_file]) == 0
    assert "<|im_start|>user\nIt sleeps on.<|im_end|>" in capsys.readouterr().out
    trace = attnviz.load_trace(out)
    assert [span.name for span in trace.sentences[0].spans] == ["system", "user", "assistant"]
    assert len(trace.sentences[0].tgt) - trace.sentences[0].spans[-1].start == 3
    assert page.stat().st_size > 10_000
    same = tmp_path / "same.npz"
    assert main([*asked[:-4], "--out", str(same), "--messages", AS_JSON]) == 0
    assert attnviz.load_trace(same).tokens("tgt") == trace.tokens("tgt")


@pytest.mark.parametrize("said", [{"messages": SAID}, [[one["role"], one["content"]] for one in SAID]])
def test_a_conversation_is_read_as_data_sets_and_links_write_it(chat_folder, capsys, tmp_path, said):
    asked = ["trace", "--model", chat_folder, "--out", str(tmp_path / "chat.npz"), "--messages"]
    assert main([*asked, json.dumps(said)]) == 0
    read = capsys.readouterr().out
    assert main([*asked, AS_JSON]) == 0
    assert read == capsys.readouterr().out


def test_steps_go_through_a_conversation(chat_folder, chat_file, capsys):
    assert main(["steps", "--model", chat_folder, "--chat", chat_file, "--new-tokens", "2"]) == 0
    *rows, verdict = capsys.readouterr().out.splitlines()
    assert rows[1].split("\t")[1] == "<|im_start|>"
    assert verdict.startswith("# equal to one pass")


def test_reply_writes_what_the_model_replies(chat_folder, chat_file, capsys):
    model = attnviz.load(chat_folder, device="cpu")
    for how in ({}, {"temperature": 1.5, "top_p": 0.9, "seed": 3}):
        ids = [step.token.id for step in model.reply(SAID, new_tokens=12, **how)]
        ids = [id_ for id_ in ids if id_ not in model.vocabulary.ends]
        options = [f"--{name.replace('_', '-')}={value}" for name, value in how.items()]
        assert main(["reply", "--model", chat_folder, "--new-tokens", "12", "--chat", chat_file, *options]) == 0
        assert capsys.readouterr().out == model.decode_ids(ids)[0] + "\n"
        asked = ["It sleeps on.", "--system", "The cat sat.", "--new-tokens", "12", *options]
        assert main(["reply", *asked, "--model", chat_folder]) == 0
        assert capsys.readouterr().out == model.decode_ids(ids)[0] + "\n"


@each_case(
    ("arguments", "says"),
    [
        (["--messages", "nonsense"], "--messages holds no JSON"),
        (["--messages", "[]"], "The conversation is empty"),
        (["--messages", '[{"role": "user"}]'], "Turn 1 is not a valid turn"),
        (["--messages", json.dumps([SAID[1], SAID[1]])], "Turn 2 is the user's"),
        (["--messages", AS_JSON, "A cat"], "Give a text or a conversation, not both"),
        (["--chat", "missing.json"], "missing.json cannot be read"),
        ([], "Give a text, or a conversation with --chat or --messages"),
    ],
)
@each_case("command", ["trace", "steps", "reply"])
def test_a_conversation_that_cannot_be_used_is_one_sentence(chat_folder, capsys, tmp_path, command, arguments, says):
    out = ["--out", str(tmp_path / "chat.npz")] if command == "trace" else []
    assert main([command, "--model", chat_folder, *out, *arguments]) == 2
    error = capsys.readouterr().err
    assert error.startswith("attnviz: ")
    assert says in error
    assert error.count("\n") == 1


def test_a_model_without_a_template_says_so(folder_without_template, capsys, tmp_path):
    for command in (["trace", "--out", str(tmp_path / "chat.npz")], ["steps"], ["reply"]):
        assert main([*command, "--model", folder_without_template, "--messages", AS_JSON]) == 2
        assert "has no chat template" in capsys.readouterr().err
    assert main(["reply", "Hello", "--system", "x", "--messages", AS_JSON, "--model", folder_without_template]) == 2
    assert "not both" in capsys.readouterr().err


@pytest.fixture(scope="module")
def folder_without_template(tmp_path_factory):
    """Save the same decoder without its template."""
    from tests.models.huggingface.chat import chat_folder

    return str(chat_folder.save(tmp_path_factory.mktemp("plain") / "tiny-plain", None))
