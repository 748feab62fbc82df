"""The link from a reply to Heads, where every map of it is seen."""

import streamlit as st

from attnviz.analysis.reply.reply import Reply
from attnviz.pictures.reply.state import ReplyState
from attnviz.text.chat_link import write_chat
from attnviz.text.conversation import Turn
from attnviz.ui.address import persistent
from attnviz.ui.request import Request


def draw(request: Request, reply: Reply, state: ReplyState) -> None:
    """Draw the link, once something is written."""
    if not reply.spoken.strip():
        return
    site = {"kind": "decoder_self", "layer": str(state.layer), "head": str(state.head)}
    query = persistent.link_to("Heads", site | {"tab": "", "zoom": "", "new": ""} | _whole(request, reply))
    st.page_link("pages/heads.py", label="Look at it on Heads", query_params=query)


def _whole(request: Request, reply: Reply) -> dict[str, str]:
    """Write what was read and written: a conversation with the reply as its last turn, or a text."""
    if request.messages:
        return {"chat": write_chat((*request.messages, Turn("assistant", reply.spoken)))}
    return {"src": request.src + reply.spoken}
