"""Settings from a TOML file, from the environment and from the command line, which holds over both."""

import difflib
import stat
import tomllib
from collections.abc import Mapping
from dataclasses import Field, fields
from pathlib import Path
from typing import Any

from attnviz.server.settings import Settings

PREFIX = "ATTNVIZ_"
_FIELDS: dict[str, Field[Any]] = {one.name: one for one in fields(Settings)}
_WORDS = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}


def read(file: Path | None, environ: Mapping[str, str], given: Mapping[str, Any]) -> Settings:
    """The settings that all three say together. Raises ValueError with one sentence for a value that cannot be meant.

    A variable of the environment holds over the file, `given` over both; None there is not said.
    """
    found = _of_file(file) if file is not None else {}
    found |= _of_environment(environ)
    found |= {name: _checked(name, value, f"--{name}") for name, value in given.items() if value is not None}
    return Settings(**found)


def _of_file(file: Path) -> dict[str, Any]:
    try:
        said = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise ValueError(f"The settings cannot be read from {file}: {error.strerror}.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{file} is no TOML file: {error}.") from None
    for name in said:
        if name not in _FIELDS:
            raise ValueError(f"{file} sets {name!r}, which there is not{_meant(name)}.")
    if any(said.get(name) for name in _FIELDS if _is_secret(name)) and file.stat().st_mode & stat.S_IROTH:
        raise ValueError(f"{file} holds secrets and everybody on this machine may read it: chmod 600 {file}.")
    return {name: _checked(name, value, f"{name} in {file}") for name, value in said.items()}


def _of_environment(environ: Mapping[str, str]) -> dict[str, Any]:
    """What ATTNVIZ_… says; a name that resembles a setting's and is none is a slip, any other is not for us."""
    found = {}
    for variable, text in environ.items():
        name = variable.removeprefix(PREFIX).lower()
        if not variable.startswith(PREFIX):
            continue
        if name in _FIELDS:
            found[name] = _checked(name, _of_text(name, text.strip()), variable)
        elif difflib.get_close_matches(name, _FIELDS, cutoff=0.85):
            raise ValueError(f"{variable} sets nothing{_meant(name)}.")
    return found


def _meant(name: str) -> str:
    """A setting of nearly that name."""
    near = difflib.get_close_matches(name, _FIELDS, n=1)
    return f": did you mean {near[0]}?" if near else "; deploy/attnviz.toml lists what there is"


def _of_text(name: str, text: str) -> Any:
    """A variable's text as a value of the setting's type, or as it is where it is none."""
    default = _FIELDS[name].default
    if isinstance(default, tuple):
        return [part.strip() for part in text.split(",") if part.strip()]
    if isinstance(default, bool):
        return _WORDS.get(text.lower(), text)
    if isinstance(default, int | float):
        for kind in (int, float):
            try:
                return kind(text)
            except ValueError:
                continue
    return text


def _checked(name: str, value: Any, place: str) -> Any:
    """A value of the setting's type and range. Raises ValueError, which tells a secret's place and not what it is."""
    one = _FIELDS[name]
    if isinstance(one.default, float) and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    if isinstance(one.default, tuple) and isinstance(value, list) and all(isinstance(part, str) for part in value):
        value = tuple(value)
    shown = "a hidden value" if _is_secret(name) else repr(value)
    if type(value) is not type(one.default):
        raise ValueError(f"{place} is {shown}: it has to be {_kind(one.default)}.")
    options, least, most = (one.metadata.get(part) for part in ("options", "least", "most"))
    if options and value not in options:
        raise ValueError(f"{place} is {shown}: it can be {', '.join(options)}.")
    if least is not None and not least <= value <= most:  # type: ignore[operator]
        raise ValueError(f"{place} is {shown}: it has to be from {least:g} to {most:g}.")
    return value


def _kind(default: Any) -> str:
    names = {bool: "true or false", int: "a whole number", float: "a number", str: "a text", tuple: "a list of texts"}
    return names[type(default)]


def _is_secret(name: str) -> bool:
    return bool(_FIELDS[name].metadata.get("secret"))
