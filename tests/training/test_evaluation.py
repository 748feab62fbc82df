"""Scores: by pair and by sentence, equal to sacrebleu asked by hand; nothing is translated twice."""

import pytest
import sacrebleu

from attnviz.training.evaluation import score, score_translations

REFERENCES = {
    "You are tall.": ["Tu es grand.", "Vous êtes grande.", "Tu es grande."],
    "It rains a lot here.": ["Il pleut beaucoup ici."],
    "I know him well.": ["Je le connais bien.", "Je le connais fort bien."],
}
TRANSLATIONS = {
    "You are tall.": "Vous êtes grande.",
    "It rains a lot here.": "Il pleut beaucoup là.",
    "I know him well.": "Je le connais bien.",
}


def test_every_pair_by_itself():
    hypotheses = ["Vous êtes grande."] * 3 + ["Il pleut beaucoup là."] + ["Je le connais bien."] * 2
    references = [[reference for of_sentence in REFERENCES.values() for reference in of_sentence]]
    found = score_translations(TRANSLATIONS, REFERENCES, to="fr")
    assert found.bleu == sacrebleu.corpus_bleu(hypotheses, references).score
    assert found.chrf == sacrebleu.corpus_chrf(hypotheses, references).score
    assert (found.pairs, found.sentences) == (6, 3)


def test_any_of_the_references_will_do():
    """The best reference of each sentence alone: here what all of them together count."""
    best = [["Vous êtes grande.", "Il pleut beaucoup ici.", "Je le connais bien."]]
    found = score_translations(TRANSLATIONS, REFERENCES, to="fr")
    assert found.bleu_any == pytest.approx(sacrebleu.corpus_bleu(list(TRANSLATIONS.values()), best).score)
    assert found.chrf_any == pytest.approx(sacrebleu.corpus_chrf(list(TRANSLATIONS.values()), best).score)
    assert found.bleu_any > found.bleu


def test_chinese_counts_characters():
    found = score_translations({"I drink tea.": "我喝中国茶。"}, {"I drink tea.": ["我喝中国茶。"]}, to="zh")
    assert found.bleu == pytest.approx(100)


def test_a_sentence_is_translated_once():
    class Once:
        def translate(self, sentences, *, to):
            assert sentences == ["One.", "Two."]
            return ["Un.", "Deux."]

    found = score(Once(), [("One.", "Un."), ("Two.", "Deux."), ("One.", "Une.")], "fr")  # type: ignore[arg-type]
    assert (found.pairs, found.sentences) == (3, 2)
