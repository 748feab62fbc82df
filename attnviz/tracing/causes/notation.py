"""Interventions as short text in a link: `off.cross.1.2+5~swap.cross.all.all.Tom.Mary`.

Items are joined by `~`, the parts of an item by dots, several heads or rows by `+`. Layers and heads may be `all`:

    off.KIND.LAYER.HEADS[.ROWS]      set the context of the heads to zero
    mean.KIND.LAYER.HEADS[.ROWS]     set it to its mean, which the caller has to measure
    even.KIND.LAYER.HEADS[.ROWS]     let the heads attend uniformly to all visible keys
    diagonal.KIND.LAYER.HEADS[.ROWS] let the heads attend to their own position
    swap.KIND.LAYER.HEADS.A.B[.ROWS] exchange two columns
    row.KIND.LAYER.HEADS.ROW.WEIGHTS replace one row by weights written by hand

Rows and columns are positions or words. In a word, `%`, `.`, `~`, `+` and blanks are written as `%2E` and so on, and so
is the first character of a word of digits. An intervention that needs values from another run cannot be written.
"""

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple
from urllib.parse import unquote

import numpy as np

from attnviz.tracing.causes.intervention import How, Intervention, Place, What
from attnviz.tracing.causes.making import ablate, edit, exchange
from attnviz.transformer.probe import Kind

MOST_CHARACTERS, MOST_ITEMS = 4_000, 64
_MOST_ROWS = 2_048  # limited, because an edit stores its row with all rows before it
KINDS: dict[str, Kind] = {"enc": "encoder_self", "dec": "decoder_self", "cross": "cross"}
_SHORT = {kind: short for short, kind in KINDS.items()}
_VERBS: dict[tuple[What, How], str] = {
    ("context", "zero"): "off", ("context", "mean"): "mean", ("attn", "uniform"): "even",
    ("attn", "diagonal"): "diagonal", ("attn", "exchange"): "swap", ("attn", "values"): "row",
}  # fmt: skip
_TO = {"off": "zero", "mean": "mean", "even": "uniform", "diagonal": "diagonal"}
_ALL = "all"
_IN_WORDS = re.compile(r"[\x00-\x20%.~+]")
_NUMBER = re.compile(r"[0-9]+")
_WEIGHT = re.compile(r"-?[0-9]{1,60}(\.[0-9]{1,60})?")


class Parsed(NamedTuple):
    """The interventions in a text, and an error message for each part that could not be read."""

    interventions: tuple[Intervention, ...]
    problems: tuple[str, ...]


def write(interventions: Sequence[Intervention]) -> str:
    """Write interventions as the text that `parse` reads.

    Raises ValueError for interventions that need values from another run: a patch or a measured mean.
    """
    return "~".join(item for each in interventions for item in _items(each))


def parse(text: str) -> Parsed:
    """Read the interventions in a text; parts that cannot be read are left out and listed in `problems`."""
    if problem := length_problem(text):
        return Parsed((), (problem,))
    found, problems = list[Intervention](), list[str]()
    for item in filter(None, text.split("~")):
        try:
            found.append(_intervention(item))
        except ValueError as why:
            problems.append(f"The change to the run “{item[:40]}” cannot be applied and is left out: {why}")
    return Parsed(tuple(found), tuple(problems))


def is_writable(each: Intervention) -> bool:
    """Check whether an intervention can be written in a link, because it needs no values from another run.

    A mean can be written only if it has not been measured yet.
    """
    donated = bool(each.source or each.tokens or each.model_id)
    known = (each.what, each.how) in _VERBS and not donated
    return known and (each.how != "values" or each.layer is not None) and (each.how != "mean" or each.is_unmeasured)


def length_problem(text: str) -> str:
    """Return an error message if a text is too long for a link, otherwise ""."""
    if len(text) <= MOST_CHARACTERS and text.count("~") < MOST_ITEMS:
        return ""
    return (
        f"The changes to the run are left out: the link has {text.count('~') + 1} of them in {len(text):,} characters, "
        f"and may have {MOST_ITEMS} in {MOST_CHARACTERS:,}."
    )


def _items(each: Intervention) -> list[str]:
    if not is_writable(each):
        raise ValueError(f"{each}: this needs values from another run, which a link cannot hold.")
    verb = _VERBS[each.what, each.how]
    layer = _ALL if each.layer is None else str(each.layer)
    place = [verb, _SHORT[each.where], layer]  # type: ignore[index]  # an intervention that can be written has a kind
    heads = _ALL if each.heads is None else _join_places(each.heads)
    if verb == "row":
        return _rows(each, place, heads)
    parts = [*place, heads, *map(_place_text, each.columns)]
    return [".".join([*parts, *([] if each.positions is None else [_join_places(each.positions)])])]


def _rows(each: Intervention, place: list[str], heads: str) -> list[str]:
    """Write an item for each row, and one for each head if the heads differ."""
    put, items = each.values[each.layer or 0].numpy(), []
    shared = len(put) == 1
    for nth, weights in enumerate(put):
        whose = heads if shared else str(nth if each.heads is None else each.heads[nth])
        for row in each.positions or range(put.shape[1]):
            numbers = "+".join(np.format_float_positional(weight, trim="-") for weight in weights[int(row)])
            items.append(".".join([*place, whose, str(row), numbers]))
    return items


def _join_places(places: Sequence[Place]) -> str:
    return "+".join(map(_place_text, places))


def _place_text(place: Place) -> str:
    if isinstance(place, int):
        return str(place)
    escaped = _IN_WORDS.sub(lambda found: f"%{ord(found[0]):02X}", place)
    return f"%{ord(place[0]):02X}{escaped[1:]}" if _NUMBER.fullmatch(place) else escaped


def _intervention(item: str) -> Intervention:
    """Read one item.

    Raises ValueError with a message that continues the caller's sentence, such as “the kind must be one of …”.
    """
    verb, _, rest = item.partition(".")
    if verb not in _MAKERS:
        raise ValueError(f"it must begin with one of {', '.join(_MAKERS)}.")
    maker, most = _MAKERS[verb]
    parts = rest.split(".", most - 1)
    least = 3 if verb in _TO else 5
    if len(parts) < least:
        raise ValueError(f"{verb} takes {least} parts with dots between them, such as {_EXAMPLES[verb]}.")
    short, layer, heads, *more = parts
    if short not in KINDS:
        raise ValueError(f"the kind must be one of {', '.join(KINDS)}.")
    return maker(verb, _Where(KINDS[short], _index(layer), _indices(heads)), more)


class _Where(NamedTuple):
    kind: Kind
    layer: int | None
    heads: tuple[int, ...] | None


def _ablation(verb: str, where: _Where, more: list[str]) -> Intervention:
    rows = _places(more[0]) if more else None
    return ablate(where.kind, layer=where.layer, heads=where.heads, to=_TO[verb], positions=rows)


def _swap(verb: str, where: _Where, more: list[str]) -> Intervention:
    columns, rows = [_place(part) for part in more[:2]], _places(more[2]) if more[2:] else None
    return exchange(where.kind, columns, layer=where.layer, heads=where.heads, positions=rows)


def _row(verb: str, where: _Where, more: list[str]) -> Intervention:
    row, weights = _number(more[0]), _parts(more[1])
    if where.layer is None or row >= _MOST_ROWS:
        raise ValueError(f"weights by hand need one layer, and a row among the first {_MOST_ROWS:,}.")
    if wrong := [weight for weight in weights if not _WEIGHT.fullmatch(weight)]:
        raise ValueError(f"a weight is a number such as 0.25, not “{wrong[0][:20]}”.")
    return edit(where.kind, [list(map(float, weights))], layer=where.layer, heads=where.heads, rows=[row])


_MAKERS: dict[str, tuple[Callable[[str, _Where, list[str]], Intervention], int]] = {
    **dict.fromkeys(_TO, (_ablation, 4)), "swap": (_swap, 6), "row": (_row, 5),
}  # fmt: skip  # each with the most parts that it can have
_EXAMPLES = {
    "off": "off.cross.1.2+5", "mean": "mean.cross.1.2+5", "even": "even.enc.0.all", "diagonal": "diagonal.dec.0.3",
    "swap": "swap.cross.all.all.Tom.Mary", "row": "row.cross.1.2.0.0.5+0.5",
}  # fmt: skip


def _index(text: str) -> int | None:
    return None if text == _ALL else _number(text)


def _number(text: str) -> int:
    if not _NUMBER.fullmatch(text) or len(text) > 5:
        raise ValueError(f"layers, heads and positions must be numbers (0 or more) or “all”, not “{text[:20]}”.")
    return int(text)


def _indices(text: str) -> tuple[int, ...] | None:
    if text == _ALL:
        return None
    return tuple(map(_number, _parts(text)))


def _places(text: str) -> list[Place]:
    return [_place(part) for part in _parts(text)]


def _place(text: str) -> Place:
    if _NUMBER.fullmatch(text):
        return _number(text)
    if not text or len(text) > 200:
        raise ValueError("a row or a column is a position, or a word.")
    return unquote(text)


def _parts(text: str) -> list[str]:
    """Split at plus signs; in a link typed by hand, a plus sign arrives as a blank."""
    return text.replace(" ", "+").split("+")
