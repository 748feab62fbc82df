"""`attnviz reply "What is the capital of France?" --model FOLDER`: print a chat model's answer while it is written."""

import argparse
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from attnviz.cli.chat_arguments import add_chat, chat_turns

if TYPE_CHECKING:
    from attnviz.models.protocol import Step

_OPEN = "\ufffd"  # what the bytes of a character show as, until the last of them is written


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("text", nargs="?", help="what the user says")
    add_chat(parser)
    parser.add_argument("--system", help="what the system says first, before a text")
    parser.add_argument("--new-tokens", type=int, default=256, help="at most how many tokens are written (256)")
    parser.add_argument("--temperature", type=float, help="draw each token, at this temperature")
    parser.add_argument("--top-p", type=float, help="draw only from the most likely tokens with this total probability")
    parser.add_argument("--seed", type=int, default=0, help="seed of the draws (0)")
    parser.add_argument("--model", required=True, help="a checkpoint's folder or a hub id, with a chat template")


def run(options: argparse.Namespace, progress: Callable[[float, str], None] | None) -> int:
    """Write the reply to standard output, and notes to standard error. Raises ValueError for unusable input."""
    from attnviz.models import catalogue, chat

    messages = _messages(options)
    model: Any = catalogue.load(options.model, progress=progress)
    chat.require(model)
    steps = model.reply(
        messages, new_tokens=options.new_tokens, temperature=options.temperature, top_p=options.top_p, seed=options.seed
    )
    notes: list[str] = []
    for text in _texts(model, steps, notes):
        print(text, end="", flush=True)
    print()
    for note in notes:
        print(f"attnviz: {note}", file=sys.stderr)
    return 0


def _messages(options: argparse.Namespace) -> list[dict[str, str]]:
    """Return the conversation that the model should answer."""
    given = chat_turns(options)
    if options.system is not None and given:
        raise ValueError("Give --system with a text only: a conversation has its own system turn.")
    if given:
        return [turn.as_message for turn in given]
    told = [] if options.system is None else [{"role": "system", "content": options.system}]
    return [*told, {"role": "user", "content": options.text}]


def _texts(model: Any, steps: "Iterator[Step]", notes: list[str]) -> Iterator[str]:
    """Yield the text that each step adds. Fill `notes` with the notes of the first step."""
    ids: list[int] = []
    written = text = ""
    for step in steps:
        notes[:] = notes or step.trace.info.notes
        if step.token.id in model.vocabulary.ends:
            break
        ids.append(step.token.id)
        text = model.decode_ids(ids)[0]
        ready = text.rstrip(_OPEN)
        if ready.startswith(written):
            yield ready[len(written) :]
            written = ready
    yield text[len(written) :]
