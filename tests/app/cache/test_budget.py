"""Caches share the memory that there is."""

import pytest

from attnviz.app.cache import budget
from attnviz.app.cache.bounded import BoundedCache


def limits(root, *, v2: str = "", v1: str = "") -> None:
    for text, place in ((v2, "sys/fs/cgroup/memory.max"), (v1, "sys/fs/cgroup/memory/memory.limit_in_bytes")):
        if text:
            (root / place).parent.mkdir(parents=True, exist_ok=True)
            (root / place).write_text(text + "\n", encoding="ascii")


@pytest.mark.parametrize("given", [{"v2": "2000000000"}, {"v1": "2000000000"}, {"v2": "max", "v1": "2000000000"}])
def test_a_container_s_limit_holds_over_the_machine_s_memory(tmp_path, given):
    limits(tmp_path, **given)
    assert budget.memory(tmp_path) == 2e9


V1, V2 = "sys/fs/cgroup/memory", "sys/fs/cgroup"
SERVICE = "/system.slice/attnviz.service"


@pytest.mark.parametrize(
    ("group", "file"),
    [
        (f"0::{SERVICE}", f"{V2}{SERVICE}/memory.max"),
        (f"0::{SERVICE}", f"{V2}{SERVICE}/memory.high"),
        (f"0::{SERVICE}", f"{V2}/system.slice/memory.max"),
        (f"5:pids:/else\n4:cpu,memory:{SERVICE}\n0::/", f"{V1}{SERVICE}/memory.limit_in_bytes"),
        (f"4:memory:{SERVICE}", f"{V1}/system.slice/memory.limit_in_bytes"),
        ("4:memory:/docker/named-outside", f"{V1}/memory.limit_in_bytes"),
        ("0::/../../else:where", f"{V2}/memory.max"),
        ("no such line", f"{V2}/memory.max"),
        ("", f"{V1}/memory.limit_in_bytes"),
    ],
)
def test_the_limit_of_a_service_holds_and_of_what_is_around_it(tmp_path, group, file):
    (tmp_path / "proc/self").mkdir(parents=True)
    (tmp_path / "proc/self/cgroup").write_text(group + "\n", encoding="utf-8")
    limits(tmp_path, v2="3000000000", v1="3000000000")
    (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / file).write_text("2000000000\n", encoding="ascii")
    assert budget.memory(tmp_path) == 2e9


@pytest.mark.parametrize("given", [{}, {"v2": "max"}, {"v1": "9223372036854771712"}])
def test_without_a_limit_it_is_the_machine_s(tmp_path, given):
    limits(tmp_path, **given)
    assert budget.memory(tmp_path) == budget.memory(tmp_path / "nothing") > 1e8


def test_all_parts_together_take_no_more_than_their_share(monkeypatch):
    monkeypatch.setattr(budget, "memory", lambda: 2e9)
    monkeypatch.setenv("ATTNVIZ_MEMORY_SHARE", "0.5")
    assert sum(map(budget.bytes_for, budget.PARTS)) == pytest.approx(1e9)
    monkeypatch.setattr(budget, "memory", lambda: 1e12)
    assert sum(map(budget.bytes_for, budget.PARTS)) == pytest.approx(budget.MOST)


@pytest.mark.parametrize("said", ["much", "0", "1.5", "nan"])
def test_a_share_that_is_none_is_said(monkeypatch, said):
    monkeypatch.setenv("ATTNVIZ_MEMORY_SHARE", said)
    with pytest.raises(ValueError, match="is not a share of the memory"):
        budget.share()


def test_new_sentences_stay_within_the_traces_part():
    from attnviz.models.translator.tiny import tiny_translator

    model = tiny_translator()

    def make_trace(number: int, _=None):
        return model.trace("one" + " more" * (number % 3), to="fr", tgt_text="un")

    most = 6 * make_trace(0).nbytes()
    cache = BoundedCache(make_trace, most=most, size=lambda trace: trace.nbytes())
    for number in range(20):
        cache.get(number)
        assert cache.total <= most
    kept = [cache.get(number) for number in cache.names]
    assert cache.total == sum(trace.nbytes() for trace in kept) > most / 2


def test_the_sum_is_counted_as_things_come_and_go():
    cache = BoundedCache(lambda number, _: number, most=10, size=float)
    for number in (4, 5, 3, 4):
        cache.get(number)
    assert (cache.names, cache.total) == ((3, 4), 7)
    cache.get(20)  # the newest stays, however large
    assert (cache.names, cache.total, 20 in cache, 3 in cache) == ((20,), 20, True, False)
    cache.forget(lambda number: True)
    assert (cache.names, cache.total) == ((), 0)
