"""A process that serves a class of students who all answer at once: each acknowledged answer is a line of its output.

`python -m tests.classroom.worker DATABASE STEPS` reads tokens, one a line. An answer's client id is its student and
step, so that a worker started again sends what its forerunner may have saved.
"""

import os
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from attnviz.classroom.errors import StoreError
from attnviz.classroom.room import Classroom
from attnviz.classroom.state import BEFORE


def answer_of(number: int, at: int) -> int:
    """Return the answer of student `number` at a step."""
    return (number + at) % 3


def answer_all(address: str, tokens: list[str], steps: int, say: Callable[[str], object]) -> None:
    """Answer every step as every student, all at once; `say` is called with each acknowledged answer."""
    room = Classroom(address, lambda link: None)
    with ThreadPoolExecutor(len(tokens)) as pool:
        told = [pool.submit(_answer, room, who, steps, say) for who in enumerate(tokens)]
        for one in told:
            one.result()
    room.close()


def _answer(room: Classroom, who: tuple[int, str], steps: int, say: Callable[[str], object]) -> None:
    number, token = who
    for at in range(steps):
        while True:
            try:
                told = room.students.answer(
                    token, at, answer_of(number, at), in_round=BEFORE, client_id=f"{number} {at}"
                )
                break
            except StoreError:  # as a page does: what was typed stays, and is sent again
                continue
        say(f"{number} {at} {int(told.is_new)}")


if __name__ == "__main__":
    answer_all(sys.argv[1], sys.stdin.read().split(), int(sys.argv[2]), lambda line: os.write(1, f"{line}\n".encode()))
