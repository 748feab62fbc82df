"""Which words two texts do not share."""

from attnviz.text.difference import display_runs, word_differences
from tests.each_case import each_case


@each_case(
    ("one", "other"),
    [
        ("Je t'aime.", "Je vous aime."),
        ("我会买更大的房子。", "我就买不大的房子。"),
        ("", "a b"),
        ("a  b\n c", "a b c"),
        ("ne traversa pas la rue", "ne traversa la rue"),
    ],
)
def test_joined_the_runs_are_the_texts(one: str, other: str) -> None:
    left, right = word_differences(one, other)
    assert "".join(text for text, _ in left) == one
    assert "".join(text for text, _ in right) == other
    assert any(differs for _, differs in (*left, *right))


def test_equal_texts_differ_nowhere_and_a_missing_word_is_marked_where_it_stood() -> None:
    assert word_differences("a b", "a b") == ((("a b", False),), (("a b", False),))
    left, right = word_differences("ne traversa pas la rue", "ne traversa la rue")
    assert [text.strip() for text, differs in left if differs] == ["pas"]
    assert not any(differs for _, differs in right)


def test_chinese_is_told_apart_by_characters() -> None:
    left, right = word_differences("我会买更大的房子", "我就买不大的房子")
    assert [text for text, differs in left if differs] == ["会", "更"]
    assert [text for text, differs in right if differs] == ["就", "不"]


def test_a_phrase_that_differs_is_one_run_and_its_spaces_stay_spaces() -> None:
    left, right = word_differences("Un gros chien dort.", "La petite chatte rit.")
    assert left == (("Un gros chien dort.", True),)
    assert right == (("La petite chatte rit.", True),)
    assert display_runs([(" ", False), ("a\u200bb", True)]) == [(" ", False), ("a U+200B b", True)]
