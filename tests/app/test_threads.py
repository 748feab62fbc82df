"""Before torch: ATTNVIZ_THREADS is a number of threads, or one sentence says what it should be; the log stays quiet."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from attnviz.app.cache import threads


@pytest.fixture(autouse=True)
def one_thread_afterwards():
    yield
    torch.set_num_threads(1)


@pytest.mark.parametrize(("said", "count"), [(None, 1), ("", 1), ("1", 1), (" 2 ", 2)])
def test_a_number_of_threads_is_taken(said, count, monkeypatch) -> None:
    monkeypatch.delenv("ATTNVIZ_THREADS", raising=False)
    if said is not None:
        monkeypatch.setenv("ATTNVIZ_THREADS", said)
    threads.prepare()
    assert torch.get_num_threads() == count


def test_the_app_multiplies_float32_in_float32_whatever_the_machine_is_set_to(monkeypatch) -> None:
    monkeypatch.delenv("ATTNVIZ_THREADS", raising=False)
    torch.set_float32_matmul_precision("high")
    threads.prepare()
    assert torch.get_float32_matmul_precision() == "highest"


@pytest.mark.parametrize("said", ["0", "-1", "abc", "1.5", "\u00b2", "1025", "9" * 5000])
def test_anything_else_is_refused_in_one_sentence(said, monkeypatch) -> None:
    monkeypatch.setenv("ATTNVIZ_THREADS", said)
    with pytest.raises(
        ValueError, match=r"ATTNVIZ_THREADS=.* is not a number of threads. Please set it to a number from 1 to 1024"
    ):
        threads.prepare()


@pytest.mark.parametrize(("characters", "said", "count"), [(3999, "", 1), (4000, "", 3), (4000, "1", 1)])
def test_a_long_text_gets_every_core_unless_somebody_said_how_many(characters, said, count, monkeypatch) -> None:
    monkeypatch.setenv("ATTNVIZ_THREADS", said)
    monkeypatch.setattr(os, "cpu_count", lambda: 3)
    with threads.enough_for(characters):
        assert torch.get_num_threads() == count
    assert torch.get_num_threads() == 1


def test_measuring_memory_prints_nothing_into_the_servers_log() -> None:
    code = "from attnviz.app.cache import traces; from attnviz.analysis.peak_memory import warm_up; warm_up()"
    quiet = {name: value for name, value in os.environ.items() if name != "KINETO_LOG_LEVEL"}
    ran = subprocess.run(
        [sys.executable, "-c", code],
        cwd=Path(__file__).parents[2],
        env=quiet,
        capture_output=True,
        text=True,
        check=True,
    )
    assert not ran.stdout
    assert not ran.stderr
