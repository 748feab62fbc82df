"""The shipped translator and the shipped recordings show what the guide says."""

from dataclasses import replace

import torch

import attnviz
from attnviz.analysis.means import reference_means
from attnviz.analysis.mixing import norms
from attnviz.analysis.output_maps import OutputMap, output_maps
from attnviz.analysis.rerun import batch_of_two
from attnviz.causes.numbers.pair import pair_of
from attnviz.causes.numbers.patching import matrices
from attnviz.causes.patching.patching import PatchState, patch_question
from attnviz.decoding.decoding import DecodingState, run_decoding
from attnviz.kit.focus import SiteBounds
from attnviz.lessons.measures import compute_measure
from attnviz.lessons.picture import LinkedPicture
from attnviz.lessons.question import NUMBER, Question
from attnviz.masks.masks import MaskBench, view_of
from attnviz.tracing.trace import Trace
from attnviz.transformer.probe import Site
from tests.docs.chapters import measure, picture, tells
from tests.each_case import each_case

LIVES = "She doesn't know where he lives."
LONG = 60.0  # seconds in which a text is written


def written(bench: MaskBench, item: int = 0) -> str:
    return bench.start_writing().go_on(LONG).so_far(item).text


def bench(shown: LinkedPicture, second: str = "", **changed) -> MaskBench:
    trace = shown.trace
    if second:
        trace = batch_of_two(shown.model, trace, shown.model.trace(second, to=trace.to))
    view, problems = view_of(shown.link.texts, SiteBounds.from_trace(trace))
    assert problems == ()
    return MaskBench(shown.model, trace, replace(view, **changed))


def of_heads(trace: Trace, kind: str, metric: str) -> dict[tuple[int, int], float]:
    """Return a metric of each layer and head."""
    table = trace.metrics(kind)
    places = zip(table["layer"].tolist(), table["head"].tolist(), strict=True)
    return dict(zip(places, table[metric].tolist(), strict=True))


def test_welcome_counts() -> None:
    shown = picture("guide/heads", "kind=cross")
    love = shown.model.trace("I love you.", to="zh")
    assert love.tgt_text == "我爱你。"
    assert tells("guide/welcome", "says {} tokens and the translation", len(love.sentences[0].src))
    assert tells("guide/welcome", "It also says {} attention maps", measure(shown, "maps"))


def test_an_article_looks_ahead_to_its_noun() -> None:
    trace = picture("guide/heads", "kind=cross").trace
    keys = [token.text for token in trace.key_tokens("cross")]
    ahead, literal = (trace.attn("cross", layer=layer, head=head)[0] for layer, head in ((2, 0), (1, 2)))
    assert trace.tgt_text == "Le chien rouge dort."
    assert tells("guide/heads", "it puts {} of its weight on dog", ahead[keys.index("dog")])
    assert tells("guide/heads", "in the same row: {} on The", literal[keys.index("The")])


def test_much_weight_and_next_to_nothing_written() -> None:
    shown = picture("guide/heads", "cells=norm")
    parked = of_heads(shown.trace, "encoder_self", "eos_mass")
    assert max(parked, key=parked.__getitem__) == (1, 0)
    assert tells("guide/heads", "L1 H0 comes first: {} of its weight", parked[1, 0])
    assert tells("guide/heads", "which leaves {} there", parked[2, 2])
    site = Site("encoder_self", 2)
    known = output_maps(shown.model, shown.trace)[site]
    assert isinstance(known, OutputMap)
    head = norms(known, shown.trace, site)[2]
    assert tells("guide/heads", "only {} comes from", (head[:, -1] / head.sum(-1)).mean())


def test_one_head_looks_back_and_another_forward() -> None:
    trace = picture("guide/heads", "sort=previous_token").trace
    back, forward = (of_heads(trace, "encoder_self", name) for name in ("previous_token", "next_token"))
    assert max(back, key=back.__getitem__) == (1, 7)
    assert max(forward, key=forward.__getitem__) == (0, 7)
    assert tells("guide/heads", "L1 H7 is first, with {} of its weight", back[1, 7])
    assert tells("guide/heads", "L0 H7, with {} on the token just after", forward[0, 7])
    assert not any(of_heads(trace, "decoder_self", "next_token").values())


def test_translating_before_the_speaker_has_finished() -> None:
    shown = picture("guide/masks", "wait-k_1")
    assert written(bench(shown)) == "Le rouge chien rouge dort."
    assert written(bench(shown, rules=(("wait-k", (2,)),))) == "Le chien rouge dort."


def test_without_the_padding_mask_it_says_it_twice() -> None:
    shown = picture("guide/masks", "second=")
    made = bench(shown, "I love you.")
    assert written(made, 1) == "Je t'aime. Je t'aime."
    assert written(bench(shown, "I love you.", rules=(("padding", ()),)), 1) == "Je t'aime."
    weights = made.filled_scores.attn
    assert weights is not None
    assert tells("guide/masks", "leave {} of their weight on padding", weights[:5, 5:].sum(-1).mean())


def test_hiding_with_zero() -> None:
    shown = picture("guide/masks", "tab=fills")
    hidden = measure(shown, "hidden_weight", "0", fill="zero before")
    rest = measure(shown, "filled_row_sum", "0", fill="zero after")
    assert tells("guide/masks", "the hidden tokens get {} of its weight", hidden)
    assert tells("guide/masks", "the row sums to {}.", rest)


def test_a_stale_position_that_no_translation_shows() -> None:
    shown = picture("guide/decoding", "restart=1")
    broken = run_decoding(shown.model, shown.trace, DecodingState(restart=True))
    assert shown.model.decode_ids(broken.made.ids)[0] == "Le chien rouge dort."
    assert not broken.verdict.holds
    assert tells("guide/decoding", "hidden states differ by up to {}.", broken.verdict.largest_place.delta)
    assert run_decoding(shown.model, shown.trace, DecodingState(restart=True, way="recomputed")).verdict.holds


def test_the_loss_of_a_wrong_target() -> None:
    shown = picture("guide/decoding", "tgt=")
    losses = [measure(one, "loss") for one in (picture("guide/decoding", "restart=1"), shown)]
    assert tells("guide/decoding", "rises from {} to {} nats", *losses)
    assert shown.trace.logits is not None
    ids = torch.tensor([token.id for token in shown.trace.tokens("tgt")][1:])
    each = -shown.trace.logits[0].log_softmax(-1).gather(1, ids[:, None])[:, 0]
    assert tells("guide/decoding", "rouge costs {} and chien {}", each[1], each[2])
    assert float(torch.cat([each[:1], each[3:]]).max()) < 0.15


def test_what_a_head_is_replaced_by_decides() -> None:
    model = picture("guide/causes", "do=off.enc").model
    said = {}
    for name, to in (("zero", "zero"), ("mean", reference_means(model, "fr")), ("even", "uniform")):
        off = [attnviz.ablate("encoder_self", layer=layer, to=to) for layer in range(3)]
        said[name] = model.translate(LIVES, to="fr", interventions=off)
    kept = "Elle ne sait pas où il vit."
    assert said == {"zero": "Elle sait où il vit.", "mean": kept, "even": kept}


def test_one_head_between_two_ways_to_say_you() -> None:
    shown = picture("guide/causes", "do=off.cross.2.0")
    assert shown.trace.tgt_text == "Je vous aime."
    plain = shown.model.trace("I love you.", to="fr")
    off = shown.model.rerun(replace(plain, interventions=shown.trace.interventions))
    t = plain.tokens("tgt")[2].id
    vous = shown.trace.tokens("tgt")[2].id
    leads = [float(run.logits[0, 1, t] - run.logits[0, 1, vous]) for run in (plain, off)]
    assert tells("guide/causes", "by only {} in logits; without the head it is behind by {}.", leads[0], -leads[1])


def test_heads_that_carry_a_gender() -> None:
    shown = picture("guide/causes", "tab=patch")
    said = shown.link.texts
    pair = pair_of(shown.model, shown.trace, shown.model.trace(said["changed"], to="fr"))
    state = PatchState(said["changed"], step=int(said["step"]), a=said["a"], b=said["b"])
    asked = patch_question(shown.model, pair, state)
    found = matrices(shown.model, asked.pair, asked.metric, asked.control)
    assert tells("guide/causes", "ahead of un by {}, and", found.ends.clean)
    assert tells("guide/causes", "has it behind by {}.", -found.ends.changed)
    shares = dict(zip(found.heads.places, found.heads.share.tolist(), strict=True))
    best = sorted(shares, key=shares.__getitem__, reverse=True)[:3]
    assert [tuple(place) for place in best] == [("cross", 2, 0), ("cross", 2, 7), ("cross", 2, 5)]
    assert tells("guide/causes", "H0 with {}, H7 with {} and H5 with {}.", *(shares[place] for place in best))
    noun = found.streams[0].share[:, 4]
    assert float(noun.min()) > 0.96


@each_case(
    ("run", "own", "teacher"),
    [
        ("french", 1, 1), ("french-without-causal-mask", 0, 1), ("french-pairs-30", 0, 0),
        ("reverse", 1, 1), ("sort", 1, 1), ("sort-without-positions", 1, 1),
    ],
)  # fmt: skip
def test_scores_of_recorded_runs(run: str, own: float, teacher: float) -> None:
    assert (score(run, "own_prefix"), score(run, "teacher_prefix")) == (own, teacher)


def test_scores_that_are_told() -> None:
    assert tells(
        "guide/learning", "the first gets {} % and the second 0 %", 100 * score("french-pairs-300", "own_prefix")
    )
    assert tells(
        "guide/learning", "without them {} % of the lines", 100 * score("reverse-without-positions", "own_prefix")
    )
    for run in ("french", "french-without-causal-mask", "french-pairs-300", "french-pairs-30"):
        assert score(run, "loss") < 5e-5


def score(run: str, name: str) -> float:
    return compute_measure(None, Question(NUMBER, "", measure="run_score", more={"run": run, "score": name}))
