"""What an edited mask costs on the server: the numbers of one site again, and the whole model run again under it."""

from collections.abc import Iterator

from attnviz.analysis.fill_findings import findings
from attnviz.analysis.fills import Choice, Filled, filled, one_head, weigh
from attnviz.analysis.mask_effect import effect
from attnviz.analysis.mask_recipe import Recipe
from attnviz.tracing.interventions import MaskOverride
from attnviz.transformer.probe import Site
from benchmarks.model import text_of, translator
from benchmarks.report import Row
from benchmarks.timing import interleaved, median

RUNS = {16: 15, 256: 5}
SITE, HEAD = Site("decoder_self", 1), 3


def rows() -> Iterator[Row]:
    """A causal mask, -inf, at one head; the target is the model's own. Streamlit and the browser are not included."""
    model = translator()
    for length, runs in RUNS.items():
        trace = model.trace(text_of(length), to=model.languages[0])
        call, recipe, choice = one_head(trace.call(SITE.kind, SITE.layer), HEAD), Recipe({"causal": ()}), Choice()

        def edit(call=call, recipe=recipe, choice=choice) -> None:
            size = call.query.shape[2]
            one = filled(call, recipe.build(size, size), choice)
            assert one.attn is not None  # -inf is refused nowhere
            findings(Filled(choice, one.mask[0, 0], one.scores[0, 0], one.masked_scores[0, 0], one.attn[0, 0]))

        def again(trace=trace, recipe=recipe, choice=choice) -> None:
            effect(model, trace, MaskOverride([SITE], recipe.build, head=HEAD, weigh=weigh(choice)))

        seconds = interleaved({"edit": edit, "again": again}, runs=runs, warm_up=1)
        yield Row(f"mask edit at one site, {length} tokens in", 1e3 * median(seconds["edit"]), "ms", 150)
        yield Row(f"re-run with the mask in force, {length} tokens in", 1e3 * median(seconds["again"]), "ms", 400)
