"""`python -m tools.pairs.distillation`: a trained model's translations as pairs to train on (Kim & Rush 2016).

A sentence of the corpus has many right translations, and a model that learns from one of each learns to waver between
them. A beam's translations agree with each other better. Where the corpus has translations of a sentence, the one of
the beam that is closest to them all is taken, and only if it is close; where it has none, the beam's first, and only if
the model is sure of it. Sentences of the dev split are in neither.
"""

import argparse
import random
import sys
from collections.abc import Sequence
from pathlib import Path

import torch
from sacrebleu.metrics.chrf import CHRF
from tqdm import tqdm

from attnviz.models.translator.translator import Translator
from attnviz.training.averaging import run
from attnviz.training.corpus import Pair, read_pairs, write_pairs
from tools.pairs.beam_search import BeamSearch, BeamTranslation

_CHRF = CHRF()


def distil(
    search: BeamSearch, references: dict[str, list[str]], english: Sequence[str], to: str, *, beam: int, least: float,
    surest: float,
) -> list[Pair]:  # fmt: skip
    """Make a pair for each sentence of `english` whose translation is good enough, in their order.

    Those with `references` need a chrF of `least` (0 to 100) with them, on average; the others a mean log-probability
    of `surest` a token (nats). A translation that is itself a reference is a pair already, and is kept: it counts more.
    """
    pairs = []
    found = search.translations(english, to, beam=beam, best=beam)
    for sentence, hypotheses in tqdm(zip(english, found, strict=True), total=len(english), desc=to, mininterval=5):
        if sentence in references:
            rated = [(_closeness(each, references[sentence]), each.text) for each in hypotheses]
            close, text = max(rated)
            good = close >= least
        else:
            text, good = hypotheses[0].text, hypotheses[0].score >= surest
        if good and text:
            pairs.append((sentence, text))
    return pairs


def _closeness(hypothesis: BeamTranslation, references: Sequence[str]) -> float:
    return sum(_CHRF.sentence_score(hypothesis.text, [each]).score for each in references) / len(references)


def _draw_sentences(references: dict[str, list[str]], others: Sequence[str], options: argparse.Namespace) -> list[str]:
    """Draw the sentences to translate by the seed: so many with references, so many without."""
    draw = random.Random(f"{options.seed}/{options.to}")
    known, unknown = sorted(references), sorted(set(others) - references.keys())
    return [
        *draw.sample(known, min(options.known, len(known))),
        *draw.sample(unknown, min(options.unknown, len(unknown))),
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the pairs of one language; return the exit status."""
    return run(_parser(), _write, arguments)


def _write(options: argparse.Namespace) -> str:
    translator = Translator.load(options.model, device=torch.device("cpu"), dtype=torch.float32)
    references: dict[str, list[str]] = {}
    for english, reference in read_pairs(options.data / f"en-{options.to}.train.tsv.gz"):
        references.setdefault(english, []).append(reference)
    others = [
        english for path in sorted(options.data.glob("en-*.train.tsv.gz")) for english, _ in read_pairs(path)
    ]  # an English sentence is in the same split in every language
    search = BeamSearch(translator.model, translator.codec, workers=options.threads)
    pairs = distil(
        search, references, _draw_sentences(references, others, options), options.to, beam=options.beam,
        least=options.least, surest=options.surest,
    )  # fmt: skip
    write_pairs(options.out, pairs)
    return f"{len(pairs):,} pairs in {options.out.name}"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tools.pairs.distillation", description=__doc__)
    parser.add_argument("--model", type=Path, required=True, help="folder of the trained model that translates")
    parser.add_argument("--data", type=Path, required=True, help="folder with en-XX.train.tsv.gz")
    parser.add_argument("--to", required=True, help="the language to translate into, such as fr")
    parser.add_argument("--out", type=Path, required=True, help="where to write the pairs: a .tsv.gz")
    parser.add_argument("--known", type=int, default=40_000, help="how many sentences that have translations")
    parser.add_argument("--unknown", type=int, default=0, help="how many that have none in this language")
    parser.add_argument("--beam", type=int, default=4, help="width of the beam")
    parser.add_argument("--least", type=float, default=40.0, help="chrF with the translations there are, at least")
    parser.add_argument("--surest", type=float, default=-0.3, help="mean log-probability a token, at least")
    parser.add_argument("--threads", type=int, default=1, help="how many sentences at once")
    parser.add_argument("--seed", type=int, default=1, help="which sentences are drawn")
    return parser


if __name__ == "__main__":
    sys.exit(main())
