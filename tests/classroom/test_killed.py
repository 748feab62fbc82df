"""A server killed with -9 while thirty students answer comes back with every acknowledged answer, once."""

from pathlib import Path

from tests.classroom.killing import lose_nothing


def test_a_killed_server_has_every_acknowledged_answer_once(tmp_path: Path) -> None:
    lose_nothing(str(tmp_path / "classes.sqlite"), kill_after=70)
