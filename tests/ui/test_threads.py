"""ATTNVIZ_THREADS: a number of threads, or one sentence that says what it should be."""

import pytest

from attnviz.ui import session


@pytest.mark.parametrize(("said", "threads"), [(None, 1), ("", 1), ("1", 1), (" 4 ", 4)])
def test_a_number_of_threads_is_taken(said, threads, monkeypatch) -> None:
    monkeypatch.delenv("ATTNVIZ_THREADS", raising=False)
    if said is not None:
        monkeypatch.setenv("ATTNVIZ_THREADS", said)
    assert session._threads() == threads


@pytest.mark.parametrize("said", ["0", "-1", "abc", "1.5", "\u00b2", "1025", "9" * 5000])
def test_anything_else_is_refused_in_one_sentence(said, monkeypatch) -> None:
    monkeypatch.setenv("ATTNVIZ_THREADS", said)
    with pytest.raises(ValueError, match=r"ATTNVIZ_THREADS=.* is not a number of threads: give one from 1 to 1024"):
        session._prepare()
