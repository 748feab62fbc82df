"""A server that a test kills and starts again, as `kill -9` and the same command do."""

from contextlib import ExitStack
from pathlib import Path

from tests.browser.served.process import start_server
from tests.browser.server import free_port


class Restartable:
    """A server of one port, one lesson and one database, which can be started again with other settings."""

    def __init__(self, folder: Path, lesson: str, settings: dict[str, str]) -> None:
        (folder / "0.md").write_text(lesson, encoding="utf-8")
        self._folder, self._port, self._running = folder, free_port(), ExitStack()
        self._settings = settings | {
            "ATTNVIZ_DATABASE": str(folder / "classes.sqlite"),
            "ATTNVIZ_LESSONS": str(folder),
        }
        self.start()

    def start(self, **changed: str) -> None:
        """Start the server, and return when it is ready."""
        log = self._folder / "log"
        self.address, self._process = self._running.enter_context(
            start_server(log, self._settings | changed, port=self._port)
        )

    def kill(self) -> None:
        """Kill the server with `kill -9`."""
        self._process.kill()
        self._process.wait()

    def close(self) -> None:
        """End the server at the end of a test."""
        self._running.close()
