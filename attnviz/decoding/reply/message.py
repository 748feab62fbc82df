"""The messages that a browser draws a reply from while it is written."""

from typing import Any

from attnviz.analysis.next_tokens import NextToken
from attnviz.decoding.reply.numbers.reply import Reply
from attnviz.decoding.reply.payload import Addition, ReplyStatus, reply_payload
from attnviz.decoding.reply.state import ReplyState
from attnviz.kit.fields import MEAN
from attnviz.kit.wire import Payload
from attnviz.models.protocol import Model
from attnviz.text.display import display, display_token


def message_since(
    model: Model, reply: Reply, state: ReplyState, since: int, *, key: str, number: int, writing: bool
) -> Payload:
    """Make the message that brings the tokens of prompt and reply from number `since` on, and the rows of one head.

    A row has its token's number; the last token has none yet.
    """
    prompt, written = len(reply.prompt.encoded.tokens), reply.written
    first = max(0, since - prompt)
    # The rows of the prompt are computed with the first token.
    first_row = min(since - 1, reply.row_count) if since > prompt else 0
    layer, head = (None if at == MEAN else at for at in state.site)
    rows = _rows(reply, layer, head, first_row)  # type: ignore[arg-type]
    added = Addition(
        since,
        reply.tokens[since:],
        [[_alternative(model, each) for each in one.alternatives] for one in written[first:]],
        [one.is_taken for one in written[first:]],
        first_row,
        rows,
    )
    status = ReplyStatus(
        key, prompt, reply.prompt.spans, writing, reply.ended, reply.limit,
        model.shapes["decoder_self"], state.site,
    )  # fmt: skip
    return reply_payload(status, added, number=number, view={"layer": state.layer, "head": state.head})


def _rows(reply: Reply, layer: int | None, head: int | None, first: int) -> list[Any]:
    if first >= reply.row_count:
        return []
    made = reply.rows.mean(layer=layer, head=head, start=first, stop=reply.row_count)
    return [row[: first + at + 1] for at, row in enumerate(made)]


def _alternative(model: Model, token: NextToken) -> tuple[str, float, float, int, str]:
    named = model.decode_ids((token.id,))[1][0]
    return display_token(named), token.probability, token.drawn, token.id, display(named.piece) if named.piece else ""
