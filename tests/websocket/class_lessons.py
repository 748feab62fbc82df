"""Lessons of one step for classes on the websocket, and an answer to each kind of question."""

from tests.lessons.front_matter import FRONT_MATTER

LESSON = (
    FRONT_MATTER
    + """## First

/heads?src=I+love+you.&to=fr&tgt=Je+t%27aime.&kind=cross&layer=1&head=0

```question
kind: translation
ask: What does it write?
hints: [Plum is one word., A hint that is nearly the answer.]
why: The reason that nobody may know.
```
"""
)

TEXTS = (
    FRONT_MATTER
    + """## First

```question
kind: text
ask: Which animals?
```
"""
)

CELL = (
    FRONT_MATTER
    + """## First

/heads?src=I+love+you.&to=fr&kind=cross&layer=1&head=0

```question
kind: cell
row: "1"
ask: Which token?
```
"""
)

ASKED = (
    FRONT_MATTER
    + """## First

/heads?src=I+love+you.&to=fr&kind=cross&layer=1&head=0

```question
{question}
ask: Which is it?
```
"""
)

# A question of each kind, and an answer.
KINDS = {
    "cell": ("kind: cell\nrow: '1'", [[1, 2]]),
    "row": ("kind: row\nrow: '1'", [0.5, 0.5, 0.0, 0.0, 0.0]),
    "head": ("kind: head\nheads: [L0 H0, L1 H0]\nby: entropy", [1, 0]),
    "number": ("kind: number\nmeasure: heads", 3.0),
    "choice": ("kind: choice\noptions: [two, three]\nright: 2", 0),
    "translation": ("kind: translation", "Je t'aime."),
}

TELLING = (b"nobody may know", b"aime", b"Bob", b"Plum is one", b"nearly the answer")
