"""How good are the translations? chrF and BLEU (sacrebleu) of greedy decoding on held-out pairs."""

from dataclasses import dataclass

import sacrebleu

from attnviz.models.translator import Translator
from attnviz.training.corpus import Pair


@dataclass(frozen=True)
class Score:
    """sacrebleu's corpus scores, 0 to 100; Chinese BLEU counts characters (tokenize `zh`)."""

    bleu: float
    chrf: float
    sentences: int


def score(translator: Translator, pairs: list[Pair], to: str) -> Score:
    """Greedy scores on `(English, reference)` pairs."""
    hypotheses = list(translator.translate([english for english, _ in pairs], to=to))
    references = [[reference for _, reference in pairs]]
    bleu = sacrebleu.corpus_bleu(hypotheses, references, tokenize="zh" if to == "zh" else "13a")
    return Score(bleu.score, sacrebleu.corpus_chrf(hypotheses, references).score, len(pairs))
