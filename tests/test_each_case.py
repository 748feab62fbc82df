"""A test over many cases runs each of them, and names those that fail."""

import pytest

from tests.each_case import each_case


def test_every_case_runs_and_those_that_fail_are_named() -> None:
    seen = []

    @each_case("one, other", [(1, 1), pytest.param(1, 2, id="unequal"), (3, 3), (4, 5)])
    def is_equal(fixture: str, one: int, other: int) -> None:
        seen.append((fixture, one, other))
        with pytest.raises(ZeroDivisionError):
            _ = 1 / (one - other)

    with pytest.raises(BaseExceptionGroup, match=r"^2 of 4 cases fail:\n  1, 2: Failed: .*\n  4, 5: Failed: ") as told:
        is_equal(fixture="given")
    assert seen == [("given", 1, 1), ("given", 1, 2), ("given", 3, 3), ("given", 4, 5)]
    assert [failure.__notes__ for failure in told.value.exceptions] == [["in the case 1, 2"], ["in the case 4, 5"]]


def test_cases_of_two_tables_are_crossed_and_a_table_without_cases_is_refused() -> None:
    seen = []

    @each_case("one", "ab")
    @each_case("other", [1, 2], ids=str)
    def note(one: str, other: int) -> None:
        seen.append((one, other))

    note()
    assert seen == [("a", 1), ("a", 2), ("b", 1), ("b", 2)]
    with pytest.raises(AssertionError, match="a test over no case cannot fail"):
        each_case("one", [])
