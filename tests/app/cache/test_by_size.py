"""Runs are kept by the memory that they take, and not by their number."""

import gc
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from weakref import ref

import pytest
import streamlit as st

from attnviz.app import progress
from attnviz.app.cache import traces
from attnviz.app.frame.page import Page
from attnviz.app.request import Request
from attnviz.decoding.decoding import DecodingState
from attnviz.decoding.page import steps
from attnviz.masks.masks import MasksState
from attnviz.masks.numbers.effect import Refused
from attnviz.masks.page import experiment
from attnviz.models.catalogue import Entry
from attnviz.models.translator.tiny import tiny_translator
from attnviz.models.translator.translator import Translator

REQUEST = Request(Entry("tiny", Path(), "tiny", ("fr", "zh")), "I love you", "fr", "je t'aime")
NUMBERS = range(1, 5)


@pytest.fixture
def trace(monkeypatch):
    model = tiny_translator()
    monkeypatch.setattr(traces, "model", lambda name, progress=None: model)
    page = Page()
    page.above = st.container()
    monkeypatch.setattr(progress, "current_page", lambda: page)
    return model.trace(REQUEST.src, to=REQUEST.to, tgt_text=REQUEST.tgt)


def mask_effect(trace, reach: int):
    view = MasksState(kind="decoder_self", rules=(("window", (reach,)),))
    return experiment.mask_experiment(REQUEST, trace, view).effect()


def second_trace(trace, number: int):
    return experiment.mask_experiment(REQUEST, trace, MasksState(second="you " * number)).trace


def decoding_steps(trace, seed: int):
    return steps.run_decoding(traces.model(""), REQUEST, trace, DecodingState(choose="sampled", seed=seed)).made


def text_under_a_mask(trace, reach: int):
    view = MasksState(kind="decoder_self", rules=(("window", (reach,)),))
    return experiment.mask_experiment(REQUEST, trace, view).start_writing()


def surviving(make: Callable[[int], object], numbers: Iterable[int] = NUMBERS) -> list[int]:
    """Which of the things that were made one after the other are still there."""
    made = {number: ref(make(number)) for number in numbers}
    gc.collect()
    return [number for number, thing in made.items() if thing() is not None]


@pytest.mark.parametrize(
    ("shelf", "make"),
    [
        (experiment._again, lambda trace, number: mask_effect(trace, number).after),
        (experiment._batches, second_trace),
        (steps._runs, decoding_steps),
        (experiment._writings, text_under_a_mask),
    ],
    ids=["masked runs", "batches", "decodings", "written under masks"],
)
def test_as_many_runs_are_kept_as_there_is_room_for(trace, monkeypatch, shelf, make) -> None:
    monkeypatch.setattr(shelf, "_most", 2.5 * make(trace, 5).nbytes())
    assert surviving(lambda number: make(trace, number)) in ([3, 4], [4])
    assert make(trace, 4) is make(trace, 4)
    monkeypatch.setattr(shelf, "_most", 1e9)
    assert surviving(lambda number: make(trace, number)) == list(NUMBERS)


def test_a_masked_run_does_not_keep_the_run_before_it(trace) -> None:
    first = replace(trace)  # the fixture's own stays
    again = mask_effect(first, 17)
    assert again.before is first
    before, after = ref(first), again.after
    del first, again
    gc.collect()
    assert before() is None
    assert mask_effect(trace, 17).after is after


def test_a_finished_text_under_a_mask_does_not_keep_its_trace(trace) -> None:
    first = replace(trace)  # the fixture's own stays
    text, before = text_under_a_mask(first, 18), ref(first)
    del first
    gc.collect()
    assert before() is not None
    while not text.done:
        text.go_on(60.0)
    gc.collect()
    assert before() is None
    assert text.so_far().text


def test_what_torch_refuses_is_remembered_as_its_sentence(trace, monkeypatch) -> None:
    runs = []
    monkeypatch.setattr(
        Translator, "rerun", lambda *_: runs.append(1) or (_ for _ in ()).throw(RuntimeError("No.\nWhy"))
    )
    effects = [mask_effect(trace, 61) for _ in range(2)]
    assert effects == [Refused("No.")] * 2
    assert len(runs) == 1


def test_a_decoding_counts_maps_hidden_states_and_logits(trace) -> None:
    made = decoding_steps(trace, 1)
    parts = [*made.attn.values(), *made.hidden.values(), made.logits]
    assert made.nbytes() == sum(part.untyped_storage().nbytes() for part in parts)
    assert made.nbytes() >= sum(part.numel() * 4 for part in parts)
