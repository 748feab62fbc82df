"""The cabinet of bugs: one drawer open, its wrong code beside the right, its damage, and the test that catches it."""

import streamlit as st

from attnviz.analysis.bug_in_model import BugInModel, bug_in_model
from attnviz.analysis.outcome import outcome
from attnviz.implementations.bugs.cabinet import BUGS, Bug, right
from attnviz.implementations.bugs.case import Case, own_case
from attnviz.implementations.bugs.kept_map import kept_map, two_visitors
from attnviz.text.display import display
from attnviz.transformer.probe import Site
from attnviz.ui import choices
from attnviz.ui.anatomy_walk import damage
from attnviz.ui.implementations_link import SCOPES, ImplementationsView
from attnviz.ui.site_bench import SiteBench
from attnviz.views.code_tables import source_diff


def bugs(bench: SiteBench, view: ImplementationsView) -> None:
    """One bug in full."""
    bug = BUGS[view.bug]
    left, middle = st.columns([50, 50], gap="small")
    with left:
        choices.pick("bug", "Bug", list(BUGS), view.bug, lambda name: f"{BUGS[name].title} · {BUGS[name].declared}")
        st.html(f"<span class='badge'>{bug.declared}</span>")
        st.text(bug.what)
        st.html(source_diff(*bug.sources, ("wrong", "right")))
        st.caption("Why it goes unnoticed" if bug.declared == "silent" else "When it is noticed")
        st.text(bug.unnoticed)
        _caught(bug)
    with middle:
        _damage(bench, bug, view)


def _damage(bench: SiteBench, bug: Bug, view: ImplementationsView) -> None:
    if not bug.step:
        _visitors(bench)
        return
    case = bench.case if bug.own is None else bug.own()
    if bug.own is not None:
        st.caption(
            f"On sizes of its own, since the model's would hide it: {case.weights.n_heads} heads, d_model "
            f"{case.weights.d_model}, d_k {case.weights.d_k}, d_v {case.weights.d_v}."
        )
    head = view.head if bug.own is None else min(view.head, case.weights.n_heads - 1)
    rows = None if bug.own is None else [f"position {at}" for at in range(case.input_.shape[1])]
    damage(bench, outcome(bug.attention(case), case), head, rows=rows)
    if case.mask is None and bug.step == "weigh":
        st.caption("This site hides nothing: choose decoder self-attention to see what becomes of its mask.")
    if bug.declared == "silent":
        _translation(bench, view)


def _translation(bench: SiteBench, view: ImplementationsView) -> None:
    choices.segments("scope", "Put into the model at", SCOPES, view.scope)
    with st.spinner("Translating with the bug …"):
        found = _in_model(
            (bench.trace.model_id, *bench.request.to_params().values(), view.bug, *_where(view)), bench, view
        )
    if found.error:
        st.code(found.error, language=None, wrap_lines=True)
        return
    st.text(f"without: {display(found.before)}\nwith:    {display(found.after)}")
    same = "the translation is the same" if found.before == found.after else "the translation is another one"
    st.caption(f"max |Δ| of the logits {found.logits_change:.3g}; {same}.")


def _where(view: ImplementationsView) -> tuple[str, ...]:
    return view.scope, view.kind, str(view.layer)


@st.cache_resource(max_entries=64, show_spinner=False)
def _in_model(key: tuple[str, ...], _bench: SiteBench, _view: ImplementationsView) -> BugInModel:
    sites = [site for site in _bench.trace.calls if _within(site, _view)]
    return bug_in_model(_bench.model, _bench.trace, BUGS[_view.bug].steps, sites)


def _within(site: Site, view: ImplementationsView) -> bool:
    if view.scope == "model":
        return True
    return site.kind == view.kind and (view.scope == "kind" or site.layer == view.layer)


def _visitors(bench: SiteBench) -> None:
    case = bench.alone
    second = bench.case.input_[1:, : max(1, case.input_.shape[1] // 2)]
    visits = two_visitors(kept_map(case.weights), (case.input_[:1], second), rounds=20)
    st.markdown(
        f"Two threads ran one module {visits.maps} times in all, each with its own sentence, and read `self.attn` a "
        f"moment later: **{visits.wrong} of {visits.maps} maps were the other visitor's**."
    )
    if visits.example is not None:
        own, shown = visits.example
        st.caption(f"Expected a map of {_size(own)}, read one of {_size(shown)} (heads × queries × keys).")


def _size(attn) -> str:
    return " × ".join(str(size) for size in attn.shape[1:])


def _caught(bug: Bug) -> None:
    case = (bug.own or own_case)()
    st.caption("The one-line test that would have caught it, run just now on sizes of its own")
    st.code(bug.test, language="python", wrap_lines=True)
    st.text(f"right attention: {_says(bug, case, fine=True)} · this bug: {_says(bug, case, fine=False)}")


def _says(bug: Bug, case: Case, *, fine: bool) -> str:
    try:
        passed = bug.catch(right(case) if fine else bug.attention(case), case)
    except (RuntimeError, TypeError, ValueError) as error:
        return f"raises {type(error).__name__}"
    return "passes" if passed else "fails"
