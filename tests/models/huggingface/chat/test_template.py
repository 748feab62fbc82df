"""Chat templates are rendered as transformers renders them, and turns found among the characters."""

import json
import subprocess
import sys
import time
from contextlib import suppress
from datetime import datetime

import pytest

from attnviz.models.chat import RenderedTexts
from attnviz.models.huggingface.chat import template as rendering
from attnviz.models.huggingface.chat.render_process import _at_most, _OutOfTime, find_turns
from attnviz.models.huggingface.chat.template import ChatTemplate
from attnviz.text.conversation import Turn, read_turns
from attnviz.text.limits import TextError
from tests.each_case import each_case
from tests.models.huggingface.chat.templates import TEMPLATES
from tests.models.huggingface.families import tokenizer_of

ASKED = [{"role": "user", "content": " user\n"}, {"role": "assistant", "content": "Hello!"},
         {"role": "user", "content": "assistant <|im_end|> 猫 \U0001f408"}]  # fmt: skip
TOLD = [{"role": "system", "content": "Be brief."}, *ASKED]
ANSWERED = [*ASKED, {"role": "assistant", "content": "Yes, a cat."}]


def published(family: str, checkpoint) -> tuple[object, ChatTemplate]:
    """Return a tokenizer with a family's template, and the template as attnviz reads it from there."""
    tokenizer = tokenizer_of(checkpoint("llama"))
    tokenizer.chat_template = TEMPLATES[family]
    found = ChatTemplate.of(tokenizer)
    assert found is not None
    return tokenizer, found


@each_case("messages", [ASKED, TOLD, ANSWERED], ids=["a question", "with a system", "answered"])
@each_case("family", TEMPLATES)
def test_a_template_writes_what_transformers_writes(family, messages, checkpoint):
    tokenizer, template = published(family, checkpoint)
    asks = messages[-1]["role"] == "user"
    if family == "Gemma" and messages is TOLD:
        with pytest.raises(
            TextError, match=r"refuses this conversation \(TemplateError: System role not supported\)\.$"
        ):
            template.render(read_turns(messages), add_generation_prompt=asks)
        return
    expected = tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=asks)
    assert template.render(read_turns(messages), add_generation_prompt=asks).text == expected


@each_case("family", TEMPLATES)
def test_each_turn_is_found_where_the_template_wrote_it(family, checkpoint):
    _, template = published(family, checkpoint)
    turns = read_turns(ASKED)
    made = template.render(turns, add_generation_prompt=True)
    assert [made.text[slice(*place)].strip() for place in made.places] == [turn.content.strip() for turn in turns]
    assert not made.is_dated


_EACH = "{% for m in messages %}{{ '<' + m.role + '>' + TEXT }}{% endfor %}"
_DONE = {
    "a changed turn": (TEMPLATES["Qwen 3"], [0, "changed", 2]),
    "a moved system turn": (TEMPLATES["Mistral"], [0, 1, 2, 3]),
    "capitals": (
        _EACH.replace("TEXT", "(m.content | upper if m.role == 'user' else m.content)"),
        ["changed", 1, "changed"],
    ),
    "a turn left out": (_EACH.replace("TEXT", "m.content").replace("messages", "messages[1:]"), ["left out", 1, 2]),
    "a repeated turn": (_EACH.replace("TEXT", "m.content") + "{{ messages[0].content }}", ["repeated", 1, 2]),
    "a turn that is asked for": (
        "{% if messages[0].content != 'Ask' %}{{ raise_exception('Ask') }}{% endif %}"
        + _EACH.replace("TEXT", "m.content"),
        ["changed", 1, 2],
    ),
}


@each_case("done", _DONE)
def test_what_a_template_does_to_one_turn_costs_no_other_its_place(done):
    source, expected = _DONE[done]
    said = [("user", "Ask"), ("assistant", "<think>Hm.</think>Hello!"), ("user", "Why?")]
    said = [("system", "Be brief."), *said] if len(expected) == 4 else said
    turns = [Turn(role, text) for role, text in said]  # type: ignore[arg-type]
    made = ChatTemplate(source, {"bos_token": "<s>", "eos_token": "</s>"}).render(turns, add_generation_prompt=True)
    found = [each if isinstance(each, str) else made.text[slice(*each)] for each in made.places]
    assert found == [each if isinstance(each, str) else turns[each].content for each in expected]


def test_a_slow_template_is_written_and_its_last_turns_are_not_looked_up():
    moments = []

    def write(messages):
        moments.append(1)
        while len(moments) > 2:
            pass
        return "".join(message["content"] for message in messages)

    said = [{"role": "user", "content": text} for text in ("One", "Two", "Three", "Four")]
    assert find_turns(write, said, "OneTwoThreeFour", 0.05) == [(0, 3), (3, 6), "late", "late"]


def test_time_runs_out_again_where_python_has_lost_the_first_exception():
    def run(seconds):
        end = time.process_time() + seconds
        while time.process_time() < end:
            pass

    def run_twice():
        with suppress(BaseException):  # as Python does where it cleans up
            run(5)
        run(5)

    with pytest.raises(_OutOfTime), _at_most(0.05):
        run_twice()


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        ("{% if %}", "refuses this conversation (TemplateSyntaxError"),
        ("{{ messages[9].content.upper() }}", "refuses this conversation (UndefinedError"),
        ("{{ ''.__class__.__mro__ }}", "refuses this conversation (SecurityError"),
        ("{% for a in range(9999) %}{% for b in range(99) %}line\n{% endfor %}{% endfor %}", "it wrote 4,949,505"),
        ("{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}", "did not finish within 0.5"),
    ],
)
def test_a_template_that_fails_is_one_sentence_and_the_next_one_is_rendered(source, sentence, monkeypatch):
    turns = read_turns(ASKED)
    ChatTemplate("started", {}).render(turns, add_generation_prompt=True)
    monkeypatch.setattr(rendering, "SECONDS", 0.5 if "99999" in source else 30.0)
    with pytest.raises(TextError) as refused:
        ChatTemplate(source, {}).render(turns, add_generation_prompt=True)
    assert sentence in str(refused.value)
    assert "\n" not in str(refused.value)
    monkeypatch.setattr(rendering, "SECONDS", 30.0)
    again = ChatTemplate("{{ messages[1].content }} again", {})
    assert again.render(turns, add_generation_prompt=True).text == "Hello! again"


ENDLESS = "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}"


def test_a_template_that_never_ends_is_asked_three_times_in_ten_minutes(monkeypatch):
    monkeypatch.setattr(rendering, "SECONDS", 0.1)
    monkeypatch.setattr(rendering, "_PATIENCE", 1_000)  # on a busy machine a tenth of a second takes long by the clock
    asked, now, process = [], [0.0], rendering._PROCESS
    ChatTemplate("started", {}).render(read_turns(ASKED), add_generation_prompt=True)
    child, answer = process._child, rendering._read_answer
    monkeypatch.setattr(rendering, "_read_answer", lambda *given: asked.append(1) or answer(*given))
    monkeypatch.setattr(rendering.time, "monotonic", lambda: now[0])
    template = ChatTemplate(f"{{# another #}}{ENDLESS}", {})

    def refusal(question: str) -> str:
        with pytest.raises(TextError) as refused:
            template.render([Turn("user", question)], add_generation_prompt=True)
        return str(refused.value)

    late = "The model's chat template did not finish within 0.1 seconds, or took too much memory."
    assert [refusal(text) for text in ("One?", "One?", "Two?", "Three?", "Three?")] == [late] * 5
    assert len(asked) == 3, "a refusal is remembered by template and turns"
    rest = "The model's chat template took too long 3 times, so attnviz does not run it again for 10 minutes."
    assert (refusal("Four?"), len(asked)) == (rest, 3)
    assert ChatTemplate("{{ messages[0].content }} again", {}).render(read_turns(ASKED), add_generation_prompt=True)
    assert process._child is child, "the process goes on, so that nobody waits for another to start"
    now[0] = 601.0
    assert (refusal("Four?"), len(asked)) == (late, 5)


def test_a_rendering_without_an_end_ends_with_the_process_that_asked_for_it():
    asked = {"seconds": 1000.0, "messages": ASKED, "now": "2026-01-02", "chat_template": ENDLESS}
    asks = (
        "import subprocess, sys, time\n"
        f"child = subprocess.Popen([sys.executable, {str(rendering._SCRIPT)!r}], stdin=subprocess.PIPE, text=True)\n"
        f"child.stdin.write({json.dumps(asked) + chr(10)!r})\n"
        "child.stdin.flush()\n"
        "time.sleep(1000)\n"
    )
    asker = subprocess.Popen([sys.executable, "-c", asks], stdout=subprocess.PIPE)
    assert asker.stdout.readline(), "it has begun"
    asker.kill()
    asker.communicate(timeout=100)  # returns once the rendering process, too, has closed its output


def test_a_conversation_longer_than_the_model_reads_is_refused_before_it_is_rendered(chat, monkeypatch):
    loaded = chat("llama", TEMPLATES["Phi"])
    monkeypatch.setattr(rendering, "_render_in_process", lambda *_: pytest.fail("rendered"))
    with pytest.raises(TextError, match=r"has 40,000 characters; at most 3,176 are read. Please shorten a turn\.$"):
        loaded.trace(messages=[{"role": "user", "content": "Hello " * 6_666 + "you?"}])


def test_rendered_conversations_take_so_many_bytes_and_no_more(monkeypatch):
    kept = RenderedTexts(100_000)
    monkeypatch.setattr(rendering, "RENDERED", kept)
    template = ChatTemplate("{{ messages[0].content }}", {})
    for number in range(30):
        asked = f"{number} 猫" + "a" * 5_000
        assert template.render([Turn("user", asked)], add_generation_prompt=True).text == asked
    assert 80_000 < kept.total <= 100_000
    kept.forget(lambda _: True)
    assert kept.total == 0


def test_a_template_of_a_million_lines_is_refused_unread(checkpoint):
    tokenizer, _ = published("Phi", checkpoint)
    tokenizer.chat_template = "line\n" * 1_000_000
    with pytest.raises(TextError, match=r"has 5,000,000 characters; at most 200,000 are read\.$"):
        ChatTemplate.of(tokenizer)


@each_case(
    ("messages", "sentence"),
    [
        ("Hello", "messages is a list of turns"),
        ([], "The conversation is empty"),
        ([{"role": "user"}], "Turn 1 is not a valid turn"),
        ([{"role": "tool", "content": "3"}], "Turn 1 has the role 'tool'"),
        ([{"role": "user", "content": " \n"}], "Turn 1 (user) is empty"),
        ([{"role": "user", "content": [{"type": "image"}]}], "The content of turn 1 is not text"),
        ([{"role": "assistant", "content": "Hi"}], "Turn 1 is the assistant's, where the user's is expected"),
        ([*ASKED, {"role": "user", "content": "?"}], "Turn 4 is the user's, where the assistant's is expected"),
        ([ASKED[0], {"role": "system", "content": "Be brief."}], "only the first turn may be a system turn"),
        ([TOLD[0]], "add a user turn"),
        (ASKED[:1] * 201, "reads at most 200."),
    ],
)
def test_a_conversation_that_cannot_be_read_is_one_sentence(messages, sentence):
    with pytest.raises(TextError) as refused:
        read_turns(messages)
    assert sentence in str(refused.value)
    assert "\n" not in str(refused.value)


def test_several_templates_without_a_default_are_named_with_the_way_to_choose_one(checkpoint):
    tokenizer, template = published("Phi", checkpoint)
    several = {"tool_use": "tools", "rag": template.source}
    tokenizer.chat_template = several | {"default": template.source}
    assert ChatTemplate.of(tokenizer).source == template.source
    for found in (several, [{"name": name, "template": source} for name, source in several.items()]):
        tokenizer.chat_template = found
        with pytest.raises(
            TextError, match="several chat templates, “rag” and “tool_use”, and none of them"
        ) as refused:
            ChatTemplate.of(tokenizer)
        assert "tokenizer.chat_template = tokenizer.chat_template['rag']" in str(refused.value)
    tokenizer.chat_template = several
    tokenizer.chat_template = tokenizer.chat_template["rag"]
    assert ChatTemplate.of(tokenizer).source == template.source


def test_a_template_that_writes_the_date_says_so_and_is_rendered_again_another_day(checkpoint, monkeypatch):
    tokenizer, _ = published("Phi", checkpoint)
    tokenizer.chat_template = "Today is {{ strftime_now('%d %B %Y') }}. {{ messages[0].content }}"
    template, turns = ChatTemplate.of(tokenizer), read_turns(ASKED[:1])
    made = template.render(turns, add_generation_prompt=False)
    assert made.text == tokenizer.apply_chat_template(ASKED[:1], tokenize=False)
    assert made.is_dated
    assert made.text[slice(*made.places[0])] == turns[0].content
    monkeypatch.setattr(rendering, "_now", lambda: datetime(2031, 2, 3))
    assert template.render(turns, add_generation_prompt=False).text.startswith("Today is 03 February 2031.")
