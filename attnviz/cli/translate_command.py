"""`python -m attnviz translate --to zh < sentences.txt`: print a translation per input line, as soon as it is ready."""

import argparse
import os
import select
import sys
from collections.abc import Callable, Iterator
from typing import Any, TextIO

_MANY, _FEW = 1_024, 32  # lines translated together: enough to batch by length; few on a terminal
_PAUSE = 0.05  # seconds without another line, after which those that are there are translated
_PIECE = 1 << 16


def run(options: argparse.Namespace, progress: Callable[[float, str], None] | None) -> int:
    """Translate standard input.

    For unusable input, write the translations of the lines before it, and raise ValueError.
    """
    from attnviz.models import catalogue

    chunks = chunks_of(sys.stdin, most=_FEW if sys.stdout.isatty() else _MANY)
    if not catalogue.is_translator(options.model):
        return _checkpoint_lines(catalogue.load(options.model, progress=progress), options, chunks)
    model, first = catalogue.translator(options.model), 1
    if options.to is None:
        raise ValueError(f"Choose the language to write with --to: {', '.join(model.languages)}.")
    for chunk in chunks:
        for translation in model.translate(chunk, to=options.to, tell=_teller(first)):
            print(translation)
        sys.stdout.flush()
        first += len(chunk)
    return 0


def chunks_of(stream: TextIO, *, most: int) -> Iterator[list[str]]:
    """Yield lists of up to `most` lines; fewer if the next line does not arrive at once.

    For a line that is not UTF-8, yield the lines before it, and raise ValueError.
    """
    number, rest, lines = 0, b"", []
    for piece in _pieces(stream):
        *whole, rest = (rest + piece).split(b"\n")
        for line in whole:
            number += 1
            try:
                lines.append(line.decode("utf-8" if number > 1 else "utf-8-sig").rstrip("\r"))
            except UnicodeDecodeError as error:
                if lines:
                    yield lines
                raise ValueError(
                    f"line {number} is not UTF-8 (byte 0x{line[error.start]:02X}): convert the text first, for example "
                    "with iconv -f latin1 -t utf-8."
                ) from None
            if len(lines) == most:
                yield lines
                lines = []
        if lines and not piece:  # a pause
            yield lines
            lines = []
    if lines:
        yield lines


def _pieces(stream: TextIO) -> Iterator[bytes]:
    """Yield pieces of the input as they arrive, and b"" whenever nothing arrives within the waiting time.

    A newline is added if the last line has none.
    """
    try:
        file = stream.fileno()
    except OSError:  # not a file: what a test, or another program, put in its place
        text = stream.read()
        yield (text if text.endswith("\n") or not text else f"{text}\n").encode("utf-8", "surrogateescape")
        return
    last = b"\n"
    while True:
        if not _has_more(file):
            yield b""
        piece = os.read(file, _PIECE)
        if not piece:
            yield b"" if last.endswith(b"\n") else b"\n"
            return
        yield piece
        last = piece


def _has_more(file: int) -> bool:
    """Check whether input, or the end of the input, arrives within the waiting time."""
    try:
        return bool(select.select([file], [], [], _PAUSE)[0])
    except (OSError, ValueError):  # what cannot be asked: a pipe on Windows
        return False


def _checkpoint_lines(model: Any, options: argparse.Namespace, chunks: Iterator[list[str]]) -> int:
    """Print a checkpoint's translations, one line per input line. Return the exit status."""
    if options.to is not None and not model.languages:
        raise ValueError(f"{model.name} does not accept --to, because it has only one output language.")
    to = {"to": options.to} if options.to is not None else {}
    if not model.inputs.takes_target or not model.writes:
        raise ValueError(f"{model.name} cannot translate. Give an encoder-decoder model or a shipped model.")
    for number, line in enumerate((line for chunk in chunks for line in chunk), start=1):
        written, notes = model.write_target(line, **to) if line.strip() else ("", ())
        print(written.replace("\n", " "), flush=True)
        for note in notes:
            _teller(number)(0, note)
    return 0


def _teller(first: int) -> Callable[[int, str], None]:
    """Return a function that writes a note about a truncated line to standard error; `first` is the first
    line's number.
    """

    def tell(index: int, note: str) -> None:
        print(f"attnviz: line {first + index}: {note[0].lower()}{note[1:]}", file=sys.stderr)

    return tell
