"""How a class's answers that were typed are brought together for its screen."""

from attnviz.classroom.page.results import count_typed
from attnviz.classroom.state import WrittenText


def test_what_is_right_is_written_as_the_model_writes_it_whoever_typed_it_how() -> None:
    said = [
        WrittenText(1, "JE T'AIME !!! (mine)"),
        WrittenText(2, "JE  T'AIME!"),
        WrittenText(3, "je t'aime"),
        WrittenText(4, "Quokkas."),
    ]
    assert count_typed(said, "Je t'aime.") == (["Je t'aime.", "others"], [2, 2], 0)


def test_a_text_that_is_picked_is_written_as_it_was_typed() -> None:
    said = [
        WrittenText(1, "Je TE veux.", is_picked=True),
        WrittenText(2, "je te veux", is_picked=True),
        WrittenText(3, "Quokkas."),
    ]
    assert count_typed(said, "Je t'aime.") == (["Je TE veux.", "others"], [2, 1], None)


def test_without_a_truth_only_what_is_picked_is_written() -> None:
    assert count_typed([WrittenText(1, "Quokkas.")], None) == (["others"], [1], None)
