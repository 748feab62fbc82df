"""A drafted translation is what the model writes by itself, however wrong the draft is."""

import os
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
import torch

from attnviz.models.translator.translator import Translator
from attnviz.tracing.causes.making import ablate
from attnviz.transformer.draft import DraftModel

pytestmark = pytest.mark.computes

SENTENCES = (
    "I love you.",
    "A big red dog jumped over a small pond.",
    "Colourless green ideas sleep furiously",
)


@dataclass
class _Misled:
    """A draft that writes given tokens, with a mistake in each of its next `mistakes`."""

    truth: list[int]
    mistakes: list[tuple[int, int]]  # a place, and the id that it writes there
    asked: int = 0

    def begin(self, _memory: torch.Tensor, *, capacity: int) -> "_Misled":
        assert capacity > 0
        return self

    def go_on(self, ids: list[int], _vocabulary: Any, *, limit: int) -> list[int]:
        self.asked += 1
        assert ids == self.truth[: len(ids)], "what was put right stays"
        written = list(self.truth[: limit + 1])
        if self.mistakes:
            place, wrong = self.mistakes.pop(0)
            written = [*written[:place], wrong, *written[place + 1 :]]
        return written


@pytest.fixture
def plain(shipped_translator: Translator) -> Translator:
    return Translator(shipped_translator.model, shipped_translator.codec, model_id=shipped_translator.model_id)


@pytest.fixture
def alone(plain: Translator) -> list[int]:
    """Write step by step; the ids begin with `<bos>`."""
    assert plain.draft is None
    return [token.id for token in plain.trace(SENTENCES[1], to="de").tokens("tgt")]


@pytest.mark.parametrize("to", ["fr", "de", "es", "zh"])
def test_the_shipped_translator_writes_the_same_with_its_draft(
    shipped_translator: Translator, plain: Translator, to: str
) -> None:
    if "fbgemm" not in torch.backends.quantized.supported_engines:
        pytest.skip("nothing sums bytes up fast on this machine")
    assert shipped_translator.draft is not None
    for text in SENTENCES:
        drafted, expected = shipped_translator.trace(text, to=to), plain.trace(text, to=to)
        assert drafted.sentences == expected.sentences
        assert drafted.logits is not None
        assert expected.logits is not None
        assert torch.equal(drafted.logits, expected.logits), "the pass that checked it is the pass that is shown"
        for kind in expected.kinds:
            assert torch.equal(drafted.attn(kind), expected.attn(kind))


@pytest.mark.parametrize("places", [(), (1,), (3,), (2, 5), (4, 6, 7, 8), (2, 3, 4, 5, 6)])
def test_every_mistake_of_a_draft_is_put_right(plain: Translator, alone: list[int], places: tuple[int, ...]) -> None:
    draft: Any = _Misled(alone, [(place, 11) for place in places])
    expected = plain.trace(SENTENCES[1], to="de")
    plain.draft = draft
    found = plain.trace(SENTENCES[1], to="de")
    assert [token.id for token in found.tokens("tgt")] == alone
    assert found.sentences == expected.sentences
    assert draft.asked == min(len(places) + 1, 4), "after four, the rest is written step by step"
    torch.testing.assert_close(found.logits, expected.logits, rtol=0, atol=0)
    assert found.info.decoding_seconds > 0 < found.info.forward_seconds


def test_a_draft_may_miss_the_end_or_come_to_it_too_soon(plain: Translator, alone: list[int]) -> None:
    eos = plain.codec.eos_id
    for mistake in ((len(alone) - 1, 11), (3, eos)):
        draft: Any = _Misled(alone, [mistake])
        plain.draft = draft
        found = plain.trace(SENTENCES[1], to="de")
        assert [token.id for token in found.tokens("tgt")] == alone


@pytest.mark.parametrize("most", [1, 2, 5])
def test_a_limit_cuts_it_where_it_cuts_the_model(shipped_translator: Translator, plain: Translator, most: int) -> None:
    drafted, expected = (model.trace(SENTENCES[1], to="es", max_tokens=most) for model in (shipped_translator, plain))
    assert drafted.sentences == expected.sentences
    assert drafted.sentences[0].cut
    assert drafted.info.notes == expected.info.notes
    assert drafted.logits is not None
    assert expected.logits is not None
    assert torch.equal(drafted.logits, expected.logits)


def test_what_is_done_to_a_run_is_done_at_each_step(shipped_translator: Translator, plain: Translator) -> None:
    """Interventions act at every step: a draft, which does not know them, is not used."""
    off = [ablate("cross", layer=1, heads=[2, 6])]
    drafted, expected = (model.trace(SENTENCES[0], to="fr", interventions=off) for model in (shipped_translator, plain))
    assert drafted.sentences == expected.sentences


def test_a_rounded_model_of_any_size_will_do(tiny: Translator) -> None:
    other = Translator(tiny.model, tiny.codec, model_id=tiny.model_id)
    other.draft = DraftModel(tiny.model)
    for text in SENTENCES[:1]:
        assert other.trace(text, to="fr").sentences == tiny.trace(text, to="fr").sentences


def _machine_code() -> float:
    """Bytes that this process has made code in: pages that can be written and run."""
    found, is_code = 0.0, False
    for line in Path("/proc/self/smaps").read_text(encoding="utf-8", errors="replace").splitlines():
        if "-" in (first := line.split(maxsplit=2))[0]:
            is_code = first[1].startswith("rwx")
        elif is_code and first[0] == "Rss:":
            found += 1024 * float(first[1])
    return found


@pytest.mark.skipif(sys.platform != "linux", reason="/proc is Linux's")
def test_threads_that_come_and_go_leave_no_machine_code(shipped_translator: Translator) -> None:
    """FBGEMM makes some for each thread that sums columns, and never frees it."""
    for _ in range(2):
        shipped_translator.trace(SENTENCES[0], to="fr")
    before = _machine_code()
    for _ in range(20):
        (thread := Thread(target=shipped_translator.trace, args=(SENTENCES[0],), kwargs={"to": "fr"})).start()
        thread.join()
    assert _machine_code() - before < 200e3, "20 threads of their own made a megabyte"


def test_many_draft_at_once(shipped_translator: Translator) -> None:
    expected = [shipped_translator.trace(text, to="zh").sentences for text in SENTENCES]
    with ThreadPoolExecutor(3 + (os.cpu_count() or 1)) as pool:
        found = list(pool.map(lambda text: shipped_translator.trace(text, to="zh").sentences, SENTENCES * 5))
    assert found == expected * 5
