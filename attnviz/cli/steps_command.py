"""`python -m attnviz steps "I love you." --to fr`: decode step by step, and compare the result with one pass.

The steps are the same as those of `model.stepwise` and of the page Decoding.
"""

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from attnviz.cli.chat_arguments import add_chat, chat_turns, input_arguments

if TYPE_CHECKING:
    import torch

    from attnviz.decoding.numbers.verdict import Verdict
    from attnviz.models.decoding_record import DecodingRecord
    from attnviz.models.protocol import Step
    from attnviz.models.translator.stepwise import Plan
    from attnviz.models.translator.translator import Translator
    from attnviz.text.conversation import Turn
    from attnviz.text.tokenizer import Encoded
    from attnviz.text.tokens import Token
    from attnviz.tracing.trace import Trace
    from attnviz.transformer.beam import Beam
    from attnviz.transformer.decoding import Choose

_OF_SAMPLE = ("seed", "temperature", "top_k", "top_p")
COLUMNS = ("step", "goes in", "comes out", "probability", "looks back at", "looks at")


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments, except those for language and model."""
    parser.add_argument("text", nargs="?", help="the sentence")
    add_chat(parser)
    parser.add_argument("--target", help="a target to feed at each step, whatever the model would choose")
    parser.add_argument("--new-tokens", type=int, help="how many tokens a decoder writes after its prompt")
    parser.add_argument("--recompute", action="store_true", help="run the whole prefix at every step: no KV cache")
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--beam", type=int, metavar="N", help="keep N sentences and write the best")
    how.add_argument("--sample", action="store_true", help="draw each token instead of taking the most likely")
    parser.add_argument("--seed", type=int, help="seed of --sample (0)")
    parser.add_argument("--temperature", type=float, help="temperature of --sample (1)")
    parser.add_argument("--top-k", type=int, help="for --sample: draw only from this many most likely tokens")
    parser.add_argument(
        "--top-p", type=float, help="for --sample: draw only from the most likely tokens with this total probability"
    )


def lines(options: argparse.Namespace) -> Iterator[str]:
    """Yield a line per step, with columns separated by tabs.

    After these come lines that begin with #: notes on truncated texts, and the result of the comparison. Raises
    ValueError for unusable input.
    """
    from attnviz.models import catalogue, chat

    if not options.sample and (given := [name for name in _OF_SAMPLE if getattr(options, name) is not None]):
        raise ValueError(f"--{given[0].replace('_', '-')} says how to draw tokens. Please also pass --sample.")
    given = chat_turns(options)
    if not catalogue.is_translator(options.model):
        return _checkpoint_lines(options, catalogue.load(options.model), given)
    model = catalogue.translator(options.model)
    if given:
        chat.require(model)
    return _translator_lines(options, model)


def _translator_lines(options: argparse.Namespace, model: "Translator") -> Iterator[str]:
    from attnviz.decoding.numbers.verdict import judge
    from attnviz.models.decoding_record import decoding_record
    from attnviz.models.translator.stepwise import steps, teacher_forced
    from attnviz.text.limits import prefix_notes

    if options.to is None:
        raise ValueError(f"Choose the language to write with --to: {', '.join(model.languages)}.")
    if options.new_tokens is not None:
        raise ValueError(f"{model.name} takes no --new-tokens: it stops at the end of its sentence.")
    teacher = _teacher(options, model)
    made = decoding_record(steps(model, options.text, _plan(options, model, None if teacher is None else teacher.ids)))
    for row in (COLUMNS, *_rows(made, model)):
        yield "\t".join(row)
    for note in (*_notes(model, options.text), *prefix_notes("Target", () if teacher is None else teacher.notes)):
        yield f"# {note}"
    yield _verdict(judge(made, lambda probe: teacher_forced(model, options.text, made.ids, to=options.to, probe=probe)))


def _checkpoint_lines(options: argparse.Namespace, model: Any, given: "tuple[Turn, ...]") -> Iterator[str]:
    """Yield the lines for a checkpoint. Its steps are compared with one pass over the tokens that it wrote."""
    from dataclasses import replace

    from attnviz.decoding.numbers.verdict import judge
    from attnviz.models.decoding_record import decoding_record
    from attnviz.text.limits import cuts_are_shown

    read = input_arguments(given, options.text, model)
    with cuts_are_shown():
        steps = model.stepwise(**read, cached=not options.recompute, **_arguments(options, model))
    kept: list[Trace] = []

    def first_kept() -> "Iterator[Step]":
        for step in steps:
            kept[:] = kept or [step.trace]
            yield step

    made = decoding_record(first_kept())
    for row in (COLUMNS, *_rows(made, model)):
        yield "\t".join(row)
    yield from (f"# {note}" for note in kept[0].info.notes)
    sentence = replace(kept[0].sentences[0], tgt=(*made.fed, made.chosen[-1]), cut=False, first_row=0)
    through = replace(kept[0], sentences=(sentence,))
    yield _verdict(judge(made, lambda probe: model.rerun(through, probe)))


def _arguments(options: argparse.Namespace, model: Any) -> dict[str, Any]:
    """Return the keyword arguments for `stepwise`. Raises ValueError for options that the checkpoint does not take."""
    no_language = options.to is not None and not model.languages
    for option, is_given in (("--to", no_language), ("--beam", options.beam is not None)):
        if is_given:
            raise ValueError(f"{model.name} does not accept {option}, because only translators do.")
    asked: dict[str, Any] = {"choose": _choose(options, model)}
    if options.to is not None:
        asked["to"] = options.to
    if options.target is not None and options.target.strip():
        asked["tgt_text"] = options.target
    return asked | ({} if options.new_tokens is None else {"new_tokens": options.new_tokens})


def _notes(model: "Translator", text: str) -> tuple[str, ...]:
    from attnviz.text.limits import prefix_notes

    return prefix_notes("Source", model.codec.encode_source(text).notes)


def _teacher(options: argparse.Namespace, model: "Translator") -> "Encoded | None":
    """Return the target that is fed to the decoder, encoded; None without a target or for a blank one."""
    if options.target is None or not options.target.strip():
        return None
    return model.codec.encode_target(options.target, options.to)


def _plan(options: argparse.Namespace, model: "Translator", teacher: tuple[int, ...] | None) -> "Plan":
    from attnviz.models.translator.stepwise import Plan

    limit = model.decoding_limit(options.text)
    return Plan(options.to, teacher, cached=not options.recompute, choose=_choose(options, model), max_tokens=limit)


def _choose(options: argparse.Namespace, model: Any) -> "Choose | Beam":
    import torch

    from attnviz.transformer.beam import Beam
    from attnviz.transformer.decoding import Sampling, likeliest_ids

    if options.beam is not None:
        return Beam(options.beam)
    if not options.sample:
        return likeliest_ids
    generator = torch.Generator(model.device).manual_seed(options.seed or 0)
    temperature = 1.0 if options.temperature is None else options.temperature
    return Sampling(generator, temperature, options.top_k, options.top_p)


def _rows(made: "DecodingRecord", model: Any) -> Iterator[tuple[str, ...]]:
    """Yield the columns of each step.

    The last two columns are the most attended tokens, by the mean over layers and heads, in the target and in the
    source. A decoder has no source.
    """
    from attnviz.text.display import display_token

    probabilities = model.vocabulary.forbid(made.logits).softmax(dim=-1)
    own = made.attn["decoder_self"].mean(dim=(0, 1))
    cross = made.attn["cross"].mean(dim=(0, 1)) if "cross" in made.attn else None
    for step, (fed, chosen) in enumerate(zip(made.fed, made.chosen, strict=True)):
        looks = _strongest_key(own[step], made.fed), "" if cross is None else _strongest_key(cross[step], made.src)
        texts = display_token(fed), display_token(chosen)
        yield (str(step), *texts, f"{float(probabilities[step, chosen.id]):.4f}", *looks)


def _strongest_key(row: "torch.Tensor", keys: "tuple[Token, ...]") -> str:
    from attnviz.text.display import display_token

    place = int(row.argmax())
    return f"{display_token(keys[place])} {float(row[place]):.2f}"


def _verdict(found: "Verdict") -> str:
    word = "equal to one pass" if found.holds else "not equal to one pass"
    place = found.first_break or found.closest_place
    where = f"{place.line.name}, position {place.position}"
    share = f"{place.share:.2g} of the {place.allowed:.1e} that rounding allows there in {found.dtype}"
    return f"# {word}: |Δ| {place.delta:.1e} at {place.line.stack} {where}, {share}"
