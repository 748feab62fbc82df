"""Claims of the lessons on masks, outside their answers, are true of the shipped model, of toys, and of torch."""

import re
from pathlib import Path

import numpy as np
import torch

from attnviz.analysis.fills import FillChoice, Weighing, fill_scores, one_head
from attnviz.analysis.mask_spec import MaskSpec
from attnviz.kit.glossary import definition
from attnviz.lessons.mask_measures import MEASURES
from attnviz.toys import shipped
from attnviz.toys.experiment import experiment_named
from attnviz.toys.storage import toy_recording
from attnviz.tracing.interventions import MaskOverride
from attnviz.transformer import masks
from attnviz.transformer.probe import Site
from tests.lessons.told import lesson_of, step, tells

ROW = 4  # of lesson 5, counted from 0


def call(trace, layer: int = 1, head: int = 0):
    return one_head(trace.call("decoder_self", layer), head)


def fill(trace, name: str, dtype: str = "float32", *, row: int = ROW, blind: bool = False) -> torch.Tensor:
    """Make a row of a head's weights under a causal mask; `blind`, where it sees no key."""
    one = call(trace)
    mask = masks.causal(one.query.shape[2])[0].clone()
    if blind:
        mask[row] = False
    found = fill_scores(one, mask, FillChoice(name, dtype))
    assert found.attn is not None
    return found.attn[0, 0, row]


def test_the_fourth_row_and_the_first() -> None:
    """Lesson 4, steps 1 and 2."""
    trace = step("4", 1).trace
    words = [token.text for token in trace.query_tokens("decoder_self")]
    assert words[1:4] == ["Un", "gros", "chien"]
    assert tells("4", "Four: `<bos:fr>`, *Un*, *gros* and *chien*.")
    one = call(trace)
    first = trace.attn("decoder_self", layer=1, head=0)[:1] @ one.value[0, 0]
    torch.testing.assert_close(first[0], one.value[0, 0, 0])
    assert tells("4", "what this head brings to the first row is the first value")


def test_without_the_mask_every_row_weighs_the_changed_word() -> None:
    """Lesson 4, steps 3 and 4."""
    trace = step("4", 3).trace
    assert [token.text for token in trace.query_tokens("decoder_self")][4] == "rouge"
    hidden = trace.attn("decoder_self", layer=0, head=0)[:4, 4]
    assert (hidden == 0).all()
    assert tells("4", "The weights of hidden tokens are not small, they are 0")
    full = MaskOverride([Site("decoder_self", layer) for layer in range(3)], lambda q, k: masks.full(q, k))
    seen = step("4", 3).model.rerun(trace, full)
    heads = torch.stack([seen.attn("decoder_self", layer=0, head=head)[:, 4] for head in range(8)])
    assert (heads.sum(dim=0) > 1e-4).all()
    assert tells("4", "every row has some weight on the changed word, even in the first layer")


def test_the_toys_words_scores_and_losses() -> None:
    """Lesson 4, step 5."""
    without, plain = (toy_recording(shipped.path(experiment_named(name))) for name in
                      ("french-without-causal-mask", "french"))  # fmt: skip
    specials = [piece for piece in plain.words.pieces if piece.startswith("<")]
    assert tells("4", "without the causal mask: {} words,", len(plain.words.pieces) - len(specials))
    assert without.scores["teacher_prefix"] == 1
    assert tells("4", "it predicts every next word correctly ({} %)", 100 * without.scores["teacher_prefix"])
    assert without.scores["own_prefix"] == without.scores["grammatical"] == 0
    assert without.scores["loss"] < 0.01, "as the page Decoding says of a model that was trained without the mask"
    early = slice(60, 200)
    assert (without.losses[early].astype(np.float32).mean() + 0.2) < plain.losses[early].astype(np.float32).mean()
    assert tells("4", "at first its loss falls *faster* than that of the run with the mask")


def test_the_last_target_of_the_lesson_on_leaks() -> None:
    """Lesson 4, step 6."""
    shown, question = step("4", 6), lesson_of("4").questions[5]
    words = [token.text for token in shown.trace.query_tokens("decoder_self")]
    assert words[1:] == ["Je", "t", "'", "aime", "."]
    assert words.index("aime") == 4
    assert tells("4", "six tokens go in. *aime*, at position 4")
    assert MEASURES["leak"][2](shown, question) == 0
    assert tells("4", "with it, nothing before the changed word changes")


def test_a_row_of_nan_reaches_every_position_in_the_next_layer() -> None:
    """Lesson 5, step 1."""
    shown = step("5", 1)

    def blind(q_len: int, k_len: int) -> torch.Tensor:
        mask = masks.causal(q_len).clone()
        mask[:, ROW] = False
        return mask

    probe = MaskOverride([Site("decoder_self", 1)], blind, head=0, weigh=Weighing(FillChoice("-inf", "float32")))
    again = shown.model.rerun(shown.trace, probe)
    assert again.attn("decoder_self", layer=1, head=0)[ROW].isnan().all()
    assert again.layer_output("decoder", 1).isnan().any(dim=-1).nonzero().flatten().tolist() == [ROW]
    assert again.layer_output("decoder", 2).isnan().any(dim=-1).all()
    assert not again.attn("decoder_self", layer=2, head=0)[:ROW].isnan().any()
    assert tells("5", "NaN at every position, even at those that may not see row 4, because 0 × NaN is NaN")


def test_the_three_answers_of_a_row_without_keys() -> None:
    """Lesson 5, steps 1 to 3."""
    trace = step("5", 1).trace
    assert fill(trace, "-inf", blind=True).isnan().all()
    even = fill(trace, "-1e9", blind=True)
    torch.testing.assert_close(even, torch.full_like(even, 1 / 15))
    assert not fill(trace, "fused", blind=True).any()
    pinned = re.search(r"^torch==(\d+\.\d+)", Path("requirements.txt").read_text(encoding="utf-8"), re.MULTILINE)
    assert pinned is not None
    assert tells("5", f"Zeros, in PyTorch {pinned[1]} on a CPU.")
    assert torch.tensor(-1e9) + 3.2 == torch.tensor(-1e9)
    assert tells("5", "A score of 3.2 added to −1e9 in float32 is −1e9")


def test_minus_a_milliard_in_half_precision() -> None:
    """Lesson 5, steps 4 and 7."""
    assert torch.finfo(torch.float16).min == -65504
    assert tells("5", "whose most negative number is −65,504")
    scores, hidden = torch.zeros(3, dtype=torch.float16), torch.tensor([False, True, True])
    by_index = scores.clone()
    by_index[hidden] = -1e9
    assert by_index[hidden].isinf().all()
    trace = step("5", 7).trace
    assert fill(trace, "-1e9 by where", "float16", row=3, blind=True).isnan().all()
    even = fill(trace, "-1e9 by where", row=3, blind=True)
    torch.testing.assert_close(even, torch.full_like(even, 1 / len(even)))
    assert tells("5", "In float32 the same line gives an even share")


def test_zeros_before_softmax_and_after_it() -> None:
    """Lesson 5, steps 5 and 6."""
    trace = step("5", 5).trace
    scores = trace.scores("decoder_self", layer=1, head=0)[ROW]
    visible = scores[: ROW + 1]
    assert len(scores) - len(visible) == 10
    assert int((visible < -0.1).sum()) == 3
    assert tells("5", "Three of the five scores that row 4 may see are negative")
    before = fill(trace, "zero before")
    assert tells("5", "{} %. Zero is an ordinary score.", 100 * float(before[ROW + 1 :].sum()))
    assert abs(float(before.sum()) - 1) < 1e-5
    after = fill(trace, "zero after")
    assert tells("5", "{}: more than four fifths of this row's weight lay on the future.", after.sum())
    assert float(after.sum()) < 0.2 - 0.01
    torch.testing.assert_close(after / after.sum(), fill(trace, "-inf"))


def test_what_the_masks_page_says_of_fills_and_wait_k() -> None:
    """The glossary's sentences, on lesson 5's picture."""
    trace = step("5", 5).trace
    renormalised = fill(trace, "zero after, renormalised")
    torch.testing.assert_close(renormalised, fill(trace, "-inf"))
    assert not renormalised[ROW + 1 :].any()
    assert fill(trace, "zero after, renormalised", blind=True).isnan().all()
    assert "the result is the same as with −∞. A row without keys becomes NaN" in definition("0 after, renormalised")
    assert "A 0 after the softmax gives the same weights if each row is then divided by its sum" in definition("Fill")
    for name in ("finfo.min", "-1e9"):
        even = fill(trace, name, blind=True)
        torch.testing.assert_close(even, torch.full_like(even, 1 / len(even)))
    assert torch.equal(MaskSpec({"wait-k": (1,)}).build(7, 7), MaskSpec({"causal": ()}).build(7, 7))
    assert "With k = 1 this is the causal mask" in definition("wait-k")
