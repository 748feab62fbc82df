"""A process that serves a class of students who all answer at once: each acknowledged answer is a line of its output.

`python -m tests.classroom.worker DATABASE STEPS` reads tokens, one a line, and answers every step as every student; an
answer's client id is its student and step, so that a worker started again sends what its forerunner may have saved.
"""

import os
import sys
from concurrent.futures import ThreadPoolExecutor

from attnviz.classroom.errors import StoreError
from attnviz.classroom.room import Classroom
from attnviz.classroom.state import BEFORE


def given(number: int, at: int) -> int:
    """What student `number` answers at a step."""
    return (number + at) % 3


def main() -> None:
    """Answer everything, and say so."""
    room, steps = Classroom(sys.argv[1], lambda link: None), int(sys.argv[2])
    tokens = sys.stdin.read().split()
    with ThreadPoolExecutor(len(tokens)) as pool:
        for _ in pool.map(lambda who: _answer_all(room, *who, steps), enumerate(tokens)):
            pass


def _answer_all(room: Classroom, number: int, token: str, steps: int) -> None:
    for at in range(steps):
        while True:
            try:
                told = room.students.answer(token, at, given(number, at), in_round=BEFORE, client_id=f"{number} {at}")
                break
            except StoreError:  # as a page does: what was typed stays, and is sent again
                continue
        os.write(1, f"{number} {at} {told.given} {int(told.is_new)}\n".encode())


if __name__ == "__main__":
    main()
