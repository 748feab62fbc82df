"""The frame of training's small commands: a wrong file ends them with one sentence."""

import argparse
import sys
from collections.abc import Callable, Sequence


def run(
    parser: argparse.ArgumentParser, work: Callable[[argparse.Namespace], str], arguments: Sequence[str] | None
) -> int:
    """Do the work with what was asked for, and print what it says; the exit status is 2 for unusable input."""
    try:
        sys.stdout.write(f"{work(parser.parse_args(arguments))}\n")
    except (ValueError, OSError, EOFError) as error:  # a gzip file that was cut short ends in EOFError
        sys.stderr.write(f"{parser.prog.removeprefix('python -m ')}: {error}\n")
        return 2
    return 0
