"""Headers of a request, and the status, sentence and kind of a refusal."""

import json

from starlette.responses import JSONResponse, Response

# Headers; two are times in seconds since 1970.
ID = "X-Attnviz-Request"  # the same each time that a request is repeated
WEIGHTS = "X-Attnviz-Weights"  # that a model should have
SENT = "X-Attnviz-Sent"  # when it was sent, this time
DEADLINE = "X-Attnviz-Deadline"  # until when an answer is wanted


class RefusedError(Exception):
    """A refusal: its status, and one sentence. `again` is when to ask again, in seconds."""

    def __init__(self, status: int, sentence: str, *, kind: str = "", again: int = 0) -> None:
        super().__init__(sentence)
        self.status, self.kind, self.again = status, kind, again

    def response(self) -> Response:
        """Return it as an HTTP response."""
        headers = {"Retry-After": str(self.again)} if self.again else {}
        return JSONResponse({"error": str(self), "type": self.kind}, self.status, headers)


def refusal_of(content: bytes) -> tuple[str, str]:
    """Return the sentence and the kind of a refusal; ("", "") for any other content."""
    try:
        said = json.loads(content)
        return str(said["error"]), str(said["type"])
    except (ValueError, KeyError, TypeError):
        return "", ""
