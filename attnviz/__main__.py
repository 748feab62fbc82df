"""The shell: `python -m attnviz translate --to zh < sentences.txt`, `… trace "I love you." --to fr --out love.npz`."""

import argparse
import os
import sys
from collections.abc import Iterable
from io import TextIOWrapper
from itertools import islice
from pathlib import Path
from typing import TextIO

_CHUNK = 1_024  # lines read before the first are written: enough to batch by length


def main(arguments: list[str] | None = None) -> int:
    """Run one command; returns the exit status: 2 for unusable input, with one sentence on standard error."""
    options = _parser().parse_args(arguments)
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # before torch: threads that spin starve each other
    try:
        return options.run(options)
    except BrokenPipeError:
        return _reader_gone()
    except (ValueError, OSError) as error:
        print(f"attnviz: {error}", file=sys.stderr)
        return 2


def _reader_gone() -> int:
    """Whoever read our output has had enough (`| head`): no error, and nothing more to flush at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def _translate(options: argparse.Namespace) -> int:
    import attnviz

    model = attnviz.load(options.model)
    lines = (line.rstrip("\r\n") for line in _utf8(sys.stdin))
    while chunk := list(islice(lines, _CHUNK)):
        for translation in model.translate(chunk, to=options.to):
            print(translation, flush=False)
        sys.stdout.flush()
    return 0


def _trace(options: argparse.Namespace) -> int:
    import attnviz

    trace = attnviz.load(options.model).trace(options.text, to=options.to, tgt_text=options.target)
    trace.save(options.out)
    for note in trace.info.notes:
        print(f"attnviz: {note}", file=sys.stderr)
    shapes = ", ".join(f"{kind} {'x'.join(map(str, trace.attn(kind).shape))}" for kind in trace.kinds)
    print(f"{trace.tgt_text}\n{options.out}: {shapes} (layers x heads x query x key)")
    return 0


def _utf8(stream: TextIO) -> Iterable[str]:
    for each in (stream, sys.stdout):
        if isinstance(each, TextIOWrapper):
            each.reconfigure(encoding="utf-8", errors="replace")
    yield from stream


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m attnviz", description="See how multi-head attention works.")
    commands = parser.add_subparsers(required=True, metavar="command")
    translate = commands.add_parser("translate", help="one translation a line of standard input, in the same order")
    trace = commands.add_parser("trace", help="run one sentence and save what every head did")
    trace.add_argument("text", help="the English sentence")
    trace.add_argument("--target", help="a translation to trace instead of the model's own")
    trace.add_argument("--out", type=Path, required=True, help="an .npz file; attnviz.tracing.storage lists its keys")
    for command, run in ((translate, _translate), (trace, _trace)):
        command.add_argument("--to", required=True, help="the language to write, such as fr or zh")
        command.add_argument("--model", default=_default_model(), help="a shipped model's name, or a checkpoint folder")
        command.set_defaults(run=run)
    return parser


def _default_model() -> str:
    from attnviz.models.catalogue import DEFAULT

    return DEFAULT


if __name__ == "__main__":
    sys.exit(main())
