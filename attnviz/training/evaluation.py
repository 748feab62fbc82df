"""Score translations on held-out pairs: chrF and BLEU (sacrebleu) of greedy decoding, and the loss."""

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
    """Corpus scores by sacrebleu, 0 to 100; Chinese BLEU counts characters (tokenize `zh`).

    Many English sentences have several reference translations. `bleu` and `chrf` compare with each pair separately, so
    that any translation of such a sentence is wrong for most of its pairs. `bleu_any` and `chrf_any` use each English
    sentence once and compare with all its references together.
    """

    bleu: float
    chrf: float
    pairs: int
    bleu_any: float
    chrf_any: float
    sentences: int


def score(translator: Translator, pairs: Sequence[Pair], to: str) -> Score:
    """Score greedy translations on pairs `(English, reference)`; an English sentence in several pairs is translated
    once.
    """
    references: dict[str, list[str]] = {}
    for english, reference in pairs:
        references.setdefault(english, []).append(reference)
    translations = dict(zip(references, translator.translate(list(references), to=to), strict=True))
    return score_translations(translations, references, to=to)


def score_translations(translations: Mapping[str, str], references: Mapping[str, Sequence[str]], *, to: str) -> Score:
    """Score given translations of English sentences that each have one or more references."""
    pairs = [(translations[english], reference) for english in references for reference in references[english]]
    alone = [hypothesis for hypothesis, _ in pairs], [[reference for _, reference in pairs]]
    # sacrebleu expects a list of every sentence's first reference, then a list of the second references, and so on
    together = [translations[english] for english in references], [*zip_longest(*references.values())]
    tokenize = "zh" if to == "zh" else "13a"
    (bleu, chrf), (bleu_any, chrf_any) = (
        (sacrebleu.corpus_bleu(*both, tokenize=tokenize).score, sacrebleu.corpus_chrf(*both).score)
        for both in (alone, together)
    )
    return Score(bleu, chrf, len(pairs), bleu_any, chrf_any, len(references))


@torch.inference_mode()
def mean_loss(model: Transformer, corpora: list[Corpus]) -> float:
    """Compute the mean loss in nats per target token, including `<eos>`, with teacher forcing and without smoothing.

    Raises ValueError if there are no pairs.
    """
    total, n_target, device = 0.0, 0, model.embedding.weight.device
    for batch in epoch_batches(corpora, epoch=0, seed=0, batch_tokens=_BATCH_TOKENS):
        src, tgt_in, tgt_out = (ids.to(device) for ids in (batch.src, batch.tgt[:, :-1], batch.tgt[:, 1:]))
        src_mask, real = model.src_mask(src), tgt_out != model.config.pad_id
        hidden = model.decode(tgt_in, model.encode(src, src_mask), src_mask)
        total += F.cross_entropy(model.logits(hidden[real]), tgt_out[real], reduction="sum").item()
        n_target += int(real.sum())
    if not n_target:
        raise ValueError("There are no dev pairs to compute the loss on: all of them are too long.")
    return total / n_target
