"""A lesson with a step for each way of covering, and what its pages are sent and say."""

import numpy as np
from streamlit.testing.v1 import AppTest

from attnviz.kit.wire import Payload, unpack
from tests.lessons.front_matter import FRONT_MATTER

LESSON = (
    FRONT_MATTER
    + """## A cell

/heads?src=I+love+you&to=fr&kind=cross&layer=1&head=0&tab=heads

```question
kind: cell
ask: Where is most weight in the third row?
row: "2"
hints: [A nudge., A suggestion.]
show: row
why: It is so.
```

## A row

```question
kind: row
ask: Draw the second row.
row: "1"
```

## Written

/heads?src=I+love+you&to=fr&tgt=je+t%27aime&kind=cross&layer=1&head=0

```question
kind: translation
ask: What does it write?
```

## A choice on Masks

/masks?src=I+love+you&to=fr

```question
kind: choice
ask: Two or three?
options: [two, three]
right: 2
cover: page
```
"""
)


def payload(app: AppTest) -> Payload:
    (component,) = [
        part
        for part in app.get("bidi_component")
        if part.proto.component_name == "attnviz_heads" or len(part.proto.bytes) > 500
    ]
    return unpack(component.proto.bytes)


def cross(app: AppTest) -> np.ndarray:
    """All cross-attention weights that the browser gets."""
    sent = payload(app)
    shape = next(kind["shape"] for kind in sent.header["kinds"] if kind["kind"] == "cross")
    offset = next(one["offset"] for one in sent.header["exact"] if one["kind"] == "cross")
    return np.frombuffer(sent.blobs, "<f4", int(np.prod(shape)), offset).reshape(shape)


def page_text(app: AppTest) -> str:
    parts = (*app.error, *app.info, *app.warning, *app.success, *app.markdown, *app.caption)
    return "\n".join(part.value for part in parts).replace("\\", "")
