"""A model that truly answers from its prompt: without the sentence that holds the value it does not know the answer."""

import pytest
import torch

from attnviz.analysis.cancellable import Cancellable
from attnviz.models.huggingface import load
from attnviz.spans.numbers.hidden import hide_spans
from attnviz.spans.numbers.needle import Needle, count_needles, trace_needle
from tests.each_case import each_case
from tests.models.huggingface.chat import lookup_model
from tests.models.huggingface.chat.lookup_model import VALUES


@pytest.fixture(scope="module")
def lookup(tmp_path_factory):
    """Open the look-up model as a visitor would."""
    folder = lookup_model.save(tmp_path_factory.mktemp("lookup") / "lookup")
    return load(folder, device=torch.device("cpu"), dtype=torch.float32)


def needle(key: str, value: str) -> Needle:
    return Needle(lookup_model.sentence(key, value), lookup_model.question(key), "", value)


def others(key: str) -> list[str]:
    return [lookup_model.sentence(each, values[2]) for each, values in VALUES.items() if each != key]


@each_case("value", VALUES["metal"])
def test_it_writes_the_value_that_its_prompt_holds(value, lookup):
    said = " ".join([lookup_model.sentence("metal", value), *others("metal")])
    messages = [{"role": "user", "content": f"{said} {lookup_model.question('metal')}"}]
    assert [step.token.text for step in lookup.reply(messages, new_tokens=5)] == [value, "<|im_end|>"]


@pytest.mark.parametrize("place", [0, 5, 11])
def test_hiding_the_sentence_destroys_the_answer_and_hiding_others_does_not(place, lookup):
    trace, answer, spans = trace_needle(lookup, needle("drink", "milk"), others("drink"), place)
    table = hide_spans(lookup, trace, answer, spans, hidden_from="all later rows")
    without = table["without"].tolist()
    assert table["logprob"].tolist()[0] > -0.3
    assert without.pop(place) < -1.2  # six drinks: −1.8 by guessing
    assert min(without) > -0.7


def test_the_count_over_all_places(lookup):
    told = []
    work = Cancellable(tell=lambda done, total: told.append((done, total)))
    counted = count_needles(lookup, [needle("drink", "milk")], others("drink"), work=work)
    assert told[0] == (0, 156), "how many passes it takes is known beforehand"
    assert told[-1] == (156, 156)
    assert counted.table["place"].tolist() == list(range(1, 13))
    assert counted.counts() | {"attended_most": 0} == {"of": 12, "says": 12, "hurts_most": 12, "attended_most": 0}
    assert counted.sentence().startswith("Of 12 prompts, the model writes the right answer in 12.")


def test_a_model_without_a_template_reads_a_plain_text(model):
    trace, answer, spans = trace_needle(model("gpt2"), Needle("A cat.", "What?", "A ", "cat"), ["A dog.", "A fox."], 1)
    text, tokens = trace.sentences[0].tgt_text, trace.sentences[0].tgt
    assert text == "A dog. A cat. A fox.\nQuestion: What?\nAnswer: A cat"
    assert text[tokens[answer.start].start : tokens[answer.end - 1].end].strip() == "cat"
    assert [span.name for span in spans] == ["sentence 1", "sentence 2", "sentence 3"]
    assert "cat" in text[tokens[spans[1].start].start : tokens[spans[1].end - 1].end]


def test_a_count_that_is_stopped_keeps_what_it_has(lookup):
    told = []
    work = Cancellable(tell=lambda *done: told.append(done), should_stop=lambda: told[-1][0] >= 2 * 13)
    assert len(count_needles(lookup, [needle("drink", "milk")], others("drink"), work=work).table) == 2
