"""What stays within 1.x (docs/reference/stability.md): names, their arguments, the command line, pages and the names in
their addresses, keys of files, words of lessons, and settings of a server.

`python -m tests.test_promise` records what there is now in `promise.json`. What only adds to it may be recorded as it
is; what takes something away is first kept for one minor version with a warning.
"""

import argparse
import inspect
import json
from dataclasses import fields
from pathlib import Path
from typing import Any

import attnviz
from attnviz.__main__ import _parser
from attnviz.app.layout import PATHS
from attnviz.hosts import registry
from attnviz.hosts.notebook.widget import PictureWidget
from attnviz.kit.picture import ShownPicture
from attnviz.lessons import block, measures, reading
from attnviz.models.protocol import Model, Step
from attnviz.server.session import Session
from attnviz.server.settings import Settings
from attnviz.toys.recording import Recording
from attnviz.toys.translator.recording import TranslatorRecording
from attnviz.tracing.external.weights import BareWeights
from tests import promised_files
from tests.promised_states import fields_of_pictures, names_in_addresses

FILE = Path(__file__).with_name("promise.json")
CLASSES = (
    attnviz.Intervention, attnviz.Site, attnviz.Token, attnviz.Trace, BareWeights, Model, Step, Recording,
    TranslatorRecording, attnviz.Picture, ShownPicture, PictureWidget, Session,
)  # fmt: skip
OF_NAMED_PICTURE = ("name", "of", "python_only", "subject", "title", "widget")  # `Picture` in 1.0
ONLY_INSIDE = ("=covering", "=quadrant", "=host")  # arguments of a page or a lesson


def arguments(function: Any) -> list[str]:
    """Write each argument as it may be given: `*` for one by position, `name=` for one by name, and its default."""
    found = []
    for one in inspect.signature(function).parameters.values():
        if one.name.startswith("_") or one.name == "self":
            continue
        way = {one.POSITIONAL_ONLY: "/", one.KEYWORD_ONLY: "=", one.VAR_POSITIONAL: "*", one.VAR_KEYWORD: "**"}
        default = "" if one.default is one.empty else f" = {one.default!r}"
        found.append(f"{way.get(one.kind, '')}{one.name}{default}")
    return found


def members(made: type) -> dict[str, Any]:
    """List the public members of a class, with the arguments of its methods; of a class that extends another
    package's, its own.
    """
    ours = [one for one in made.__mro__ if one.__module__.startswith("attnviz")]
    found = {name for one in ours for name in (*vars(one), *getattr(one, "__annotations__", ()))}
    names = sorted(name for name in found if not name.startswith("_"))
    return {name: arguments(member) if callable(member := getattr(made, name, None)) else "value" for name in names}


def commands(parser: argparse.ArgumentParser) -> dict[str, list[str]]:
    """List the options of each command of the shell."""
    (sub,) = (action for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    return {
        name: sorted(
            option for action in command._actions for option in action.option_strings or [action.dest] if option != "-h"
        )
        for name, command in sub.choices.items()
    }


def subjects(picture: attnviz.Picture) -> list[str]:
    """List what a picture is drawn of, without defaults."""
    return [one.split(" = ")[0] for one in arguments(picture.subject) if not one.startswith(ONLY_INSIDE)]


def promise(folder: Path) -> dict[str, Any]:
    named = {name: members(registry.NamedPicture)[name] for name in OF_NAMED_PICTURE}
    functions = [name for name in (*attnviz.__all__, "open") if inspect.isfunction(getattr(attnviz, name))]
    return {
        "names": sorted([*attnviz.__all__, "open"]),
        "functions": {name: arguments(getattr(attnviz, name)) for name in functions},
        "classes": {made.__name__: members(made) for made in CLASSES} | {"NamedPicture": named},
        "show": {name: arguments(getattr(attnviz.show, name)) for name in sorted({*registry.PICTURES} - {"heads"})},
        "views": {name: arguments(getattr(attnviz.views, name)) for name in attnviz.views.__all__},
        "command line": commands(_parser()),
        "pages": sorted(page.lower() for page in PATHS),
        "addresses": names_in_addresses(),
        "pictures": {name: subjects(one) for name, one in registry.PICTURES.items()},
        "fields of pictures": fields_of_pictures(),
        "lessons": {
            "front matter": sorted(reading._HEAD),
            "questions": {kind: sorted(names) for kind, names in block.FIELDS.items()},
            "measures": sorted(measures.MEASURES),
        },
        "settings": sorted(one.name for one in fields(Settings)),
        **promised_files.keys(folder),
    }


def by_position(arguments: list[str]) -> list[str]:
    return [one for one in arguments if one[0] not in "=*"]


def lost(then: Any, now: Any, path: str = "") -> list[str]:
    """List the promised names that are missing or changed."""
    if isinstance(then, dict) and isinstance(now, dict):
        return [one for name in then for one in lost(then[name], now.get(name), f"{path}/{name}")]
    if (
        isinstance(then, list)
        and isinstance(now, list)
        and not path.startswith(("/functions", "/show", "/views", "/pictures"))
    ):
        return [f"{path}: {one}" for one in then if one not in now]
    if isinstance(then, list) and isinstance(now, list):  # arguments: more by name, or at the end, change no call
        first = by_position(then)
        is_kept = by_position(now)[: len(first)] == first and {*then} <= {*now}
        return [] if is_kept else [f"{path}: {then} became {now}"]
    return [] if then == now else [f"{path}: {then} became {now}"]


def test_what_was_promised_is_there(tmp_path: Path) -> None:
    recorded = json.loads(FILE.read_text(encoding="utf-8"))
    now = promise(tmp_path)
    assert lost(recorded, now) == []
    assert recorded == now, "record what is new: python -m tests.test_promise"


def test_a_lost_name_an_argument_and_another_default_are_noticed() -> None:
    then = {"names": ["load", "save"], "functions": {"save": ["made", "path", "=whole = True"]}}
    assert lost(then, {"names": ["load"], "functions": {"save": ["made", "path", "=whole = True", "=more = 1"]}}) == [
        "/names: save"
    ]
    assert len(lost(then, {**then, "functions": {"save": ["path", "made", "=whole = True"]}})) == 1
    assert len(lost(then, {**then, "functions": {"save": ["made", "to", "path", "=whole = True"]}})) == 1
    assert len(lost(then, {**then, "functions": {"save": ["made", "path", "=whole = False"]}})) == 1


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as temporary:
        said = json.dumps(promise(Path(temporary)), indent=1, ensure_ascii=False)
    FILE.write_text(said + "\n", encoding="utf-8")
