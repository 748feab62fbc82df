"""A trained toy is a model like any other: it has all that pages ask of one."""

import re

import numpy as np
import pytest
import torch

import attnviz
from attnviz.analysis.rerun import batch_of_two, next_tokens, write_again
from attnviz.decoding.numbers.verdict import judge
from attnviz.models.decoding_record import decoding_record
from attnviz.models.inputs import Inputs
from attnviz.models.protocol import Model
from attnviz.text.limits import TextError
from attnviz.toys import shipped
from attnviz.toys.experiment import Experiment
from tests.each_case import each_case
from tests.models.toy.toys import FRENCH, LINE, shipped_toy


def test_a_toy_is_a_model(french, twice):
    assert isinstance(french, Model)
    assert isinstance(twice, Model)
    assert french.inputs is Inputs.SOURCE_AND_TARGET
    assert twice.inputs is Inputs.PROMPT
    assert french.kinds == ("encoder_self", "decoder_self", "cross")
    assert twice.kinds == ("decoder_self",)
    assert french.n_parameters == 24_256
    assert french.name == "french"


def test_a_trained_toy_writes_the_translation_and_its_trace_holds_it(french):
    assert french.write(LINE) == FRENCH
    trace = french.trace(LINE)
    assert (trace.src_text, trace.tgt_text) == (LINE, FRENCH)
    assert trace.kinds == french.kinds
    for kind in trace.kinds:
        torch.testing.assert_close(trace.attn(kind).sum(dim=-1), torch.ones(trace.attn(kind).shape[:-1]))
    said = trace.logits[0].argmax(dim=-1).tolist()
    assert said == [token.id for token in trace.sentences[0].tgt_out]


@pytest.mark.parametrize("choices", [{"task": "french"}, {"task": "french", "without": "causal-mask"}])
def test_a_toys_trace_equals_one_pass_of_the_recorded_network(choices):
    network, trace = (
        attnviz.load_recording(shipped.path(Experiment(**choices))).network(),
        shipped_toy(**choices).trace(LINE),
    )
    src = torch.tensor([[token.id for token in trace.tokens("src")]])
    tgt_in = torch.tensor([[token.id for token in trace.sentences[0].tgt_in]])
    with torch.inference_mode():
        expected = network.logits(network.decode(tgt_in, network.encode(src, None), None))
    assert torch.equal(trace.logits, expected)


@pytest.mark.parametrize("choices", [{"task": "reverse"}, {"task": "french", "without": "causal-mask"}])
def test_a_toys_maps_equal_the_last_recorded_moment(choices):
    recording = attnviz.load_recording(shipped.path(Experiment(**choices)))
    model, line = attnviz.load(recording), recording.watched[0]
    trace = model.trace(" ".join(line.src), tgt_text=" ".join(line.tgt))
    for kind in trace.kinds:
        assert [token.text for token in trace.key_tokens(kind)] == [t.text for t in recording.sentence.keys(kind)]
        np.testing.assert_array_equal(
            (trace.attn(kind) * 255).round().numpy().astype(np.uint8), recording.maps[kind][-1]
        )


def test_a_toy_writes_the_lines_of_the_last_recorded_moment():
    for choices in ({"task": "sort"}, {"task": "reverse", "without": "causal-mask"}):
        recording = attnviz.load_recording(shipped.path(Experiment(**choices)))
        model = attnviz.load(recording)
        for line, wrote in zip(recording.watched, recording.answers_at(-1), strict=True):
            assert tuple(model.write(" ".join(line.src)).split()) == wrote


@pytest.mark.parametrize("cached", [True, False])
def test_a_toys_decoding_steps_equal_one_pass(french, cached):
    steps = list(french.stepwise(LINE, cached=cached))
    assert " ".join(step.token.text for step in steps) == f"{FRENCH} <eos>"
    assert steps[3].attn("decoder_self").shape == (1, 2, 1 if cached else 4, 4)
    trace = french.trace(LINE)
    assert judge(decoding_record(steps), lambda probe: french.rerun(trace, probe)).holds


def test_a_prompt_is_fed_and_continued_step_by_step(twice):
    prompt = twice.codec.task.sample
    steps = list(twice.stepwise(prompt, new_tokens=4))
    assert len(steps) == 14 + 3
    trace = twice.trace(prompt, new_tokens=4)
    assert steps[-1].prefix == trace.sentences[0].tgt_in
    assert trace.tgt_text == f"{prompt} {' '.join(token.text for token in trace.tokens('tgt')[14:])}"
    assert [token.segment for token in trace.tokens("tgt")] == [0] * 14 + [1] * 4
    assert judge(decoding_record(steps), lambda probe: twice.rerun(trace, probe)).holds


def test_a_teachers_prefix_is_fed_instead(french):
    taught = list(french.stepwise(LINE, tgt_text="le chat suit"))
    assert [token.text for token in taught[-1].prefix] == ["<bos>", "le", "chat", "suit"]
    ids = [token.id for token in taught[-1].prefix]
    again = list(french.stepwise(LINE, tgt_in=ids))
    assert [step.token for step in again] == [step.token for step in taught]
    with pytest.raises(ValueError, match=r"^tgt_in begins with \[5\], but must begin with \[1\]\.$"):
        french.stepwise(LINE, tgt_in=[5])
    with pytest.raises(ValueError, match=r"^tgt_in holds up to 64 ids below 86 after its beginning\.$"):
        french.stepwise(LINE, tgt_in=[1, 10_000])


@pytest.mark.parametrize("cached", [True, False])
def test_write_again_equals_the_first_writing(french, blind, cached):
    for model in (french, blind):
        trace = model.trace(LINE)
        (written,) = write_again(model, trace, None, cached=cached)
        # A toy that repeats itself is cut, and each place has its own limit.
        assert written.text.startswith(model.write(LINE)[:40])


def test_a_prompt_is_written_on_from_where_it_was_typed(twice):
    prompt = twice.codec.task.sample
    (written,) = write_again(twice, twice.trace(prompt, new_tokens=3), None)
    assert written.text.startswith(twice.write(prompt, new_tokens=5))


def test_a_batch_of_two_is_padded_and_each_line_computed_as_alone(french):
    first, second = french.trace(LINE), french.trace("my dog loves the cat")
    both = batch_of_two(french, first, second)
    length = len(second.sentences[0].tgt_in)
    torch.testing.assert_close(both.logits[1, :length], second.logits[0], atol=1e-5, rtol=1e-5)
    assert french.is_pad(both.tokens("src", 1)[-1])


def test_the_next_tokens_are_named(french):
    (first, share), *_ = next_tokens(french, french.trace(LINE).logits[0, 0])
    assert (first.text, round(share, 2)) == ("les", 1.0)


@each_case(
    ("ask", "error", "said"),
    [
        (lambda toy: toy.trace("  "), TextError, "The sentence is empty"),
        (
            lambda toy: toy.trace("the zebra sees the dog"),
            TextError,
            "This toy does not know the word 'zebra'. It knows 83 words",
        ),
        (lambda toy: toy.trace(LINE, tgt_text="le zèbre"), TextError, "This toy does not know the word 'zèbre'"),
        (
            lambda toy: toy.trace(LINE, new_tokens=3),
            ValueError,
            "french does not accept new_tokens, because only a decoder",
        ),
        (lambda toy: toy.trace(LINE, max_tokens=0), ValueError, "A target needs room for at least 1 token, not 0."),
    ],
)
def test_a_toy_refuses_a_wrong_argument_in_one_sentence(french, ask, error, said):
    with pytest.raises(error, match=f"^{re.escape(said)}"):
        ask(french)


def test_a_decoder_alone_takes_no_target(twice):
    with pytest.raises(ValueError, match=r"does not accept a target\. It accepts text\.$"):
        twice.trace("a b c", tgt_text="d")
    with pytest.raises(ValueError, match=r"^new_tokens must be 0 or more, not -1\.$"):
        twice.trace("a b c", new_tokens=-1)
    assert twice.trace("a b c", new_tokens=0).sentences[0].cut


@pytest.mark.filterwarnings("ignore:.*nly the first:UserWarning")
def test_a_line_longer_than_any_it_learned_is_read_as_far_as_it_goes(french):
    trace = french.trace(" ".join(["dog"] * 100))
    assert "Source: only the first 64 of 100 words were kept." in trace.info.notes
    assert len(trace.tokens("src")) == 65
    assert len(trace.tokens("tgt")) <= 66


def test_a_toy_that_is_trained_further_has_another_id() -> None:
    model = shipped_toy(task="french")
    before, weight = model.model_id, next(model.model.parameters())
    weight.data[0] += 1
    after, weight.data[0] = model.model_id, weight.data[0] - 1
    assert after != before == model.model_id
