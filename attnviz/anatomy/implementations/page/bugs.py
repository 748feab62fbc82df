"""The cabinet of bugs: what each bug is, what it does to a site and to the translation, and the test that
catches it.
"""

from dataclasses import replace
from functools import partial

import streamlit as st

from attnviz.analysis.outcome import Raised, SiteResult, outcome
from attnviz.anatomy.implementations.numbers.bug_in_model import BugEffect, bug_in_model
from attnviz.anatomy.implementations.page.state import SCOPES, ImplementationsState
from attnviz.anatomy.page.experiment import SiteExperiment
from attnviz.anatomy.page.outcome import numbers, wrong_vs_right
from attnviz.app import charts
from attnviz.app.address import widgets
from attnviz.app.cache.pictures import get_or_make, name_of
from attnviz.app.line_list import Lines, line_list
from attnviz.app.progress import work_without_bar
from attnviz.implementations.bugs.bug import Bug, right_attention
from attnviz.implementations.bugs.cabinet import BUGS
from attnviz.implementations.bugs.wrong_steps import Visits, kept_map, two_visitors
from attnviz.implementations.site_inputs import SiteInputs, odd_sized_inputs
from attnviz.kit.views.code_tables import code_change
from attnviz.kit.views.panels import Panel, panels_figure, panels_table
from attnviz.text.display import display
from attnviz.transformer.probe import Site

ROUNDS = 20  # number of simultaneous visits


def bugs(bench: SiteExperiment, view: ImplementationsState) -> None:
    """Draw the list of all bugs, and the details of one."""
    bug = BUGS[view.bug]
    drawers, opened = st.columns([28, 72], gap="small")
    with drawers:
        rows = [(bug.title, bug.declared) for bug in BUGS.values()]
        line_list("bug", Lines("Bugs", ("bug", ""), rows, code=False), values=list(BUGS), value=view.bug)
    with opened, st.container(gap="xsmall", key="one-bug"):
        st.text(bug.what)
        _wrong_vs_right(bench, bug, view)
        left, right = st.columns(2, gap="small")
        with left, st.container(gap="xsmall"):
            st.html(code_change(*bug.sources))
        with right, st.container(gap="xsmall"):
            st.caption("Why it goes unnoticed" if bug.declared == "silent" else "When it is noticed")
            st.text(bug.unnoticed)
            _draw_test(bug)
        if bug.declared == "silent" and bug.step and not bug.lacks(bench.inputs.weights):
            with left:
                if bug.needs_cache:
                    st.caption(
                        "On this page, a model with a bug decodes without a cache. Without a cache, this "
                        "bug changes nothing."
                    )
                else:
                    _translation(bench, view)


def _wrong_vs_right(bench: SiteExperiment, bug: Bug, view: ImplementationsState) -> None:
    if not bug.step:
        _visitors(bench, view.head)
        return
    lacks = bug.lacks(bench.inputs.weights)
    make = bug.own_inputs or (odd_sized_inputs if lacks else None)
    inputs = bench.inputs if make is None else make()
    head = min(view.head, inputs.weights.n_heads - 1)
    inputs = bug.prepare(inputs, head)
    if make is not None:
        why = (
            f"{lacks} The bug is shown at other sizes"
            if lacks
            else ("Shown at other sizes, because the model's own sizes would hide the bug")
        )
        st.caption(
            f"{why}: {inputs.weights.n_heads} heads, d_model {inputs.weights.d_model}, d_k {inputs.weights.d_k}, d_v "
            f"{inputs.weights.d_v}."
        )
    found = outcome(bug.attention(inputs), inputs)
    if bug.ablates and isinstance(found, SiteResult):
        _draw_removed_head(bench, inputs, found)
        return
    wrong_vs_right(bench, found, head, own_sizes=make is not None)
    if inputs.mask is None and bug.step == "weigh":
        st.caption("This site has no mask. Choose decoder self-attention to see what the bug does to one.")


def _draw_removed_head(bench: SiteExperiment, inputs: SiteInputs, found: SiteResult) -> None:
    """Draw how the output changes if a head is switched off, correctly and with the bug.

    The head's attention map would not show the bug, because it is the same in both.
    """
    numbers(found)
    whole = right_attention(replace(inputs, off=None))(*inputs.call)[0][0]
    panels = [
        Panel("head removed correctly", (whole - found.right_output[0]).numpy(), "signed"),
        Panel("as written", (whole - found.output[0]).numpy(), "signed"),
        Panel("difference", (found.right_output[0] - found.output[0]).numpy(), "signed"),
    ]
    rows, cols = bench.labels()[0], [str(at) for at in range(whole.shape[-1])]
    title = f"{bench.name}, H{inputs.off} off: how each row of the output changes"
    made = panels_figure(panels, rows, cols, title=title, theme=charts.theme())
    made.update_xaxes(title={"text": "output dimension →", "standoff": 4})
    charts.show(made, key="damage", table=partial(panels_table, panels, rows, cols))


def _translation(bench: SiteExperiment, view: ImplementationsState) -> None:
    widgets.segments("scope", "Put the bug into the model at", SCOPES, view.scope)
    writes = bench.model.writes
    with st.spinner("Running with the bug …"):
        choice = (view.bug, _off_phrase(view), view.scope, view.kind, view.layer)
        found = get_or_make("bug in the model", (bench.trace, *choice), lambda: _effect_in_model(choice, bench, view))
    if isinstance(found, Raised):
        st.code(found.error, language=None, wrap_lines=True)
        return
    of = "of the logits" if bench.trace.logits is not None else "of the last layer's output"
    if not writes:
        st.caption(f"max |Δ| {of} {found.logits_change:.3g}. This model writes no text to compare.")
        return
    is_off = _off_phrase(view) is not None
    names = ("Head correctly off", "Head off with the bug") if is_off else ("Without the bug", "With the bug")
    st.text(
        "\n".join(f"{name}: {display(text)}" for name, text in zip(names, (found.before, found.after), strict=True))
    )
    said = "translation" if bench.model.inputs.has_language else "text"
    same = f"the {said} stays the same" if found.before == found.after else f"the {said} changes"
    far = f" (only the first {found.cut} tokens are compared)" if found.cut else ""
    st.caption(f"max |Δ| {of} {found.logits_change:.3g}; {same}{far}.")


def _effect_in_model(
    choice: tuple[object, ...], bench: SiteExperiment, view: ImplementationsState
) -> BugEffect | Raised:
    sites = [site for site in bench.trace.calls if _is_in_scope(site, view)]
    try:
        weights = bench.weights(sites)
    except ValueError as refusal:  # a site in another layer may be unsupported
        return Raised.from_error(refusal)
    work = work_without_bar("bug in the model", (name_of(bench.trace), *choice))
    return bug_in_model(bench.model, bench.trace, BUGS[view.bug].steps, weights, off=_off_phrase(view), work=work)


def _off_phrase(view: ImplementationsState) -> int | None:
    """Return the number of the head that is switched off, if the bug on view concerns switching off heads; None
    otherwise.
    """
    return view.head if BUGS[view.bug].ablates else None


def _is_in_scope(site: Site, view: ImplementationsState) -> bool:
    if view.scope == "model":
        return True
    return site.kind == view.kind and (view.scope == "kind" or site.layer == view.layer)


def _visitors(bench: SiteExperiment, head: int) -> None:
    both = (bench.first_alone, bench.second_alone)
    visits = two_visitors(kept_map(bench.first_alone.weights), [one.input_ for one in both], rounds=ROUNDS)
    st.markdown(
        f"Two threads called one module {visits.maps} times in all, one with the {bench.items[0]} and one with the "
        f"{bench.items[1]}, and read `self.attn` a moment later: **{visits.wrong} of {visits.maps} maps were the other "
        "visitor's**."
    )
    st.caption("Each visitor still gets the right output; only the map that is drawn belongs to the other visitor.")
    if visits.example is not None:
        _draw_mixed_heads(bench, visits, head)


def _draw_mixed_heads(bench: SiteExperiment, visits: Visits, head: int) -> None:
    assert visits.example is not None
    titles = {"own": "its own map", "shown": "what it read"}
    for place, key, attn in zip(st.columns(2, gap="small"), titles, visits.example, strict=True):
        words = _words(bench, attn.shape[-1])
        panels = [Panel(titles[key], attn[0, head].numpy())]
        made = panels_figure(panels, words, words, title=f"One visitor, H{head}", theme=charts.theme())
        with place:
            charts.show(made, key=key, table=partial(panels_table, panels, words, words))


def _words(bench: SiteExperiment, length: int) -> list[str]:
    """Return the tokens of the item of the batch with this length; if both items have it, return position labels,
    because the map does not tell which item it is.
    """
    texts = [
        bench.labels(item)[0][: inputs.input_.shape[1]]
        for item, inputs in enumerate((bench.first_alone, bench.second_alone))
    ]
    fitting = [words for words in texts if len(words) == length]
    return fitting[0] if len(fitting) == 1 else [f"position {at}" for at in range(length)]


def _draw_test(bug: Bug) -> None:
    inputs = bug.test_inputs
    st.caption("The one-line test that would have caught it, run just now at other sizes")
    st.code(bug.test_source, language="python", wrap_lines=True)
    st.text(f"right attention: {_says(bug, inputs, fine=True)} · this bug: {_says(bug, inputs, fine=False)}")


def _says(bug: Bug, inputs: SiteInputs, *, fine: bool) -> str:
    try:
        passed = bug.catch(right_attention(inputs) if fine else bug.attention(inputs), inputs)
    except (RuntimeError, TypeError, ValueError) as error:
        return f"raises {type(error).__name__}"
    return "passes" if passed else "fails"
