"""What is said beside messages: headers of a request, and where there is no answer its status, sentence and kind."""

import json

from starlette.responses import JSONResponse, Response

# Headers; two are times in seconds since 1970.
ID = "X-Attnviz-Request"  # the same each time that a request is repeated
WEIGHTS = "X-Attnviz-Weights"  # that a model should have
SENT = "X-Attnviz-Sent"  # when it was sent, this time
DEADLINE = "X-Attnviz-Deadline"  # until when an answer is wanted


class RefusedError(Exception):
    """An answer that is none: its status, and one sentence. `again` is when to ask again, in seconds."""

    def __init__(self, status: int, sentence: str, *, kind: str = "", again: int = 0) -> None:
        super().__init__(sentence)
        self.status, self.kind, self.again = status, kind, again

    def response(self) -> Response:
        """As HTTP."""
        headers = {"Retry-After": str(self.again)} if self.again else {}
        return JSONResponse({"error": str(self), "type": self.kind}, self.status, headers)


def refusal_of(content: bytes) -> tuple[str, str]:
    """What an answer that is none says, and of what kind; ("", "") for anything else."""
    try:
        said = json.loads(content)
        return str(said["error"]), str(said["type"])
    except (ValueError, KeyError, TypeError):
        return "", ""
