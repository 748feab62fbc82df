"""The tab "Shapes and counts" of the page Anatomy: facts that are often documented wrongly."""

import streamlit as st

from attnviz.anatomy.numbers.counts import TargetShift, count_parameters, target_shift
from attnviz.anatomy.numbers.notebook import head_counts, joined_as_documented, per_head_shapes, xavier_spread
from attnviz.anatomy.page.experiment import AnatomyState, SiteExperiment, explain_terms
from attnviz.kit.views.code_tables import word_table
from attnviz.text.display import display_token


def counts(bench: SiteExperiment, view: AnatomyState) -> None:
    """Draw five facts that texts about attention get wrong, each checked on this model and this batch."""
    left, right = st.columns(2, gap="small")
    with left:
        _shapes(bench)
        _heads(bench)
    with right:
        _target(bench)
        _xavier(bench)
        _plain_list(bench)


def _shapes(bench: SiteExperiment) -> None:
    sentences = (bench.first_alone, bench.second_alone)
    weights = bench.inputs.weights
    d_model = weights.d_model
    with st.container(border=True):
        st.markdown(
            "**The middle axis of the queries is the length, not d_model**",
            help=explain_terms("d_model", "q_len", "k_len"),
        )
        rows = [
            (line.name, _strike(line.documented, line.axes), line.axes, *(str(shape) for shape in line.shapes))
            for line in per_head_shapes(sentences)
        ]
        st.html(word_table(("per head", "often documented as", "is", *bench.items), rows))
        _, refusal = joined_as_documented(bench.first_alone)
        fits, said = joined_as_documented(bench.first_alone, length=d_model)
        st.caption(
            "Only the weight matrices have d_model in the middle. Code that follows the second column joins the heads "
            f"with `Z.reshape(heads * d_model, d_v)`. On the {bench.items[0]}: "
            f"{_code(refusal) if refusal else 'no error'} A test on random numbers of the documented shape ({d_model} "
            f"tokens) {f'gives {fits} and does not notice.' if fits else f'raises too: {_code(said)}'}"
        )


def _heads(bench: SiteExperiment) -> None:
    d_model, n_heads = bench.inputs.weights.d_model, bench.inputs.weights.n_heads
    with st.container(border=True):
        st.markdown("**d_model is a multiple of the number of heads, not the other way round**")
        rows = [
            (
                str(count.heads),
                str(count.of_d_model),
                str(count.by_d_model),
                count.refusal or f"accepts it: d_k {d_model // count.heads}",
            )
            for count in head_counts(d_model, n_heads)
        ]
        heads = (
            "num_heads",
            f"{d_model} % num_heads",
            f"num_heads % {d_model}",
            "nn.MultiheadAttention, tried just now",
        )
        st.html(word_table(heads, rows))
        st.caption(
            f"A head needs a whole number of columns, so {d_model} % num_heads must be 0. The rule “num_heads must be "
            "a multiple of d_model” would require 0 in the next column instead: it would forbid this model's "
            f"{n_heads} heads and allow {2 * d_model}, which PyTorch refuses.{_own_size(bench)}"
        )


def _own_size(bench: SiteExperiment) -> str:
    """Return a sentence about a head size that is not d_model divided by the number of heads; "" for other models."""
    weights = bench.inputs.weights
    if weights.n_heads * weights.d_k == weights.d_model:
        return ""
    return (
        f" Some models choose d_k freely. This one's {weights.n_heads} heads have d_k {weights.d_k}, "
        f"{weights.n_heads * weights.d_k} columns in all. nn.MultiheadAttention cannot do that."
    )


def _target(bench: SiteExperiment) -> None:
    try:
        shifts = [target_shift(bench.batch, item) for item in range(2)]
    except ValueError as error:  # a model without a target
        st.caption(str(error))
        return
    with st.container(border=True):
        st.markdown(
            "**The decoder's input is the target without its last token; the source's length does not matter**",
            help=explain_terms("tgt_in", "tgt_out"),
        )
        longest = max(len(shift.rows) for shift in shifts)
        rows = [
            ("source", *(str(shift.src) for shift in shifts)),
            ("target, with <bos:…> and <eos>", *(str(shift.tgt) for shift in shifts)),
            ("tgt_in, the decoder's input", *(_input(shift) for shift in shifts)),
            ("tgt_out, the labels", *(f"{len(shift.rows)}, without {_display(shift.rows[0][0])}" for shift in shifts)),
            ("<pad> after them, not counted in the loss", *(str(longest - len(shift.rows)) for shift in shifts)),
            ("“one shorter than the source” would give", *(_one_less(shift) for shift in shifts)),
        ]
        st.html(word_table(("tokens", *bench.items), rows))
        ends = [(f"row {at}", *map(_display, shifts[0].rows[at])) for at in sorted({0, 1, len(shifts[0].rows) - 1})]
        st.html(word_table(("typed sentence", "goes in", "should come out"), ends))


def _input(shift: TargetShift) -> str:
    if shift.dropped is None:
        return f"{len(shift.rows)}: cut at the limit, so there is no <eos> to leave out"
    return f"{len(shift.rows)}, without {_display(shift.dropped)}"


def _one_less(shift: TargetShift) -> str:
    return f"{shift.src - 1}: {'right by chance' if shift.one_less_than_source else 'wrong'}"


def _xavier(bench: SiteExperiment) -> None:
    weights = bench.inputs.weights
    found = xavier_spread(weights)
    with st.container(border=True):
        st.markdown(
            "**Xavier initialisation treats the head axis like the axis of a convolution kernel**",
            help=explain_terms("Xavier"),
        )
        st.caption(
            f"`xavier_normal_` on one tensor ({weights.n_heads}, {weights.d_model}, {weights.d_k}) gives W_Q a "
            f"standard deviation of {found.whole:.4f}; on each head's tensor ({weights.d_model}, {weights.d_k}) it "
            f"gives {found.each:.4f}, {found.each / found.whole:.1f} times as much. No error is raised."
        )


def _plain_list(bench: SiteExperiment) -> None:
    d_model = bench.inputs.weights.d_model
    found = count_parameters(d_model)
    with st.container(border=True):
        st.markdown(
            "**Layers in a plain Python list are not registered as parameters**", help=explain_terms("ModuleList")
        )
        st.caption(
            f"Four maps of {d_model} × {d_model} in `nn.ModuleList`: `parameters()` finds {found.in_module_list:,} "
            f"learned numbers. In a Python list: {found.in_list:,}, and `state_dict()` holds {found.saved} entries. An "
            "optimizer then trains nothing and a saved file is empty, although the forward pass runs normally."
        )


def _strike(documented: str, axes: str) -> str:
    return documented if documented in ("", axes) else f"{documented} ✗"


def _display(token) -> str:
    return display_token(token)


def _code(text: str) -> str:
    return f"`{text}`."
