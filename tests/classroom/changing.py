"""A student who changes an answer repeatedly from two tabs, served by two servers of one database."""

from concurrent.futures import ThreadPoolExecutor

from attnviz.classroom.room import Classroom
from attnviz.classroom.state import BEFORE, Receipt

_AT_ONCE, _IN_TURN = 30, 4


def change_everywhere(servers: tuple[Classroom, Classroom], token: str) -> None:
    """Change the answer to an open first step, in parallel and in turn, send each change again, and check each time."""

    def change(turn: int) -> Receipt:
        return servers[turn % 2].students.answer(token, 0, turn % 3, in_round=BEFORE, client_id=str(turn))

    with ThreadPoolExecutor(6) as pool:
        receipts = list(pool.map(change, range(_AT_ONCE)))
    assert [(one.given, one.is_new) for one in receipts] == [(turn % 3, True) for turn in range(_AT_ONCE)]
    every = range(_AT_ONCE + _IN_TURN)
    for turn in every[_AT_ONCE:]:
        change(turn)
        assert servers[(turn + 1) % 2].students.view(token).given == turn % 3, "the other server knows"
    assert not any(change(turn).is_new for turn in every), "what is sent again is no answer anew"
    assert servers[0].students.view(token).given == every[-1] % 3
