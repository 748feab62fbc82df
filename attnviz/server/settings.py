"""Settings of a server, and their allowed values. `deploy/attnviz.toml` lists them with comments."""

import difflib
import stat
import tomllib
from collections.abc import Mapping
from dataclasses import Field, dataclass, field, fields
from pathlib import Path
from typing import Any

WHO_OPENS = ("nobody", "teachers", "everybody")
LOGINS = ("none", "password", "oidc")
CONNECTIONS = 8  # of one browser: six for plain requests, its websocket, and one that is just closing
_SPARE_CONNECTIONS = 32


def _number(default: float, least: float, most: float) -> Any:
    """Declare a setting that is a number from `least` to `most`; an integer if the default is one."""
    return field(default=default, metadata={"least": least, "most": most})


def _one_of(options: tuple[str, ...]) -> Any:
    return field(default=options[0], metadata={"options": options})


def _secret() -> Any:
    """Declare a setting that is a secret text, which `repr` does not show."""
    return field(default="", repr=False, metadata={"secret": True})


@dataclass(frozen=True)
class Settings:
    """The settings of one server. Each can be set in the file by its name, or in the environment as `ATTNVIZ_NAME`."""

    host: str = "127.0.0.1"
    port: int = _number(8501, 1, 65535)
    certificate: str = ""
    key: str = ""
    redirect_port: int = _number(0, 0, 65535)
    base_path: str = ""
    hosts: tuple[str, ...] = ()
    proxies: tuple[str, ...] = ()
    embedders: tuple[str, ...] = ()

    visitors: int = _number(200, 1, 100_000)
    visitors_an_address: int = _number(60, 1, 100_000)
    session_rate: float = _number(4.0, 0.1, 1000)
    session_burst: int = _number(8, 1, 1000)
    address_rate: float = _number(12.0, 0.1, 10_000)
    address_burst: int = _number(36, 1, 10_000)
    runs: int = _number(2, 1, 256)
    waiting: int = _number(100, 1, 100_000)
    run_seconds: float = _number(60.0, 1, 3600)
    upload_megabytes: int = _number(512, 1, 1_000_000)
    memory_share: float = _number(0.4, 0.05, 0.9)

    login: str = _one_of(LOGINS)
    class_password: str = _secret()
    teacher_password: str = _secret()
    cookie_secret: str = _secret()
    public_address: str = ""
    oidc_metadata: str = ""
    oidc_client: str = ""
    oidc_secret: str = _secret()
    allowed: tuple[str, ...] = ()
    teachers: tuple[str, ...] = ()

    models: tuple[str, ...] = ()
    open_models: str = _one_of(WHO_OPENS)

    database: str = _secret()
    class_days: float = _number(14.0, 0.01, 366)

    metrics_port: int = _number(0, 0, 65535)
    log: bool = True
    front: str = ""
    log_sentences: bool = False
    stop_seconds: float = _number(20.0, 0, 600)

    @property
    def is_tls(self) -> bool:
        """Whether the server itself speaks TLS."""
        return bool(self.certificate)

    @property
    def public_root(self) -> str:
        """`public_address` with the base path and without a slash at its end; "" if it is not set."""
        root = self.public_address.rstrip("/")
        return root + self.base_path if root and not root.endswith(self.base_path) else root

    @property
    def cookie_path(self) -> str:
        """The path for cookies, so that browsers do not send them to other services on the same host."""
        return self.base_path or "/"

    @property
    def connections_an_address(self) -> int:
        """The number of connections that one address may have to one process."""
        return CONNECTIONS * min(self.visitors_an_address, self.visitors) + _SPARE_CONNECTIONS

    @property
    def is_local(self) -> bool:
        """Whether only this machine can reach the server."""
        return self.host in {"127.0.0.1", "::1", "localhost"}


PREFIX = "ATTNVIZ_"
_STREAMLITS_BASE_PATH = "STREAMLIT_SERVER_BASE_URL_PATH"  # Streamlit's own name of `base_path`
_FIELDS: dict[str, Field[Any]] = {one.name: one for one in fields(Settings)}
_WORDS = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}


def read_settings(file: Path | None, environ: Mapping[str, str], given: Mapping[str, Any]) -> Settings:
    """Read and merge the settings from a file, from the environment, and from `given`.

    A variable of the environment overrides the file, and `given` overrides both; None in `given` means not set. Raises
    ValueError for an invalid value.
    """
    found = _read_file(file) if file is not None else {}
    found |= _read_environment(environ)
    found |= {name: _validate(name, value, f"--{name}") for name, value in given.items() if value is not None}
    found["base_path"] = _with_slash(found.get("base_path") or environ.get(_STREAMLITS_BASE_PATH, ""))
    return Settings(**found)


def _with_slash(base_path: str) -> str:
    """Normalize a base path to begin with a slash and end without one; "" for the root."""
    inner = base_path.strip().strip("/")
    return f"/{inner}" if inner else ""


def _read_file(file: Path) -> dict[str, Any]:
    try:
        said = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise ValueError(f"The settings cannot be read from {file}: {error.strerror}.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{file} is not a TOML file: {error}.") from None
    for name in said:
        if name not in _FIELDS:
            raise ValueError(f"{file} sets {name!r}, which is not a setting{_suggestion(name)}.")
    if any(said.get(name) for name in _FIELDS if _is_secret(name)) and file.stat().st_mode & stat.S_IROTH:
        raise ValueError(f"{file} holds secrets and everybody on this machine may read it: chmod 600 {file}.")
    return {name: _validate(name, value, f"{name} in {file}") for name, value in said.items()}


def _read_environment(environ: Mapping[str, str]) -> dict[str, Any]:
    """Read the settings in environment variables ATTNVIZ_….

    Raises ValueError for a variable whose name resembles that of a setting. Other unknown variables are ignored.
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
    """Return the end of an error message, which suggests the setting with the most similar name."""
    near = difflib.get_close_matches(name, _FIELDS, n=1)
    return f": did you mean {near[0]}?" if near else "; deploy/attnviz.toml lists what there is"


def _parse(name: str, text: str) -> Any:
    """Convert a variable's text to the setting's type. A text that cannot be converted is returned unchanged."""
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
    """Check a value against the setting's type and range, and return it.

    Raises ValueError. The message names the place of the value, and quotes it unless it is a secret.
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
