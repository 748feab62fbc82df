"""Which parts of the model make a token's logit."""

from typing import TYPE_CHECKING

import streamlit as st

from attnviz.ui import captions, layout
from attnviz.ui.address import persistent
from attnviz.ui.causes.attributing.state import NONE, RUNNER_UP, AttributeState
from attnviz.ui.causes.one_token import id_of, name_of, token_list
from attnviz.ui.causes.state import current
from attnviz.ui.mount import attribution
from attnviz.ui.reported import OPTIONAL_NUMBER, SWITCH, TEXT, reported
from attnviz.ui.request import Request

if TYPE_CHECKING:
    from attnviz.analysis.causes.attribution import LogitOf
    from attnviz.analysis.causes.parts.explained import SplitModel
    from attnviz.models.protocol import Model
    from attnviz.text.tokens import Token
    from attnviz.tracing.trace import Trace
    from attnviz.widgets.attribution.payload import ShownLogit

COMPONENT = "attribution"
_SHOWN = "attribution-shown"
_LIKELY = 10
_WIDE = "decoder: the prediction after each layer"
_ENCODER = "encoder: read through the decoder’s vocabulary"


def draw(request: Request, loaded: "Model", trace: "Trace") -> AttributeState:
    """Draw the tab; what a link to it carries."""
    rows = _rows(trace)
    view = current(AttributeState, {"step": len(rows)})
    if trace.logits is None:
        layout.refuse("This model has no output over a vocabulary, so there are no logits to take apart.")
    found = layout.run_or_refuse(lambda: _split(loaded, trace))
    step = view.step or 0
    asked = _asked(loaded, trace, view, step)
    _picture(loaded, trace, found, asked, view)
    return view


def _split(loaded: "Model", trace: "Trace") -> "SplitModel":
    from attnviz.ui.causes.attributing import computed

    return computed.split(loaded, trace)


def _rows(trace: "Trace") -> "list[tuple[int, Token, Token | None]]":
    """What goes in at each row, and what comes out of it."""
    sentence = trace.sentences[0]
    if not sentence.tgt:
        return [(row, token, None) for row, token in enumerate(sentence.src)]
    return [(row, *both) for row, both in enumerate(zip(sentence.tgt_in, sentence.tgt_out, strict=True))]


def _asked(loaded: "Model", trace: "Trace", view: AttributeState, step: int) -> "LogitOf":
    """Which logit; a token that there is not is said, and the one that comes out takes its place."""
    from attnviz.analysis.causes.attribution import LogitOf

    assert trace.logits is not None  # `draw` saw to it
    logits = trace.logits[0, step].float().cpu()
    best = logits.topk(_LIKELY).indices.tolist()
    comes_out = _rows(trace)[step][2]
    own = comes_out.id if comes_out is not None and comes_out.id >= 0 else best[0]
    token = _id(loaded, trace, view.token)
    token = own if token is None else token
    runner_up = next(id_ for id_ in best if id_ != token)
    against = {NONE: None, RUNNER_UP: runner_up}.get(view.against, -1)
    against = _id(loaded, trace, view.against) if against == -1 else against
    if against == token:
        layout.warn("A token's lead over itself is 0. Choose two different tokens.")
        against = None
    _lists(loaded, view, logits.softmax(dim=-1), [own, token, *best], (token, runner_up, against))
    return LogitOf(step, token, against)


def _id(loaded: "Model", trace: "Trace", asked: str) -> int | None:
    try:
        return id_of(loaded, trace, asked)
    except ValueError as error:
        layout.warn(str(error))
        return None


def _lists(loaded: "Model", view: AttributeState, chances, ids: list[int], chosen: tuple) -> None:
    """Lists of the token and of the other."""
    token, runner_up, against = chosen
    known: list[int] = [*ids, *([] if against is None else [against])]
    names = {f"#{id_}": f"{name_of(loaded, id_)} · {float(chances[id_]):.3f}" for id_ in known}
    options = [f"#{id_}" for id_ in dict.fromkeys(ids)]
    special = {NONE: "nothing: its own logit", RUNNER_UP: f"the runner-up, {name_of(loaded, runner_up)}"}
    with st.container(horizontal=True, vertical_alignment="bottom", key="attribute-tokens"):
        value = view.token if view.token and not view.token.startswith("#") else f"#{token}"
        token_list("token", "Logit of", options, value, names)
        other = f"#{against}" if view.against.startswith("#") and view.against not in special else view.against
        token_list(
            "against", "Minus that of", [*special, *options], NONE if other == "#None" else other, names | special
        )


def _picture(loaded: "Model", trace: "Trace", found: "SplitModel", asked: "LogitOf", view: AttributeState) -> None:
    from attnviz.widgets.attribution.payload import attribution_payload

    shown = layout.run_or_refuse(lambda: _shown(loaded, trace, found, asked, view))
    told = {"step": asked.row, "opened": view.opened, "order": view.order, "drops": int(view.drops)}
    st.session_state[_SHOWN] = told
    site = f"logit of {name_of(loaded, asked.id)} at step {asked.row}"
    payload = attribution_payload(loaded, shown, view=told)
    attribution(captions.on(payload, site=site), key=COMPONENT, on_change=adopt)


def _shown(
    loaded: "Model", trace: "Trace", found: "SplitModel", asked: "LogitOf", view: AttributeState
) -> "ShownLogit":
    from attnviz.ui.causes.attributing import computed
    from attnviz.widgets.attribution.payload import Lens, ShownLogit

    assert trace.logits is not None  # `draw` saw to it
    sentence, logits = trace.sentences[0], trace.logits[0, asked.row]
    own, beside = computed.lenses(loaded, trace, found.weight, asked)
    out = sentence.tgt_out if sentence.tgt else sentence.src
    title = _WIDE if "decoder_self" in loaded.kinds else "the prediction after each layer"
    lenses = [Lens(title, own, out, asked.row)]
    if beside is not None:
        lenses.append(Lens(_ENCODER, beside, sentence.src))
    names: dict[int, str] = {}

    def name(id_: int) -> str:
        if id_ not in names:
            names[id_] = name_of(loaded, id_)
        return names[id_]

    return ShownLogit(
        trace,
        found.explained(trace, asked),
        name,
        _rows(trace),
        float(logits.max() - logits.min()),
        found.why_last,
        computed.fallen(loaded, trace, asked) if view.drops else None,
        lenses,
    )


def adopt() -> None:
    """Take over what was chosen in the component. Another step has other tokens."""
    chosen = reported(COMPONENT, "view", {"step": OPTIONAL_NUMBER, "opened": TEXT, "order": TEXT, "drops": SWITCH})
    before = st.session_state.get(_SHOWN, {})
    if chosen is None:
        return
    if chosen["step"] is not None and chosen["step"] != before.get("step"):
        against = persistent.text("against")
        persistent.write({"step": str(chosen["step"]), "token": None,
                          "against": against if against == RUNNER_UP else None})  # fmt: skip
    for name in ("opened", "order", "drops"):
        if chosen[name] != before.get(name):
            persistent.write({name: str(int(chosen[name]) if name == "drops" else chosen[name]) or None})
    st.session_state[_SHOWN] = before | chosen
