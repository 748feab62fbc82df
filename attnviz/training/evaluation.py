"""How good are the translations? chrF and BLEU (sacrebleu) of greedy decoding on held-out pairs."""

from dataclasses import dataclass

import sacrebleu
import torch

from attnviz.text.codec import TextCodec
from attnviz.training.corpus import Pair
from attnviz.transformer.decoding import Stepper, Vocabulary, decode
from attnviz.transformer.transformer import Transformer


@dataclass(frozen=True)
class Score:
    """sacrebleu's corpus scores, 0 to 100; Chinese BLEU counts characters (tokenize `zh`)."""

    bleu: float
    chrf: float
    sentences: int


@torch.inference_mode()
def translate(
    model: Transformer, codec: TextCodec, sentences: list[str], to: str, *, batch: int = 64, max_tokens: int = 100
) -> list[str]:
    """Greedy translations, in order. Sentences of like length are batched together."""
    encoded = [codec.encode_source(sentence).ids for sentence in sentences]
    order = sorted(range(len(encoded)), key=lambda index: len(encoded[index]))
    out = [""] * len(sentences)
    device = model.embedding.weight.device
    for start in range(0, len(order), batch):
        rows = order[start : start + batch]
        src = torch.nn.utils.rnn.pad_sequence(
            [torch.tensor(encoded[row]) for row in rows], batch_first=True, padding_value=codec.pad_id
        ).to(device)
        src_mask = model.src_mask(src)
        stepper = Stepper(model, model.encode(src, src_mask), src_mask, capacity=max_tokens)
        first = torch.full((len(rows),), codec.bos_id(to), device=device)
        vocabulary = Vocabulary(codec.eos_id, codec.never_generated)
        for row, ids in zip(rows, decode(stepper, first, vocabulary, max_tokens=max_tokens), strict=True):
            out[row] = codec.text(ids)
    return out


def score(model: Transformer, codec: TextCodec, pairs: list[Pair], to: str) -> Score:
    """Greedy scores on `(English, reference)` pairs."""
    hypotheses = translate(model, codec, [english for english, _ in pairs], to)
    references = [[reference for _, reference in pairs]]
    bleu = sacrebleu.corpus_bleu(hypotheses, references, tokenize="zh" if to == "zh" else "13a")
    return Score(bleu.score, sacrebleu.corpus_chrf(hypotheses, references).score, len(pairs))
