"""Every way of aligning gives the scores that its name says, and a model that lacks what a way needs says so."""

import pytest
import torch

import attnviz
from attnviz.analysis.projections import NotPlain
from attnviz.heads.alignment.numbers.alignment_errors import found_links
from attnviz.heads.alignment.numbers.alignment_ways import Aligner, KnownMaps, all_scores, scores, ways
from attnviz.heads.alignment.numbers.word_alignment import word_links, word_scores
from tests.models.huggingface import checkpoints


@pytest.fixture(scope="module")
def known_maps(model, clean):
    return KnownMaps.find(model, clean)


def test_scores_by_every_way_are_those_of_the_way_alone(known_maps, clean) -> None:
    found = dict(all_scores(known_maps, clean))
    assert tuple(found) == ways(known_maps, clean)
    for way in found:
        torch.testing.assert_close(found[way], scores(way, known_maps, clean), atol=1e-4, rtol=1e-4)


def test_a_norm_is_the_length_of_what_a_head_writes_of_a_token(known_maps, clean) -> None:
    layer, head, row, key = 1, 2, 3, 4
    call, own = clean.call("cross", layer), known_maps.outputs
    weight = next(found for site, found in own.items() if (site.kind, site.layer) == ("cross", layer)).weight
    attn = clean.attn("cross", layer=layer)
    written = [attn[h, row, key] * call.value[0, h, key] @ weight[h] for h in range(len(attn))]
    one = scores(Aligner("norm of one head", layer, head, "out"), known_maps, clean)
    assert float(one[row, key]) == pytest.approx(float(written[head].norm()), rel=1e-4)
    together = scores(Aligner("norm of heads' sum", layer, None, "out"), known_maps, clean)
    assert float(together[row, key]) == pytest.approx(float(sum(written).norm()), rel=1e-4)


def test_heads_together_write_no_more_than_each_alone(known_maps, clean, make_trace) -> None:
    heads = [scores(Aligner("norm of one head", 0, head, "out"), known_maps, clean) for head in range(5)]
    together = scores(Aligner("norm of heads' sum", 0, None, "out"), known_maps, clean)
    assert bool((together <= sum(heads) + 1e-5).all())
    none = torch.eye(len(clean.tokens("src")))[0].expand(len(together), -1)
    looks = make_trace(clean.src_text, attnviz.edit("cross", none, layer=0))
    assert not scores(Aligner("norm of heads' sum", 0, None, "out"), known_maps, looks)[:, 1:].any()


def test_a_word_may_have_no_source(clean) -> None:
    rows, keys = clean.attn("cross", layer=0).shape[1:]
    parked = torch.full((rows, keys), 0.1)
    parked[:, -1] = 5  # <eos>
    assert word_links(parked, clean)
    assert word_links(parked, clean, null=True) == frozenset()
    words = word_scores(parked, clean)
    torch.testing.assert_close(words.sum(dim=1), parked.sum(dim=1)[: len(words)])


def test_a_model_that_normalises_sums_has_norms_and_says_why_it_has_no_attribution(tmp_path) -> None:
    model = attnviz.load(str(checkpoints.save(tmp_path / "bart", checkpoints.ALL["bart"])))
    trace = model.trace("hello there world", tgt_text="hello world")
    known = KnownMaps.find(model, trace)
    assert "no exact split over layers" in known.missing_reason("attribution")
    assert known.missing_reason("ALTI") == known.missing_reason("attribution")
    assert known.missing_reason("norm of one head") == ""
    methods = {way.method for way in found_links(known, trace)}
    assert methods == {"one head", "mean of heads", "norm of one head", "norm of heads' sum", "rollout", "diagonal"}
    with pytest.raises(ValueError, match="no scores by attribution: its layers"):
        scores(Aligner("attribution", 0, None, "out"), known, trace)


def test_without_w_o_there_are_no_norms(known_maps, clean) -> None:
    unheard = KnownMaps(NotPlain("nobody watched"), {site: NotPlain("nobody watched") for site in known_maps.outputs})
    assert unheard.missing_reason("norm of one head") == "nobody watched"
    assert {way.method for way in ways(unheard, clean)} == {"one head", "mean of heads", "rollout"}
