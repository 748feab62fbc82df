"""Scores of translations: chrF and BLEU (sacrebleu) of greedy decoding on held-out pairs; and their loss."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest

import sacrebleu
import torch
import torch.nn.functional as F

from attnviz.models.translator.translator import Translator
from attnviz.training.corpus import Corpus, Pair, epoch_batches
from attnviz.transformer.transformer import Transformer

_BATCH_TOKENS = 2_000


@dataclass(frozen=True)
class Score:
    """sacrebleu's corpus scores, 0 to 100; Chinese BLEU counts characters (tokenize `zh`).

    Many English sentences have several translations. `bleu` and `chrf` take every pair by itself, so that whatever is
    written for such a sentence, most of its pairs call it wrong; `bleu_any` and `chrf_any` take each English sentence
    once and compare with all its translations together.
    """

    bleu: float
    chrf: float
    pairs: int
    bleu_any: float
    chrf_any: float
    sentences: int


def score(translator: Translator, pairs: Sequence[Pair], to: str) -> Score:
    """Score greedy translations on `(English, reference)` pairs; a sentence of several pairs is translated once."""
    references: dict[str, list[str]] = {}
    for english, reference in pairs:
        references.setdefault(english, []).append(reference)
    translations = dict(zip(references, translator.translate(list(references), to=to), strict=True))
    return score_translations(translations, references, to=to)


def score_translations(translations: Mapping[str, str], references: Mapping[str, Sequence[str]], *, to: str) -> Score:
    """Scores of what was written (`translations`) for English sentences that each have one reference or more."""
    pairs = [(translations[english], reference) for english in references for reference in references[english]]
    alone = [hypothesis for hypothesis, _ in pairs], [[reference for _, reference in pairs]]
    # sacrebleu wants the first reference of every sentence, then the second of those that have one, and so on
    together = [translations[english] for english in references], [*zip_longest(*references.values())]
    tokenize = "zh" if to == "zh" else "13a"
    (bleu, chrf), (bleu_any, chrf_any) = (
        (sacrebleu.corpus_bleu(*both, tokenize=tokenize).score, sacrebleu.corpus_chrf(*both).score)
        for both in (alone, together)
    )
    return Score(bleu, chrf, len(pairs), bleu_any, chrf_any, len(references))


@torch.inference_mode()
def mean_loss(model: Transformer, corpora: list[Corpus]) -> float:
    """Compute the mean loss in nats per target token, `<eos>` included, each fed the right ones before it; nothing is
    smoothed.

    Raises ValueError where there are no pairs.
    """
    total, n_target, device = 0.0, 0, model.embedding.weight.device
    for batch in epoch_batches(corpora, epoch=0, seed=0, batch_tokens=_BATCH_TOKENS):
        src, tgt_in, tgt_out = (ids.to(device) for ids in (batch.src, batch.tgt[:, :-1], batch.tgt[:, 1:]))
        src_mask, real = model.src_mask(src), tgt_out != model.config.pad_id
        hidden = model.decode(tgt_in, model.encode(src, src_mask), src_mask)
        total += F.cross_entropy(model.logits(hidden[real]), tgt_out[real], reduction="sum").item()
        n_target += int(real.sum())
    if not n_target:
        raise ValueError("There are no dev pairs to take the loss of: every one of them is too long.")
    return total / n_target
