"""The run of a step's link: the model, its trace, and the head in focus. Imports no page."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from attnviz.lessons.lesson import Link
from attnviz.lessons.question import Question
from attnviz.maps.cover import Cover
from attnviz.maps.options import MapOptions
from attnviz.models import chat
from attnviz.text.chat_link import read_chat

if TYPE_CHECKING:
    from attnviz.maps.maps import EagerMaps
    from attnviz.models.protocol import Model
    from attnviz.tracing.trace import Trace
    from attnviz.transformer.probe import Kind

MEAN = "mean"
_FIRST = {"Heads": "cross", "Masks": "decoder_self", "Decoding": "cross", "Anatomy": "encoder_self"}


@dataclass(frozen=True, eq=False)
class LinkedPicture:
    """A link with its model and trace. The link is the step's own, or that of an earlier step."""

    link: Link
    model: "Model"
    trace: "Trace"

    @property
    def kind(self) -> "Kind":
        """The attention kind of the head that the picture shows: from the link, or the default of the page."""
        said = self.link.texts.get("kind") or _FIRST.get(self.link.page, "cross")
        return said if said in self.trace.kinds else self.trace.kinds[0]  # type: ignore[return-value]

    @property
    def layer(self) -> int | str:
        """The layer in focus, or "mean"."""
        return self._site("layer", 0)

    @property
    def head(self) -> int | str:
        """The head in focus, or "mean"."""
        return self._site("head", 1)

    @property
    def options(self) -> MapOptions:
        """The link's options for maps: how special tokens are shown, and whether pieces are merged into words."""
        said = self.link.texts
        words = "spans" if said.get("words") == "spans" else said.get("words") in ("1", "true")
        return MapOptions(said.get("specials") or "show", words)  # type: ignore[arg-type]

    @cached_property
    def maps(self) -> "EagerMaps":
        """The attention maps of the kind that the picture shows, with the link's options."""
        from attnviz.maps.selection import select

        return select(self.trace, self.kind, self.options)

    def row(self, said: str) -> int:
        """Return the index of the row that a question names. Raises ValueError if there is no such row."""
        return _position(
            "row", said, [(row.text, row.output or row.input or "", row.input or "") for row in self.maps.rows]
        )

    def col(self, said: str) -> int:
        """Return the index of the column that a question names. Raises ValueError if there is no such column."""
        return _position("key", said, [(col.text,) for col in self.maps.cols])

    def cover(self, question: Question, said: str) -> Cover:
        """Return what an open question covers on this picture.

        `said` is the sentence that tells when the cover ends.
        """
        heads = question.heads if question.cover == "maps" and question.heads else self._focused_heads
        is_row = question.cover == "row" and question.row
        tokens = frozenset(self.maps.rows[self.row(question.row)].tokens) if is_row else None
        return Cover(self.kind, heads, tokens, said)

    @property
    def _focused_heads(self) -> tuple[tuple[int, int], ...] | None:
        """The layer and head that the picture shows; None if it shows a mean, in which case all heads are covered."""
        return None if MEAN in (self.layer, self.head) else ((int(self.layer), int(self.head)),)

    def one_head(self) -> tuple[int, int]:
        """Return the layer and the head in focus. Raises ValueError if the picture shows a mean over several heads."""
        if isinstance(self.layer, str) or isinstance(self.head, str):
            raise ValueError(
                "This picture is a mean over heads, and the question is about one. Please link to one head."
            )
        return self.layer, self.head

    def _site(self, name: str, axis: int) -> int | str:
        said, count = self.link.texts.get(name, ""), self.trace.shape(self.kind)[axis]
        if said == MEAN:
            return MEAN
        return min(int(said), count - 1) if said.isdecimal() and len(said) < 6 else 0


Pictures = Callable[[Link], LinkedPicture]


def pictures(load: "Callable[[str], Any] | None" = None) -> Pictures:
    """Return a function that runs the model on the inputs in a link's address; it loads each model and makes each run
    once.

    The function raises ValueError for a link whose run is refused.
    """
    from attnviz.models import catalogue

    models: dict[str, Any] = {}
    traces: dict[tuple, Any] = {}

    def run(link: Link) -> LinkedPicture:
        name = link.texts.get("model") or catalogue.DEFAULT
        if name not in models:
            models[name] = (load or catalogue.load)(name)
        asked = name, *(link.texts.get(text, "") for text in ("src", "to", "tgt", "new", "do", "chat", "image"))
        if asked not in traces:
            traces[asked] = trace_link(models[name], link.texts)
        return LinkedPicture(link, models[name], traces[asked])

    return run


def trace_link(model: Any, said: Mapping[str, str]) -> "Trace":
    """Run a model on the sentence or the image that a link's address has. Raises ValueError if the model refuses it."""
    from attnviz.analysis.means import fill_measured_means
    from attnviz.models.example_images import draw_example
    from attnviz.tracing.causes import notation

    src, tgt = said.get("src", ""), said.get("tgt", "").strip()
    to = said.get("to") or (model.languages[0] if model.languages else "")
    done = (
        {"interventions": fill_measured_means(model, notation.parse(said["do"]).interventions, to)}
        if said.get("do")
        else {}
    )
    if model.inputs.is_image:
        return model.trace(draw_example(said.get("image", "")), **done)
    if turns := read_chat(said.get("chat", "")):
        chat.require(model)
        new = chat.reply_tokens(turns, int(said.get("new") or 0))
        return model.trace(messages=[turn.as_message for turn in turns], new_tokens=new, **done)
    if not src.strip():
        raise ValueError("The link has no sentence. Please copy it from a page that shows one.")
    if model.inputs.is_pair:
        return model.trace(src, tgt or None, **done)
    if not model.inputs.takes_target:
        return model.trace(src, new_tokens=int(said.get("new") or 0), **done)
    language = {"to": to} if model.languages else {}
    return model.trace(src, tgt_text=tgt or None, **language, **done)


def _position(what: str, said: str, names: list[tuple[str, ...]]) -> int:
    """Find a position by its number, or by a text that occurs at one position only.

    The text is compared with the whole labels first, then with the output tokens, then with the input tokens. Raises
    ValueError if it is not found once.
    """
    if said.isdecimal() and len(said) < 6:
        if int(said) < len(names):
            return int(said)
        raise ValueError(f"There is no {what} {said}: this map has {what}s 0 to {len(names) - 1}.")
    if not said:
        raise ValueError(f"Say which {what}: there are {', '.join(name[0] for name in names)[:300]}.")
    for part in range(len(names[0])):
        found = [at for at, name in enumerate(names) if name[part] == said]
        if len(found) == 1:
            return found[0]
        if found:
            raise ValueError(
                f"The {what} “{said[:40]}” occurs {len(found)} times in this map. Please write its position instead."
            )
    raise ValueError(f"There is no {what} “{said[:40]}”: there are {', '.join(name[0] for name in names)[:300]}.")
