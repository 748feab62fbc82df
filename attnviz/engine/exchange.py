"""The headers of a request to the engine, and the status, sentence and kind of a refusal."""

import json

from starlette.responses import JSONResponse, Response

# Header names; SENT and DEADLINE hold times in seconds since 1970.
ID = "X-Attnviz-Request"  # stays the same when a request is repeated
WEIGHTS = "X-Attnviz-Weights"  # id of the weights that the model should have
SENT = "X-Attnviz-Sent"  # when this attempt was sent
DEADLINE = "X-Attnviz-Deadline"  # when the answer is needed at the latest


class RefusedError(Exception):
    """The engine refuses a request, with an HTTP status and one sentence; `again` is the seconds before the
    next try.
    """

    def __init__(self, status: int, sentence: str, *, kind: str = "", again: int = 0) -> None:
        super().__init__(sentence)
        self.status, self.kind, self.again = status, kind, again

    def response(self) -> Response:
        """Return the refusal as an HTTP response."""
        headers = {"Retry-After": str(self.again)} if self.again else {}
        return JSONResponse({"error": str(self), "type": self.kind}, self.status, headers)


def refusal_of(content: bytes) -> tuple[str, str]:
    """Return the sentence and the kind of a refusal from a response's content; ("", "") for any other content."""
    try:
        said = json.loads(content)
        return str(said["error"]), str(said["type"])
    except (ValueError, KeyError, TypeError):
        return "", ""
