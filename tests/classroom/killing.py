"""A class whose server is killed while all students answer: every acknowledged answer must remain."""

import subprocess
import sys
from collections import Counter
from collections.abc import Callable

from attnviz.classroom.room import Classroom
from attnviz.classroom.state import BEFORE
from tests.classroom.lesson import choices
from tests.classroom.worker import answer_all, answer_of

STUDENTS, STEPS = 30, 6


def lose_nothing(address: str, *, kill_after: int, then: Callable[[], None] = lambda: None) -> None:
    """Kill a worker with -9 after so many acknowledged answers, call `then`, answer at another server, and check the
    table.
    """
    room = Classroom(address, lambda link: None)
    key = room.teachers.start(choices(STEPS), is_guided=False)
    tokens = [room.students.join(key.code, f"Student {number}").token for number in range(STUDENTS)]
    room.close()
    acknowledged = _kill_worker(address, tokens, kill_after)
    then()
    _look(address, key, acknowledged)
    told: list[str] = []
    answer_all(address, tokens, STEPS, told.append)
    repeated = [line for line in told if line.endswith(" 0")]
    assert len(acknowledged) <= len(repeated) < STUDENTS * STEPS, "what was saved before is known again"
    _look(address, key, told, is_all=True)


def _kill_worker(address: str, tokens: list[str], kill_after: int) -> list[str]:
    """Kill a worker, and return what it had acknowledged."""
    command = [sys.executable, "-m", "tests.classroom.worker", address, str(STEPS)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as worker:
        assert worker.stdin
        assert worker.stdout
        worker.stdin.write("\n".join(tokens))
        worker.stdin.close()
        told = [worker.stdout.readline() for _ in range(kill_after)]
        worker.kill()  # SIGKILL: nothing is closed or written any more
        told += worker.stdout.readlines()
    return [line.strip() for line in told if line.endswith("\n")]


def _look(address: str, key, acknowledged: list[str], *, is_all: bool = False) -> None:
    """Check that each acknowledged answer is in the table once, as it was given."""
    room = Classroom(address, lambda link: None)
    rows = [line.split(",") for line in room.teachers.answers_csv(key).decode("utf-8-sig").splitlines()[1:]]
    there = Counter((row[0], int(row[1]) - 1, row[6]) for row in rows)
    names = ("red", "green", "blue")
    told = {
        (f"Student {number}", at, names[answer_of(number, at)])
        for number, at, *_ in (map(int, one.split()) for one in acknowledged)
    }
    assert set(there.values()) == {1}
    assert told <= set(there)
    if is_all:
        assert len(there) == STUDENTS * STEPS
        counts = [room.teachers.view(key, at).summaries[BEFORE].answered for at in range(STEPS)]
        assert counts == [STUDENTS] * STEPS
    room.close()
