"""A conversation in an address: what is written is read again, and another last question leaves the turns before it."""

from hypothesis import given
from hypothesis import strategies as some

from attnviz.text.chat_link import last_user_text, read_draft, replace_last_user_text, write_chat
from attnviz.text.conversation import ROLES, Turn

TURNS = (Turn("system", "Be brief."), Turn("user", "A cat?"), Turn("assistant", "A cat."), Turn("user", "A dog?"))


def test_another_question_takes_the_place_of_the_last_one() -> None:
    assert replace_last_user_text(TURNS, "A bird?") == (*TURNS[:3], Turn("user", "A bird?"))


def test_what_followed_the_last_question_is_left_out() -> None:
    assert replace_last_user_text(TURNS[:3], "A bird?") == (TURNS[0], Turn("user", "A bird?"))
    assert last_user_text(TURNS) == "A dog?"


@given(some.lists(some.builds(Turn, some.sampled_from(ROLES), some.text(some.characters(codec="utf-8")))).filter(bool))
def test_any_turns_come_back_as_they_were_written(turns: list[Turn]) -> None:
    kept = tuple(Turn(turn.role, turn.content.replace("\0", "\ufffd")) for turn in turns)
    assert read_draft(write_chat(turns)) == kept
