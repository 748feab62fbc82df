"""Which invented students have answered by now, without waiting for them."""

from attnviz.classroom.rehearsal.rehearsals import finished_turns, hinted_turns, turns, walks
from attnviz.classroom.state import AFTER, BEFORE

SIZE = 30


def test_the_same_seed_and_question_give_the_same_turns_and_others_give_others() -> None:
    found = turns("ABCD", SIZE, 2, BEFORE)
    assert found == turns("ABCD", SIZE, 2, BEFORE)
    assert [turn.student for turn in found] == list(range(1, SIZE + 1))
    others = [turns("ABCE", SIZE, 2, BEFORE), turns("ABCD", SIZE, 3, BEFORE), turns("ABCD", SIZE, 2, AFTER)]
    assert found not in others


def test_answers_come_one_by_one_some_late_and_some_never() -> None:
    found = turns("ABCD", SIZE, 0, BEFORE)
    counts = [len(finished_turns(found, seconds)) for seconds in range(0, 3600, 2)]
    assert counts == sorted(counts)
    assert counts[0] == 0
    assert len(set(counts)) > 8, "not all at once"
    assert counts[-1] == SIZE - 2, "two never answer"
    assert SIZE - 2 - len(finished_turns(found, 45)) == 3, "three are late"
    assert 10 <= len(finished_turns(found, 15)) < SIZE - 5


def test_some_are_right_and_in_the_second_round_half_of_the_others_have_changed_their_mind() -> None:
    for size in range(2, SIZE + 1):
        first, second = (
            {turn.student for turn in turns("E", size, 0, name) if turn.is_right} for name in (BEFORE, AFTER)
        )
        assert 0 < len(first) < size
        assert first < second, "nobody who was right is wrong afterwards"
        assert len(second) - len(first) == (size - len(first) + 1) // 2


def test_some_open_a_hint_before_they_answer() -> None:
    found = turns("ABCD", SIZE, 0, BEFORE)
    hinted = hinted_turns(found, 3600)
    assert 0 < len(hinted) <= 5
    first = min(hinted, key=lambda turn: turn.after or 0)
    assert first in hinted_turns(found, (first.after or 0) * 0.6)
    assert first not in finished_turns(found, (first.after or 0) * 0.6)


def test_who_walks_alone_answers_the_steps_in_order_and_stays_where_they_do_not_answer() -> None:
    asks = [True, False, True, True]
    begun, ended = walks("ABCD", SIZE, asks, 1.0), walks("ABCD", SIZE, asks, 3600)
    assert {walk.at for walk in begun} == {0}
    assert len({walk.at for walk in walks("ABCD", SIZE, asks, 25)}) > 1
    for walk in ended:
        assert walk.answered in ((0, 2, 3), (0, 2), (0,), ())
        stays = next((at for at in range(4) if turns("ABCD", SIZE, at, BEFORE)[walk.student - 1].after is None), 3)
        assert walk.at == stays
