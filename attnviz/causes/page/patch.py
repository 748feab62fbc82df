"""The tab Patch: put activations of one run into the run of a second sentence."""

import json
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

import streamlit as st

from attnviz.app import captions, layout, mount
from attnviz.app.address import persistent
from attnviz.app.address.widgets import segments, text_field
from attnviz.app.cache import threads, traces
from attnviz.app.cache.pictures import get_or_make
from attnviz.app.markdown import literal
from attnviz.app.progress import run_cancellable, work_without_bar
from attnviz.app.request import Request
from attnviz.causes.numbers.one_token import name_of
from attnviz.causes.page.one_token import token_list
from attnviz.causes.page.state import keep_shown, new_choices
from attnviz.causes.patching.patching import PatchQuestion, PatchState, known_cells, patch_question, patching, site_name
from attnviz.hosts.registry import PICTURES
from attnviz.kit.glossary import definition
from attnviz.places import ASSETS
from attnviz.text.limits import MAX_CHARACTERS

if TYPE_CHECKING:
    from attnviz.analysis.cancellable import Cancellable
    from attnviz.causes.numbers.pair import Pair
    from attnviz.causes.numbers.patching import Matrices
    from attnviz.kit.wire import Payload
    from attnviz.models.protocol import Model
    from attnviz.tracing.trace import Trace


PAIRS = ASSETS / "pairs_to_patch.json"
WAYS = {"in": "From clean into changed", "out": "From changed into clean"}
_EXAMPLE = "patch-example"
_EMPTY = "the sentence above with one word changed"
_FRESH = dict.fromkeys(("step", "a", "b", "c", "d", "put", "way"))
COMPONENT = "patching"
_PAIR = "patching-pair"
_TELLS = (
    "Type a second sentence that differs from the one above in one word, or choose a pair from the list. Activations "
    "of one run are then copied into the other, and the picture shows which of them bring the answer back."
)


def draw(request: Request, loaded: "Model", trace: "Trace") -> PatchState:
    """Draw the tab Patch; return its state, which a copied link stores."""
    view = layout.state_in_address(PatchState)
    _changed_bar(view.changed)
    if not view.changed.strip():
        st.info(_TELLS, icon=":material/swap_horiz:")
        _pairs_as_buttons()
        return view
    view = _drop_stale_choices(request, view)
    pair = layout.run_or_refuse(lambda: _pair(request, loaded, view))
    asked = patch_question(loaded, pair, view)
    _say_problems(view, asked)
    with st.container(horizontal=True, vertical_alignment="bottom", key="patch-tokens"):
        _direction(view.way)
        _lists(loaded, pair, asked)
    found = _matrices(loaded, pair, asked)
    if found is None:
        return view
    view = replace(view, put=_keep_known(found, view.put))
    payload = layout.run_or_refuse(lambda: _payload(loaded, pair, view, found))
    keep_shown(COMPONENT, PatchState, payload)
    mount.picture(PICTURES[COMPONENT], captions.add_caption(payload, site=site_name(loaded, asked)), on_change=adopt)
    return view


def _drop_stale_choices(request: Request, view: PatchState) -> PatchState:
    """Clear the chosen cells and steps after the sentences changed, because they referred to other words."""
    now = (request.entry.name, request.src, request.messages, request.to, view.changed)
    before, st.session_state[_PAIR] = st.session_state.get(_PAIR, now), now
    chosen = ("step", "a", "b", "c", "d", "put")
    if before == now or any(name in persistent.texts().linked for name in chosen):
        return view
    persistent.write(dict.fromkeys(chosen))
    return PatchState(changed=view.changed, way=view.way)


def _pair(request: Request, loaded: "Model", view: PatchState) -> "Pair":
    """Run the model on both sentences and pair the runs. Raise ValueError with a message of one sentence."""
    from attnviz.causes.numbers.pair import pair_of

    plain = replace(request, new=0)  # the answer to a prompt is its next token; continuations are not compared
    clean, other = traces.trace(plain), traces.trace(replace(plain.with_text(view.changed), tgt=""))
    with threads.enough_for(request.n_characters):
        return get_or_make("pair", (clean, other), lambda: pair_of(loaded, clean, other))


def _say_problems(view: PatchState, asked: PatchQuestion) -> None:
    """Show a warning above the picture for each invalid value in the view."""
    layout.warn(*asked.problems)
    if view.step not in (None, asked.step) and "step" in persistent.texts().linked:
        layout.note(
            f"Step {view.step} does not exist in both runs. The page shows the step at which the runs "
            "differ most instead."
        )


def _matrices(loaded: "Model", pair: "Pair", asked: PatchQuestion) -> "Matrices | None":
    """Compute the patching matrices of the chosen step; None if the visitor stopped the computation."""
    from attnviz.causes.numbers.patching import matrices

    into, leads = asked.pair, (asked.metric, asked.control)

    def run(work: "Cancellable") -> "Matrices":
        def make() -> "Matrices":
            return matrices(loaded, into, *leads, tell=work.tell)

        with threads.enough_for(len(into.clean.src_text)):
            return layout.run_or_refuse(lambda: get_or_make("matrices", (into.clean, into.changed, *leads), make))

    what = (into.clean.sentences, into.changed.sentences, *leads)
    return run_cancellable("patching", what, "Patching each place in turn", run)


def _payload(loaded: "Model", pair: "Pair", view: PatchState, found: "Matrices") -> "Payload":
    with threads.enough_for(len(pair.clean.src_text)):
        return patching(loaded, pair, view, found=found, cached=get_or_make, work=work_without_bar())


def _keep_known(found: "Matrices", put: tuple[str, ...]) -> tuple[str, ...]:
    """Return the chosen cells that exist in these two runs; show a note that names the first one that does not."""
    known = known_cells(found, put)
    if gone := [cell for cell in put if cell not in known]:
        layout.note(
            f"The patch {gone[0]} is left out, because this cell does not exist for this pair, or has no "
            "partner in the other sentence."
        )
    return known


def _lists(loaded: "Model", pair: "Pair", asked: PatchQuestion) -> None:
    """Draw four selection boxes: for the two tokens of the metric, and for the two tokens of the control."""
    likely, metric, control = pair.likeliest_ids(asked.step), asked.metric, asked.control
    ids = dict.fromkeys([*(id_ for id_, _, _ in likely), metric.a, metric.b, control.a, control.b])
    names = {f"#{id_}": name_of(loaded, id_) for id_ in ids}
    names |= {f"#{id_}": f"{names[f'#{id_}']} · {here:.2f} | {there:.2f}" for id_, here, there in likely}
    options = [f"#{id_}" for id_, _, _ in likely]
    chosen = {"a": ("Token a", metric.a), "b": ("Token b", metric.b), "c": ("Control a", control.a),
              "d": ("Control b", control.b)}  # fmt: skip
    for name, (label, id_) in chosen.items():
        typed = persistent.text(name)
        token_list(name, label, options, typed if typed and not typed.startswith("#") else f"#{id_}", names)


def adopt() -> None:
    """Write what was chosen in the component into the address. If the step changed, clear the chosen tokens."""
    news = new_choices(COMPONENT, PatchState)
    persistent.write(news | (dict.fromkeys(("a", "b", "c", "d")) if "step" in news else {}))


@cache
def _pairs() -> dict[str, dict[str, str]]:
    """Return example pairs for the shipped model: address parameters by title."""
    return json.loads(PAIRS.read_text(encoding="utf-8"))


def _changed_bar(changed: str) -> None:
    """Draw the field of the second sentence and the menu of example pairs."""
    with st.container(horizontal=True, vertical_alignment="bottom", key="patch-bar"):
        with st.container(key="patch-changed"):
            said = definition("Changed sentence")
            text_field("changed", "Changed sentence", changed, limit=MAX_CHARACTERS, help_text=said, empty=_EMPTY)
        st.menu_button("Pairs", list(_pairs()), key=_EXAMPLE, on_click=_use)
        persistent.catch_up(_EXAMPLE, _use)


def _pairs_as_buttons() -> None:
    """Draw the example pairs as buttons, for a tab without a second sentence."""
    with st.container(horizontal=True, key="patch-ready"):
        for at, (title, pair) in enumerate(_pairs().items()):
            said = f"{pair['src']} | {pair['changed']}"
            st.button(title, key=f"patch-ready-{at}", help=literal(said), on_click=_use_pair, args=(title,))


def _direction(way: str) -> None:
    """Draw the choice of the direction in which activations are patched."""
    segments("way", "Direction", WAYS, way, means=definition("Direction"))


def _use() -> None:
    _use_pair(st.session_state[_EXAMPLE])


def _use_pair(title: str) -> None:
    persistent.write({**_FRESH, "tgt": None, "do": None, **_pairs().get(title, {})})
