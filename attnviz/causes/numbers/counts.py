"""Count over many sentences how often each shipped experiment has its effect."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product

from attnviz.analysis.corpus.lines import shipped_lines
from attnviz.analysis.corpus.reading import ReadCorpus, read_corpus
from attnviz.causes.numbers.experiments import Numbers, experiment
from attnviz.models.translator.translator import Translator
from attnviz.tracing.causes import notation
from attnviz.tracing.causes.intervention import Intervention

VERBS = (
    "believes", "called", "hates", "hears", "helps", "hit", "invited", "kissed", "knows", "likes", "loves", "married",
    "misses", "pushed", "saw", "sees", "trusts", "understands", "wants", "watched",
)  # fmt: skip
_NOT = re.compile(r"n't\b|\bnot\b", re.IGNORECASE)
_NE = re.compile(r"\b(?:ne\b|n')", re.IGNORECASE)
ANIMALS = ("animal", "cat", "dog", "horse", "rabbit", "fox", "bear", "duck", "bird", "wolf")
WAYS = ("street", "river", "road", "bridge")
ADJECTIVES = ("dirty", "dangerous", "wide", "long")
_IL, _ELLE = re.compile(r"\bil\b"), re.compile(r"\belle\b")
_ARTICLE = re.compile(r"\b(?:le|la|une?)\b", re.IGNORECASE)
_ARTICLES = (("▁le", "▁la"), ("▁un", "▁une"))


def count(name: str, model: Translator) -> Numbers:
    """Compute the numbers of the experiment `name` with a model, for the placeholders in the experiment's sentence."""
    return _COUNTS[name](model)


def _names_exchanged(model: Translator) -> Numbers:
    sentences = [f"Tom {verb} Mary." for verb in VERBS]
    exchanged = zip(*_translate_both(model, sentences, "swap.cross.all.all.Tom.Mary"), strict=True)
    hits = [_names(before) == ["Tom", "Mary"] and _names(after) == ["Mary", "Tom"] for before, after in exchanged]
    return {"hits": sum(hits), "of": len(hits)}


def _negations_gone(model: Translator) -> Numbers:
    """Count sentences with *not* whose translation contains *ne*, and how many of the translations lose it."""
    sentences = [line.text for line in shipped_lines("fr") if _NOT.search(line.text)]
    pairs = [
        pair for pair in zip(*_translate_both(model, sentences, "off.enc.all.all"), strict=True) if _NE.search(pair[0])
    ]
    return {"hits": sum(not _NE.search(after) for _, after in pairs), "of": len(pairs)}


def _pronouns_turned(model: Translator) -> Numbers:
    """Count translations with *elle*, and how many get *il* without the experiment's head, or without another head."""
    sentences = [
        f"The {animal} didn't cross the {way} because it was too {adjective}."
        for animal, way, adjective in product(ANIMALS, WAYS, ADJECTIVES)
    ]
    before, without_one = _translate_both(model, sentences, "off.cross.2.2")
    without_another = model.translate(sentences, to="fr", interventions=_interventions("off.dec.2.3"))
    with_elle = [nth for nth, text in enumerate(before) if _ELLE.search(text)]
    return {
        "hits": sum(bool(_IL.search(without_one[nth])) for nth in with_elle),
        "by_another": sum(bool(_IL.search(without_another[nth])) for nth in with_elle),
        "of": len(with_elle),
    }


def _texts_without_cross(model: Translator) -> Numbers:
    sentences = [line.text for line in shipped_lines("fr")[::4]]
    before, after = _translate_both(model, sentences, "off.cross.all.all")
    return {"of": len(sentences), "before": len(set(before)), "texts": len(set(after))}


def _lead_of_articles(model: Translator) -> Numbers:
    """Measure the logit difference between the correct article and its other form, where it is positive."""
    lines = [line for line in shipped_lines("fr") if _ARTICLE.search(line.target)]
    corpus = read_corpus(model, lines, to="fr")
    whole = list(_leads(model, corpus, ""))
    three, five = (list(_leads(model, corpus, do)) for do in ("off.cross.2.0+5+7", "off.cross.2.1+2+3+4+6"))
    right = [nth for nth, lead in enumerate(whole) if lead > 0]

    def change(without: Sequence[float]) -> float:
        return round(sum(without[nth] - whole[nth] for nth in right) / len(right), 2)

    return {
        "of": len(right),
        "lead": round(sum(whole[nth] for nth in right) / len(right), 2),
        "three": change(three),
        "five": change(five),
        "turned": sum(three[nth] < 0 for nth in right),
        "turned_by_five": sum(five[nth] < 0 for nth in right),
    }


def _one_vector(model: Translator) -> Numbers:
    """Find the first encoder layer after which patching the vector of *it* makes the translation say *il*.

    The vector comes from the other sentence of the pair.
    """
    address = experiment("one-vector").address
    brings = [
        layer for layer in range(model.model.config.n_layers) if " qu'il " in _patch_vector(model, address, layer)
    ]
    return {"layer": brings[0] if brings else -1, "of": model.model.config.n_layers}


def _patch_vector(model: Translator, address: Mapping[str, str], layer: int) -> str:
    from attnviz.tracing.causes.making import patch

    donor = model.trace(address["src"], to=address["to"])
    put = patch(donor, "encoder", layer=layer, what="layer", positions=["it"])
    return model.translate([address["changed"]], to=address["to"], interventions=[put])[0]


_COUNTS: dict[str, Callable[[Translator], Numbers]] = {
    "names-exchanged": _names_exchanged,
    "no-encoder": _negations_gone,
    "no-cross": _texts_without_cross,
    "one-vector": _one_vector,
    "three-heads": _lead_of_articles,
    "one-head": _pronouns_turned,
}


def _interventions(do: str) -> list[Intervention]:
    return list(notation.parse(do).interventions)


def _translate_both(model: Translator, sentences: Sequence[str], do: str) -> tuple[list[str], list[str]]:
    """Translate the sentences twice: with every head on, and with the interventions that the text `do` describes."""
    before = list(model.translate(list(sentences), to="fr"))
    return before, list(model.translate(list(sentences), to="fr", interventions=_interventions(do)))


def _names(text: str) -> list[str]:
    return re.findall(r"\b(?:Tom|Mary)\b", text)


def _leads(model: Translator, corpus: ReadCorpus, do: str) -> Iterator[float]:
    """Yield, for each article in the given translations, its logit minus the logit of its other form."""
    ids = {piece: at for at, piece in enumerate(model.codec.pieces)}
    other = {ids[one]: ids[form] for forms in _ARTICLES for one, form in (forms, forms[::-1])}
    for batch in corpus.batches(model):
        logits = model.rerun(replace(batch.trace, interventions=tuple(_interventions(do)))).logits
        assert logits is not None  # every line has a target
        for place, item in enumerate(batch.items):
            for row, token in enumerate(corpus.sentences[item].tgt_out):
                if token.id in other:
                    yield float(logits[place, row, token.id] - logits[place, row, other[token.id]])
