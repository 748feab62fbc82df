"""What the chapters on concepts say of the shipped models is so, their Python runs, and their sources are used."""

import re

import pandas as pd

import attnviz
from attnviz.analysis.attribution import drops
from attnviz.causes.attribution.attribution import AttributeState, question
from attnviz.causes.corpus.numbers.pruning import curve_path
from attnviz.causes.numbers.experiments import ready_experiments
from attnviz.causes.numbers.last_layer import SplitModel
from attnviz.causes.numbers.pair import pair_of
from attnviz.causes.numbers.patching import matrices
from attnviz.causes.patching.patching import PatchState, patch_question
from attnviz.decoding.decoding import DecodingState, run_decoding
from attnviz.decoding.numbers.cost import multiply_adds
from attnviz.heads.alignment.numbers.alignment_errors import known_errors, rates
from attnviz.lessons.picture import LinkedPicture
from attnviz.models import catalogue
from attnviz.models.translator.translator import Translator
from tests.docs.chapters import DOCS, measure, picture, tells
from tests.each_case import each_case

NAMES = tuple(path.stem for path in sorted(DOCS.glob("concepts/*.md")) if path.stem != "index")
FAR = 0.4  # of a row: what the maps move by, at least, where they are made even


def raw(name: str) -> str:
    return (DOCS / "concepts" / f"{name}.md").read_text(encoding="utf-8")


@each_case("name", NAMES)
def test_its_python_runs(name: str) -> None:
    for code in re.findall(r"^```python\n(.*?)^```", raw(name), re.DOTALL | re.MULTILINE):
        exec(code, {})


@each_case("name", NAMES)
def test_each_source_is_used_and_has_an_address(name: str) -> None:
    body, _, sources = raw(name).partition("## Sources")
    listed = [" ".join(entry.split()) for entry in re.split(r"^- ", sources, flags=re.MULTILINE)[1:]]
    assert listed == sorted(listed, key=str.lower)
    for entry in listed:
        assert "https://" in entry
        first = re.split(r"[, (]", entry)[0]
        assert first in body, entry
    years = set(re.findall(r"([A-Z]\w+)(?: (?:and|et) [\w.]+)? \(?((?:19|20)\d\d)\b", " ".join(body.split())))
    assert all(any(who in entry and year in entry for entry in listed) for who, year in years), years


def translated(name: str, part: str) -> str:
    return picture(name, part).trace.tgt_text


def test_other_weights_with_the_same_text() -> None:
    name = "concepts/what-attention-shows"
    even = picture(name, "do=even.dec").trace
    plain = even.tgt_text
    assert plain == "Un gros chien rouge sauta par-dessus un petit étang."
    model = picture(name, "do=even.dec").model
    before = model.trace(even.src_text, to="fr")
    assert before.tgt_text == plain
    for layer in range(3):
        moved = (before.attn("decoder_self", layer=layer) - even.attn("decoder_self", layer=layer)).abs().sum(-1) / 2
        assert float(moved.mean()) > FAR
    assert translated(name, "do=even.cross") == "Un gros ruisseau est un petit étangé."


def test_three_heads_and_one() -> None:
    name = "concepts/what-attention-shows"
    assert translated(name, "2.0%2B5%2B7") == "Où est le oiseau ?"
    model = picture(name, "2.0%2B5%2B7").model
    for head in (0, 5, 7):
        off = attnviz.ablate("cross", layer=2, heads=[head])
        assert model.translate("Where is the bird?", to="fr", interventions=[off]) == "Où est l'oiseau ?"


def test_removed_heads() -> None:
    table = pd.read_csv(curve_path(catalogue.SHIPPED / catalogue.DEFAULT, "fr"))
    rows = table[["order", "removed", "bleu"]].itertuples(index=False)
    bleu = {(order, removed): value for order, removed, value in rows}
    greedy = next(order for order, _ in bleu if order.startswith("greedy"))
    at_random = [value for (order, removed), value in bleu.items() if order.startswith("random") and removed == 24]
    said = (bleu[greedy, 24], bleu[greedy, 0], sum(at_random) / len(at_random))
    assert tells("concepts/what-attention-shows", "for BLEU {} instead of {}; with 24 chosen at random it is {}", *said)


def score(run: str, name: str) -> float:
    return measure(picture("concepts/masks", "item=1"), "run_score", run=run, score=name)


def test_toys_without_a_mask() -> None:
    assert score("french-without-causal-mask", "own_prefix") == 0 == score("french-leak-one-head", "own_prefix")
    run = "reverse-without-padding-mask"
    assert score(run, "own_prefix") == 1
    more = (score(run, f"own_prefix_{count}_more_pad") for count in (1, 20))
    said = "{} % with one more `<pad>` and {} % with twenty"
    assert tells("concepts/masks", said, *(100 * right for right in more))


def test_the_loss_without_a_mask() -> None:
    shown = picture("concepts/training-and-inference", "causal=none")
    states = DecodingState(), DecodingState(causal="none")
    losses = [run_decoding(shown.model, shown.trace, state).losses.mean for state in states]
    assert tells("concepts/training-and-inference", "rises from {} to {} nats", *losses)


def test_the_cost_of_writing() -> None:
    model = picture("concepts/training-and-inference", "more=cost").model
    assert isinstance(model, Translator)
    costs = [multiply_adds(model.model.config, way, 13, 10) / 1e6 for way in ("pass", "cached", "recomputed")]
    said = "one pass {} million, a cache {} million, recomputing the prefix at each step {} million"
    assert tells("concepts/training-and-inference", said, *costs)


def test_what_a_head_adds_and_what_falls_without_it() -> None:
    shown = picture("concepts/causes", "drops=1")
    asked = question(shown.model, shown.trace, AttributeState(step=0)).asked
    place = ("cross", 2, 0)
    bars = SplitModel.find(shown.model, shown.trace).explain(shown.trace, asked).bars.parts
    (adds,) = [bar.value for bar in bars if bar.part == "head" and (bar.kind, bar.layer, bar.head) == place]
    falls = {tuple(head): drop for head, drop in drops(shown.model, shown.trace, asked).items()}
    said = "adds {} to the logit of Le directly. Switched off, it costs that logit only {}."
    assert tells("concepts/causes", said, adds, falls[place])


def restored(shown: LinkedPicture, way: str) -> dict[tuple, float]:
    said = shown.link.texts
    pair = pair_of(shown.model, shown.trace, shown.model.trace(said["changed"], to="fr"))
    state = PatchState(said["changed"], way=way, step=int(said["step"]), a=said["a"], b=said["b"])
    asked = patch_question(shown.model, pair, state)
    heads = matrices(shown.model, asked.pair, asked.metric, asked.control).heads
    return dict(zip(map(tuple, heads.places), heads.share.tolist(), strict=True))


def test_two_directions_of_a_patch() -> None:
    shown = picture("concepts/causes", "way=out")
    both = [restored(shown, way)["encoder_self", 1, 1] for way in ("in", "out")]
    assert tells("concepts/causes", "restores {} of the metric one way and breaks {} of it the other way", *both)


def test_numbers_that_the_guide_has_too() -> None:
    """The guide's tests compute them."""
    assert tells(
        "concepts/what-attention-shows", "{} of the weight lies on `<eos>`, and {} of what is written", 0.54, 0.08
    )
    assert tells("guide/heads", "which leaves {} there", 0.54)
    assert tells("guide/heads", "only {} comes from `<eos>`", 0.08)
    for name, sentence in (
        ("guide/masks", "the hidden tokens get {} of"),
        ("concepts/masks", "of the decoder {} of the"),
    ):
        assert tells(name, sentence, 0.936)
    for name in ("guide/masks", "concepts/masks"):
        assert tells(name, "the row sums to {}", 0.043)
    assert tells("concepts/causes", "t leads vous by {} in I love you", 0.32)
    assert tells("guide/causes", "by only {} in logits", 0.32)


def test_numbers_that_come_along() -> None:
    (fails,) = [one for one in ready_experiments() if one.name == "one-head"]
    assert tells("concepts/causes", "turns {} of {} sentences", fails.numbers["hits"], fails.numbers["of"])
    table = known_errors(picture("concepts/causes", "drops=1").model.model_id)
    assert table is not None
    errors = rates(table, "fr")
    least = [min(rate for way, rate in errors.items() if way.method == method) for method in ("ALTI", "rollout")]
    said = "ALTI has an alignment error of {}, and rollout, with half kept in each layer, {}."
    assert tells("concepts/what-attention-shows", said, *least)
