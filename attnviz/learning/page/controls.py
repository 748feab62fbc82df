"""The controls of the page Learning: the experiment on the left, and the bar of ready experiments."""

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from attnviz.app import layout
from attnviz.app.address import persistent, widgets
from attnviz.app.markdown import literal
from attnviz.app.reports import reported_view
from attnviz.app.styles import style
from attnviz.kit.glossary import definition
from attnviz.learning.learning_state import (
    ALONE,
    MOST_LINE,
    MOST_PARTS,
    MOST_SEED,
    PLAIN,
    SECOND,
    TRANSLATOR,
    LearningState,
    Parts,
    RecordingState,
    view_of,
)
from attnviz.learning.page import upload
from attnviz.toys.switches import NOTHING, switch, switches_for
from attnviz.toys.tasks.catalogue import TASKS

COMPONENT = "learning"
_SHOWN = "learning-view-shown"
_LACKS = "learning-lacks-recording"  # True if the recording in the address is unavailable
_SMALL = "A Transformer small enough to be trained while you watch."
_RECORDED = "A recorded training run, step by step."
HOW_IT_LEARNED = "How the translator learned"  # listed if this server has the recording
# Pairs of recorded runs whose difference is instructive.
LESSONS: dict[str, dict[str, str]] = {
    "With and without the causal mask": {"task": "french", "second": "without-causal-mask"},
    "The causal mask is missing in one of two heads": {"task": "french", "second": "leak-one-head"},
    "Labels that are not shifted": {"task": "french", "second": "without-shifted-labels"},
    "With and without positions": {"task": "french", "second": "without-positions"},
    "A decoder without cross-attention": {"task": "french", "second": "without-cross-attention"},
    "300 and 30 training pairs": {"task": "french", "first": "pairs-300", "second": "pairs-30"},
    "Reversing needs positions": {"task": "reverse", "second": "without-positions"},
    "Sorting needs no positions": {"task": "sort", "second": "without-positions"},
    "Padding without a mask": {"task": "reverse", "second": "without-padding-mask"},
    "Scores without 1/√d_k": {
        "task": "reverse", "first": "heads-1~d-model-64", "second": "heads-1~d-model-64~without-scale", "seed": "2",
    },
    "Induction: two layers and one layer": {"task": "twice", "second": "layers-1"},
    "Induction: two heads and one head in each layer": {"task": "twice", "second": "heads-1"},
    "Induction: a loss that is too low": {"task": "twice", "second": "without-causal-mask"},
    "Adding two numbers": {"task": "add", "second": ALONE},
    "Digits: images with and without positions": {"task": "digits", "second": "without-positions"},
}  # fmt: skip
# Parameters that are cleared when another experiment is chosen.
_OF_A_RECORDING = {"recording": None, "sentence": None}
_OF_A_RUN = {"guess": None, "moment": None, "train": None, **_OF_A_RECORDING}


def current_state() -> LearningState:
    """Return the state of the experiment in the address. Invalid values are reported above the picture."""
    texts = persistent.texts()
    if texts["recording"]:  # the recording is unavailable, so its step and head do not apply
        texts |= {"moment": "", "site": ""}
    view, problems = view_of(texts)
    layout.note(*persistent.linked_problems(problems))
    return view


def bar() -> None:
    """Draw the bar with the training button and the recorded experiments, and the page's style sheet.

    If a lesson covers the page, only the bar is drawn.
    """
    st.html(style("learning.css"))
    with st.container(horizontal=True, vertical_alignment="bottom", key="learning-bar"):
        said = _RECORDED if persistent.text("recording") else _SMALL
        st.html(f"<p class='learning-about'>{said} Your model and sentence on the other pages are kept.</p>")
        upload.picker()
        st.menu_button("Experiments", list(_lessons()), key="lesson", on_click=_use_lesson)
        persistent.catch_up("lesson", _use_lesson)
        if persistent.text("recording"):
            st.button("Back to the experiments", key="experiments", on_click=_leave_recording)
            return
        if persistent.text("train") == "1":
            st.button("Back to the recordings", key="recordings", on_click=_forget_view)
        st.button("Train it yourself", key="train", type="primary", on_click=_train)


def experiment(view: LearningState) -> None:
    """Draw the controls for the task, the switches of both runs, and the seed."""
    titles = {name: task.title for name, task in TASKS.items()}

    def tasks(**more) -> Any:
        return st.selectbox("Task", list(titles), format_func=titles.__getitem__, help=_help("Task"), **more)

    widgets.show("task-shown", view.task, {"index": list(titles).index(view.task)}, tasks, _take_task)
    _switches("first", "First run", view.task, view.first)

    def second_run(**more) -> bool:
        return st.toggle("A second run beside it", help=_help("A second run beside it"), **more)

    has_second = view.second is not None
    widgets.show("second-shown", has_second, {"value": has_second}, second_run, _take_second)
    if view.second is not None:
        _switches("other", "Second run", view.task, view.second)

    def seed(**more) -> int:
        return st.number_input("Seed of the run", 0, MOST_SEED - 1, help=_help("Seed of the run"), **more)

    widgets.show("seed-shown", view.seed, {"value": view.seed}, seed, lambda: _forget_view(seed=_text_of("seed-shown")))


def own_line(view: LearningState) -> None:
    """Draw the field for a line on which the toys run. A toy that reads images is tried on Heads."""
    if TASKS[view.task].is_image:
        return
    sample = TASKS[view.task].sample

    def draw(**more) -> Any:
        return st.text_input(
            "A line of your own", max_chars=MOST_LINE, placeholder=sample, help=_help("A line of your own"), **more
        )

    widgets.show(
        "line-shown", view.line, {"value": view.line}, draw, lambda: persistent.write({"line": _text_of("line-shown")})
    )


def remember(told: dict[str, Any]) -> dict[str, Any]:
    """Remember the view that is sent to the component, so that later choices can be recognised; return it."""
    st.session_state[_SHOWN] = told
    st.session_state[_LACKS] = not _is_of_recording(told) and bool(persistent.text("recording"))
    return told


def adopt() -> None:
    """Write what was newly chosen in the component into the address.

    A choice about runs that are no longer shown is ignored.
    """
    before = st.session_state.get(_SHOWN, {})
    chosen = reported_view(COMPONENT, RecordingState if _is_of_recording(before) else LearningState) or {}
    if chosen.get("of") != before.get("of"):
        return
    if chosen and st.session_state.get(_LACKS):  # a choice drops the unavailable recording from the address
        persistent.write({name: str(chosen.get(name, "")) or None for name in ("moment", "site")} | _OF_A_RECORDING)
    persistent.write({name: str(value) for name, value in chosen.items() if value != before.get(name)})
    st.session_state[_SHOWN] = before | chosen


def _is_of_recording(told: Mapping[str, Any]) -> bool:
    return "sentence" in told


def _switches(name: str, label: str, task: str, chosen: Parts) -> None:
    key = f"{name}-switches"
    options = list(dict.fromkeys((*switches_for(task), *chosen)))

    def draw(**more) -> list[str]:
        return st.multiselect(
            label,
            options,
            format_func=_sentence,
            placeholder=NOTHING,
            max_selections=MOST_PARTS,
            select_all=False,
            help=_help(label),
            **more,
        )

    def take() -> None:
        text = "~".join(_shown_list(key)) or PLAIN
        _forget_view(**{"second" if name == "other" else name: text})

    widgets.show(key, list(chosen), {"default": list(chosen)}, draw, take)


def _sentence(part: str) -> str:
    found = switch(part)
    return f"{found.short}: {found.sentence[:1].lower()}{found.sentence[1:]}"


def _take_task() -> None:
    """Change the task, and clear the switches and the line, which belong to the previous task."""
    task = _text_of("task-shown")
    second = None if task not in SECOND else "~".join(SECOND[task] or (ALONE,))
    persistent.write(
        {"task": task, "first": None, "second": second, "line": None, "seed": None, "site": None, **_OF_A_RUN}
    )


def _take_second() -> None:
    other = SECOND.get(persistent.text("task")) or ("without-causal-mask",)
    _forget_view(second="~".join(other) if st.session_state["second-shown"] else ALONE)


def _use_lesson() -> None:
    asked = _lessons().get(st.session_state["lesson"], {})
    fresh = dict.fromkeys(("task", "first", "second", "seed", "line", "site"))
    upload.take_away()
    persistent.write({**fresh, **_OF_A_RUN, **asked})


def _lessons() -> dict[str, dict[str, str]]:
    return LESSONS | ({HOW_IT_LEARNED: {"recording": TRANSLATOR}} if upload.TRANSLATOR_FILE.is_file() else {})


def _leave_recording() -> None:
    upload.take_away()
    persistent.write({**_OF_A_RECORDING, "site": None, "moment": None})


def _train() -> None:
    st.session_state.pop("learning-runs", None)
    persistent.write({"train": "1", "guess": None, "moment": None})


def _forget_view(**texts: str | None) -> None:
    """Change the experiment in the address, and clear the recorded step and the guess, which belong to the previous
    one.
    """
    persistent.write({**_OF_A_RUN, **texts})


def _text_of(key: str) -> str:
    return (
        str(st.session_state[key] or "") if not isinstance(st.session_state[key], int) else str(st.session_state[key])
    )


def _shown_list(key: str) -> Sequence[str]:
    return [str(part) for part in st.session_state[key] or ()]


def _help(term: str) -> str:
    return literal(definition(term))
