"""Steps and the one pass compute the same numbers, in every way of stepping; and a step is a small trace."""

import pytest
import torch

from attnviz.decoding.numbers.verdict import judge
from attnviz.models.decoding_record import newest_row, stack_rows
from attnviz.models.translator.stepwise import RecordedSteps
from attnviz.models.translator.translator import Translator
from attnviz.text.limits import TextError
from attnviz.text.tokens import Token
from attnviz.tracing.interventions import Chain
from attnviz.tracing.record import RunInfo, Sentence
from attnviz.tracing.recorder import Recorder
from attnviz.tracing.trace import Trace
from attnviz.transformer.decoding import Stepper, decode_steps
from attnviz.transformer.layers import ForwardContext
from attnviz.transformer.probe import Probe
from tests.models.stepping import TEXT, judged_run, run

pytestmark = pytest.mark.computes

WAYS = ("cached", "recomputed", "teacher")


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", ["tiny", "shipped_translator"])
def test_every_step_is_a_row_of_the_pass(way: str, name: str, request: pytest.FixtureRequest) -> None:
    made, whole = run(request.getfixturevalue(name), way)
    for kind in whole.kinds:
        rows = whole.attn(kind)[:, :, : made.attn[kind].shape[2]]
        torch.testing.assert_close(made.attn[kind], rows, rtol=0, atol=2e-6)
    for stack, hidden in made.hidden.items():
        for layer, output in enumerate(hidden, start=-1):
            expected = whole.layer_output(stack, layer)
            allowed = 1e-5 + 1e-5 * float(expected.abs().max())
            torch.testing.assert_close(output, expected, rtol=0, atol=allowed)
    assert whole.logits is not None
    allowed = 1e-5 + 1e-5 * float(whole.logits.abs().max())
    torch.testing.assert_close(made.logits, whole.logits[0], rtol=0, atol=allowed)
    assert judged_run(request.getfixturevalue(name), way).holds


@pytest.mark.parametrize("cached", [True, False])
def test_a_padded_batch_of_two_lengths_steps_as_it_passes(tiny: Translator, cached: bool) -> None:
    """Source and target of the second row are shorter; it leaves the batch when it ends, the first row goes on."""
    src = torch.tensor([[9, 8, 7, 6, 5, 2], [9, 8, 7, 2, 0, 0]])
    tgt = torch.tensor([[3, 11, 12, 13, 14, 15, 2], [3, 21, 22, 2, 0, 0, 0]])
    with torch.inference_mode():
        whole = whole_pass(tiny, src, tgt)
        parts = run_batch(tiny, src, tgt, cached=cached)
    assert [len(rows) for rows in parts.values()] == [6, 3]
    for item, rows in parts.items():
        found = judge(stack_rows(rows, whole, item), lambda probe: whole_pass(tiny, src, tgt, probe), item=item)
        assert found.holds, found.first_break
        assert max(float(line.delta.max()) for line in found.lines if line.quantity == "logits") < 1e-5


@torch.inference_mode()
def whole_pass(model: Translator, src: torch.Tensor, tgt: torch.Tensor, probe: Probe | None = None) -> Trace:
    recorder, mask = Recorder(), model.model.src_mask(src)
    run = ForwardContext(recorder if probe is None else Chain((probe, recorder)))
    memory = model.model.encode(src, mask, run)
    logits = model.model.logits(model.model.decode(tgt[:, :-1], memory, mask, run))
    sentences = [sentence(read, written) for read, written in zip(src, tgt, strict=True)]
    return Trace.from_recorder(recorder, sentences, memory=memory, logits=logits, info=RunInfo())


def sentence(src: torch.Tensor, tgt: torch.Tensor, first_row: int = 0) -> Sentence:
    """Tokens of the ids that are no padding."""
    read, written = (tuple(Token(str(id_), id_, 0, 0) for id_ in ids.tolist() if id_) for ids in (src, tgt))
    return Sentence(read, written, first_row=first_row)


def run_batch(model: Translator, src: torch.Tensor, tgt: torch.Tensor, *, cached: bool) -> dict[int, list]:
    mask = model.model.src_mask(src)
    stepper = Stepper(model.model, model.model.encode(src, mask), mask, capacity=7, cached=cached)
    watched, rows = RecordedSteps(stepper), {0: [], 1: []}
    steps = decode_steps(watched, tgt[:, 0], model.vocabulary, max_tokens=6, teacher=tgt[:, 1:])
    for index, step in enumerate(steps):
        first = index if cached else 0
        sentences = [sentence(src[row], tgt[row, : index + 2], first) for row in step.rows]
        assert watched.logits is not None
        trace = Trace.from_recorder(watched.recorder, sentences, logits=watched.logits.unsqueeze(1))
        for item, row in enumerate(step.rows):
            rows[row].append(newest_row(trace, item))
    return rows


@pytest.mark.parametrize(("cached", "rows"), [(True, 1), (False, 3)])
def test_a_step_is_a_small_trace_whose_labels_fit_its_rows(tiny: Translator, cached: bool, rows: int) -> None:
    made = list(tiny.stepwise(TEXT, to="fr", cached=cached, max_tokens=3))
    step = made[2]
    assert step.trace.kinds == ("encoder_self", "decoder_self", "cross")
    assert step.attn("decoder_self").shape[-2:] == (rows, 3)
    assert len(step.trace.query_tokens("cross")) == rows
    outputs = step.trace.output_tokens("cross")
    assert outputs is not None
    assert outputs[-1] == step.token
    assert [token.id for token in step.prefix] == [token.id for token in step.trace.key_tokens("decoder_self")]


def test_a_cached_step_keeps_little(tiny: Translator) -> None:
    """Keys and values of all steps lie in one storage: a step's own share is its row."""
    cached, recomputed = (
        sum({t.untyped_storage().data_ptr(): t.untyped_storage().nbytes() for t in tensors(tiny, way)}.values())
        for way in (True, False)
    )
    assert cached < recomputed / 4


def tensors(model: Translator, cached: bool) -> list[torch.Tensor]:
    made = list(model.stepwise(TEXT, to="fr", cached=cached, max_tokens=20))
    sites = [call for step in made for site, call in step.trace.calls.items() if site.kind != "encoder_self"]
    return [tensor for call in sites for tensor in (call.query, call.key, call.value)]


@pytest.mark.parametrize("text", ["", "  "])
def test_an_empty_sentence_is_refused(tiny: Translator, text: str) -> None:
    with pytest.raises(TextError, match="The sentence is empty"):
        next(iter(tiny.stepwise(text, to="fr")))
