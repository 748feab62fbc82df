"""The experiments that come along say what the shipped model does: every sentence and number is made again."""

import pytest

import attnviz
from attnviz.causes.numbers import counts
from attnviz.causes.numbers.counts import count
from attnviz.causes.numbers.experiments import experiment, ready_experiments
from attnviz.tracing.causes import notation
from tests.each_case import each_case

NAMES = [one.name for one in ready_experiments()]


@pytest.fixture(scope="module")
def model():
    return attnviz.load()


def interventions(model, address):
    """Read the interventions of an address."""
    if "put" not in address:
        parsed = notation.parse(address["do"])
        assert parsed.problems == ()
        return list(parsed.interventions)
    stack, layer, at = address["put"].split(".")
    donor = model.trace(address["src"], to=address["to"])
    assert donor.tokens("src")[int(at)].text == "it"
    return [attnviz.patch(donor, stack, layer=int(layer), what="layer", positions=[int(at)])]


@each_case("one", ready_experiments(), ids=NAMES)
def test_the_model_writes_what_is_said(model, one) -> None:
    assert one.weights == model.model_id
    done = interventions(model, one.address)
    assert model.translate(one.typed_sentence, to=one.address["to"]) == one.before
    assert model.translate(one.typed_sentence, to=one.address["to"], interventions=done) == one.after


@each_case("one", ready_experiments(), ids=NAMES)
def test_the_numbers_are_counted_again(model, one) -> None:
    found = count(one.name, model)
    assert set(found) == set(one.numbers)
    for name, number in one.numbers.items():
        assert found[name] == pytest.approx(number, abs=0.011 if isinstance(number, float) else 0), name
    assert "{" not in one.fill_numbers(one.numbers)


def test_what_is_told_besides_holds_too(model) -> None:
    """Claims that stand in the texts, and in no number of the file."""
    told = {one.name: one.address["src"] for one in ready_experiments()}

    def translate_under(name: str, do: str) -> str:
        done = list(notation.parse(do).interventions)
        return model.translate(told[name], to="fr", interventions=done)

    for layer in (0, 1):
        assert " ne " in translate_under("no-encoder", f"off.enc.{layer}.all")
    assert translate_under("three-heads", "off.cross.2.1+2+3+4+6") == "Où est l'oiseau ?"
    for head in (0, 5, 7):
        assert translate_under("three-heads", f"off.cross.2.{head}") == "Où est l'oiseau ?"
    misses = model.translate("Tom misses Mary.", to="fr", interventions=list(
        notation.parse("swap.cross.all.all.Tom.Mary").interventions))  # fmt: skip
    assert "Mary" not in misses


def test_where_the_adjective_and_the_noun_are_is_told_as_it_is(model) -> None:
    pair = experiment("one-vector").address
    donor = model.trace(pair["src"], to="fr")
    assert donor.tokens("src")[12].text == "tired"

    def translate_patched(layer: int) -> str:
        put = attnviz.patch(donor, "encoder", layer=layer, what="layer", positions=[12])
        return model.translate(pair["changed"], to="fr", interventions=[put])

    assert "qu'elle était trop fatiguée" in translate_patched(1)
    assert "qu'il était trop fatigué." in translate_patched(0)


def test_the_two_pronouns_of_the_story_were_as_good_as_equal(model) -> None:
    one = experiment("one-head")
    trace = model.trace(one.address["src"], to="fr")
    assert trace.logits is not None
    written = [token.text for token in trace.tokens("tgt")]
    row = written.index("elle") - 1
    chances = trace.logits[0, row].softmax(dim=-1)
    il, elle = (chances[model.encode_target(text, to="fr")[0].id] for text in ("il", "elle"))
    assert f"({il:.2f} and {elle:.2f})" in one.teaches
    where = trace.attn("decoder_self", layer=2, head=3)[row]
    assert trace.key_tokens("decoder_self")[int(where.argmax())].text == "la"
    assert one.numbers["by_another"] / one.numbers["of"] == pytest.approx(2 / 3, abs=0.02)


def test_the_three_heads_look_at_the_noun_while_its_article_is_written(model) -> None:
    trace = model.trace(experiment("three-heads").address["src"], to="fr")
    row = [token.text for token in trace.tokens("tgt")].index("l") - 1
    for head in (0, 5, 7):
        weights = trace.attn("cross", layer=2, head=head)[row]
        assert trace.key_tokens("cross")[int(weights.argmax())].text == "bird"
        assert float(weights.max()) > 0.55
    assert "They look at the noun while its article is written." in experiment("three-heads").happens


def test_every_experiment_is_counted_by_its_name() -> None:
    assert set(counts._COUNTS) == set(NAMES)
    assert len(set(NAMES)) == len(NAMES) == 6
