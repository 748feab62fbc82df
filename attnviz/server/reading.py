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
    """Read and merge the settings of all three. Raises ValueError with one sentence for a value that cannot be meant.

    A variable of the environment holds over the file, `given` over both; None there is not said.
    """
    found = _read_file(file) if file is not None else {}
    found |= _read_environment(environ)
    found |= {name: _validate(name, value, f"--{name}") for name, value in given.items() if value is not None}
    return Settings(**found)


def _read_file(file: Path) -> dict[str, Any]:
    try:
        said = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise ValueError(f"The settings cannot be read from {file}: {error.strerror}.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{file} is no TOML file: {error}.") from None
    for name in said:
        if name not in _FIELDS:
            raise ValueError(f"{file} sets {name!r}, which there is not{_suggestion(name)}.")
    if any(said.get(name) for name in _FIELDS if _is_secret(name)) and file.stat().st_mode & stat.S_IROTH:
        raise ValueError(f"{file} holds secrets and everybody on this machine may read it: chmod 600 {file}.")
    return {name: _validate(name, value, f"{name} in {file}") for name, value in said.items()}


def _read_environment(environ: Mapping[str, str]) -> dict[str, Any]:
    """Read the variables ATTNVIZ_…. Raises ValueError for a name that resembles a setting's and is none; any other is
    not for us.
    """
    found = {}
    for variable, text in environ.items():
        name = variable.removeprefix(PREFIX).lower()
        if not variable.startswith(PREFIX):
            continue
        if name in _FIELDS:
            found[name] = _validate(name, _parse(name, text.strip()), variable)
        elif difflib.get_close_matches(name, _FIELDS, cutoff=0.85):
            raise ValueError(f"{variable} sets nothing{_suggestion(name)}.")
    return found


def _suggestion(name: str) -> str:
    """Suggest the setting with the nearest name."""
    near = difflib.get_close_matches(name, _FIELDS, n=1)
    return f": did you mean {near[0]}?" if near else "; deploy/attnviz.toml lists what there is"


def _parse(name: str, text: str) -> Any:
    """Convert a variable's text to the setting's type; a text that cannot be converted stays as it is."""
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


def _validate(name: str, value: Any, place: str) -> Any:
    """Validate a value against the setting's type and range. Raises ValueError, which names a secret's place and not
    its value.
    """
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
