"""`python -m attnviz steps "I love you." --to fr`: a decoding step by step, then whether one pass computes the same.

The steps are those of `model.stepwise` and of the Decoding page.
"""

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

    from attnviz.analysis.decoding.verdict import Verdict
    from attnviz.models.decoding_record import DecodingRecord
    from attnviz.models.translator.stepwise import Plan
    from attnviz.models.translator.translator import Translator
    from attnviz.text.tokenizer import Encoded
    from attnviz.text.tokens import Token
    from attnviz.transformer.beam import Beam
    from attnviz.transformer.decoding import Choose

COLUMNS = ("step", "goes in", "comes out", "probability", "looks back at", "looks at")


def add(parser: argparse.ArgumentParser) -> None:
    """The command's arguments, besides language and model."""
    parser.add_argument("text", help="the sentence")
    parser.add_argument("--target", help="a teacher's target: it is fed, whatever the model would choose")
    parser.add_argument("--recompute", action="store_true", help="run the whole prefix at every step: no KV cache")
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--beam", type=int, metavar="N", help="keep N sentences and write the best")
    how.add_argument("--sample", action="store_true", help="draw each token, instead of taking the likeliest")
    parser.add_argument("--seed", type=int, default=0, help="of what --sample draws")
    parser.add_argument("--temperature", type=float, default=1.0, help="of --sample")
    parser.add_argument("--top-k", type=int, help="of --sample: only so many of the likeliest")
    parser.add_argument("--top-p", type=float, help="of --sample: only the likeliest that hold this probability")


def lines(options: argparse.Namespace) -> Iterator[str]:
    """A line a step, columns parted by tabs; behind a # what was cut, and the verdict. Raises ValueError for unusable
    input.
    """
    from attnviz.analysis.decoding.verdict import judged
    from attnviz.models.catalogue import translator
    from attnviz.models.decoding_record import decoding_record
    from attnviz.models.translator.stepwise import steps, teacher_forced
    from attnviz.text.limits import about

    model = translator(options.model)
    teacher = _teacher(options, model)
    made = decoding_record(steps(model, options.text, _plan(options, model, None if teacher is None else teacher.ids)))
    for row in (COLUMNS, *_rows(made, model)):
        yield "\t".join(row)
    for note in (*_notes(model, options.text), *about("Target", () if teacher is None else teacher.notes)):
        yield f"# {note}"
    yield _said(judged(made, lambda probe: teacher_forced(model, options.text, made.ids, to=options.to, probe=probe)))


def _notes(model: "Translator", text: str) -> tuple[str, ...]:
    from attnviz.text.limits import about

    return about("Source", model.codec.encode_source(text).notes)


def _teacher(options: argparse.Namespace, model: "Translator") -> "Encoded | None":
    """The target that is fed; a blank one is none."""
    if options.target is None or not options.target.strip():
        return None
    return model.codec.encode_target(options.target, options.to)


def _plan(options: argparse.Namespace, model: "Translator", teacher: tuple[int, ...] | None) -> "Plan":
    from attnviz.models.translator.stepwise import Plan

    limit = model.decoding_limit(options.text)
    return Plan(options.to, teacher, cached=not options.recompute, choose=_choose(options, model), max_tokens=limit)


def _choose(options: argparse.Namespace, model: "Translator") -> "Choose | Beam":
    import torch

    from attnviz.transformer.beam import Beam
    from attnviz.transformer.decoding import Sampling, likeliest

    if options.beam is not None:
        return Beam(options.beam)
    if not options.sample:
        return likeliest
    generator = torch.Generator(model.device).manual_seed(options.seed)
    return Sampling(generator, options.temperature, options.top_k, options.top_p)


def _rows(made: "DecodingRecord", model: "Translator") -> Iterator[tuple[str, ...]]:
    """A step's columns. What it looks at most is told of the mean over layers and heads."""
    from attnviz.text.display import display_token

    probabilities = model.vocabulary.forbid(made.logits).softmax(dim=-1)
    own, cross = (made.attn[kind].mean(dim=(0, 1)) for kind in ("decoder_self", "cross"))
    for step, (fed, chosen) in enumerate(zip(made.fed, made.chosen, strict=True)):
        looks = _most(own[step], made.fed), _most(cross[step], made.src)
        texts = display_token(fed), display_token(chosen)
        yield (str(step), *texts, f"{float(probabilities[step, chosen.id]):.4f}", *looks)


def _most(row: "torch.Tensor", keys: "tuple[Token, ...]") -> str:
    from attnviz.text.display import display_token

    place = int(row.argmax())
    return f"{display_token(keys[place])} {float(row[place]):.2f}"


def _said(found: "Verdict") -> str:
    word = "equal to one pass" if found.holds else "not equal to one pass"
    place = found.first_break or found.closest
    where = f"{place.line.name}, position {place.position}"
    share = f"{place.share:.2g} of the {place.allowed:.1e} that rounding allows there in {found.dtype}"
    return f"# {word}: |Δ| {place.delta:.1e} at {place.line.stack} {where}, {share}"
