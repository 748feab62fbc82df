"""Checks before the server starts: whether the settings are consistent, and their files and ports usable."""

import os
import re
import secrets
import socket
import ssl
import tempfile
from contextlib import suppress
from ipaddress import ip_network
from pathlib import Path
from urllib.parse import urlsplit

from attnviz.places import APP
from attnviz.server.settings import Settings

_SHORTEST = 8  # characters of a password
_LEAST_SECRET = 32  # characters
_BASE_PART = re.compile(r"[A-Za-z0-9._-]+")
_OWN_PATHS = (
    "static",
    "_stcore",
    "media",
    "component",
    "auth",
    "login",
    "logout",
    "oauth2callback",
    "healthz",
    "readyz",
)
_SECRET_FILE = "cookie-secret"


def check(settings: Settings) -> None:
    """Raise ValueError, with a message of one sentence, for the first setting that would not work."""
    _names(settings)
    _certificate(settings)
    _login(settings)
    _models(settings)
    _database(settings)
    _ports(settings)


def _names(settings: Settings) -> None:
    for proxy in settings.proxies:
        try:
            ip_network(proxy, strict=False)
        except ValueError:
            raise ValueError(
                f"proxies has {proxy!r}. Please write an address or a network, such as 10.0.0.0/8."
            ) from None
    for site in settings.embedders:
        parts = urlsplit(site)
        if parts.scheme not in {"http", "https"} or not parts.netloc or parts.path or set(site) & set(" ;,'\""):
            raise ValueError(f"embedders has {site!r}. Please write a site, such as https://school.example.")
    _base_path(settings)
    for host in settings.hosts:
        if "/" in host or ":" in host.strip("[]").replace("::", ""):
            raise ValueError(
                f"hosts has {host!r}. Please write a name without scheme, port and path, such as attn.example."
            )


def _base_path(settings: Settings) -> None:
    """Raise ValueError for a base path that browsers would rewrite, or that begins with a path of the dashboard."""
    parts = settings.base_path.split("/")[1:]
    if any(not _BASE_PART.fullmatch(part) or not part.strip(".") for part in parts):
        raise ValueError(
            f"base_path is {settings.base_path!r}. Please write a path of letters, digits, . _ and -, as /course."
        )
    if parts and parts[0] in (*_OWN_PATHS, *(page.stem for page in (APP / "pages").glob("*.py"))):
        raise ValueError(
            f"base_path begins with {parts[0]!r}, a path of the dashboard itself. Please choose another name."
        )
    public = urlsplit(settings.public_address).path.rstrip("/")
    if parts and public not in {"", settings.base_path}:
        raise ValueError(
            f"public_address has the path {public}, and base_path is {settings.base_path}. Please make them equal."
        )


def _certificate(settings: Settings) -> None:
    if bool(settings.certificate) != bool(settings.key):
        raise ValueError(
            "certificate and key must be set together. Please set both, or set neither and use a "
            "proxy that handles TLS."
        )
    if not settings.certificate:
        if settings.redirect_port:
            raise ValueError("redirect_port sends browsers to https, which needs certificate and key.")
        return
    for name in ("certificate", "key"):
        if not Path(file := getattr(settings, name)).is_file():
            raise ValueError(f"{name} names {file}, and there is no such file.")
    try:
        ssl.create_default_context(ssl.Purpose.CLIENT_AUTH).load_cert_chain(
            settings.certificate, settings.key, password=lambda: _refuse_password(settings.key)
        )
    except (ssl.SSLError, OSError) as error:
        raise ValueError(
            f"{settings.certificate} and {settings.key} are not a certificate and its key: {error}."
        ) from None


def _refuse_password(key: str) -> str:
    raise ValueError(f"{key} has a password, which a server cannot type: `openssl pkey -in {key} -out plain.key`.")


def _login(settings: Settings) -> None:
    if settings.login == "none":
        _no_login(settings)
        return
    if settings.login == "password":
        _passwords(settings)
    else:
        needed = ("oidc_metadata", "oidc_client", "oidc_secret", "public_address", "allowed")
        if missing := [name for name in needed if not getattr(settings, name)]:
            raise ValueError(f"login by oidc also needs {', '.join(missing)}.")
        if urlsplit(settings.public_address).scheme not in {"http", "https"}:
            raise ValueError(
                f"public_address is {settings.public_address!r}. Please write the whole address, https://attn.example."
            )
    if settings.cookie_secret and len(settings.cookie_secret) < _LEAST_SECRET:
        raise ValueError(
            "cookie_secret is too short. Please write 32 characters or more, such as of `openssl rand -hex 32`."
        )


def _no_login(settings: Settings) -> None:
    """Raise ValueError for a setting of a login that is not switched on, since everybody could enter without
    the login.
    """
    for login, names in (("password", ("class_password", "teacher_password")), ("oidc", ("oidc_secret", "allowed"))):
        for name in names:
            if getattr(settings, name):
                raise ValueError(f'{name} has no effect without login = "{login}". Please set both, or neither.')


def _passwords(settings: Settings) -> None:
    if not settings.class_password:
        raise ValueError("login by password needs a password for the class. Please set class_password.")
    for name in ("class_password", "teacher_password"):
        if 0 < len(getattr(settings, name)) < _SHORTEST:
            raise ValueError(f"{name} is too short: give {_SHORTEST} characters or more.")
    if settings.class_password == settings.teacher_password:
        raise ValueError("class_password and teacher_password are the same. Please choose two different ones.")


def _models(settings: Settings) -> None:
    """Raise ValueError if a model's folder does not exist, or if the folder for hub downloads cannot be written."""
    for name in settings.models:
        if name.startswith(("/", "./", "../", "~")) and not Path(name).expanduser().is_dir():
            raise ValueError(f"models names {name}, and there is no such folder.")
    if settings.open_models == "nobody":
        return
    if settings.open_models == "teachers" and settings.login == "none":
        raise ValueError(
            "open_models works only for teachers, and the server knows teachers only by their login. "
            "Please set login, too."
        )
    folder = Path(os.environ.get("HF_HOME", Path.home() / ".cache" / "huggingface"))
    there = next(place for place in (folder, *folder.parents) if place.exists())
    if not os.access(there, os.W_OK):
        raise ValueError(
            f"open_models needs a folder for what is downloaded, and {there} cannot be written. Please set HF_HOME."
        )


def _database(settings: Settings) -> None:
    """Raise ValueError for an invalid database address.

    No connection is made, as the dashboard also runs without one.
    """
    if settings.database:
        from attnviz.classroom.storage.database import engine_of

        engine_of(settings.database).dispose()


def _ports(settings: Settings) -> None:
    """Raise ValueError unless all ports are different and free."""
    for name in ("metrics_port", "redirect_port"):
        if getattr(settings, name) == settings.port:
            raise ValueError(f"{name} is {settings.port}, the port of the pages. Please choose another port.")
    if settings.metrics_port and settings.metrics_port == settings.redirect_port:
        raise ValueError(
            f"metrics_port and redirect_port are both {settings.metrics_port}. Please choose a different port for each."
        )
    for port in filter(None, (settings.port, settings.redirect_port)):
        check_port(settings.host, port)
    if settings.metrics_port:
        check_port("127.0.0.1", settings.metrics_port)


def check_port(host: str, port: int) -> None:
    """Raise ValueError, with a message of one sentence, if this process cannot listen on a port."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError):
        raise ValueError(f"host is {host!r}, which is not an address of this machine.") from None
    family, kind, protocol, _, address = found[0]
    with socket.socket(family, kind, protocol) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(address)
        except OSError as error:
            raise ValueError(f"Port {port} of {host} cannot be listened on: {error.strerror}.") from None


def _make_secret(file: Path) -> None:
    """Write a new secret into a file that only its owner can read, unless another server has just written the file."""
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=file.parent)  # readable by its owner alone
    with os.fdopen(handle, "w", encoding="ascii") as made:
        made.write(secrets.token_hex(32))
    with suppress(FileExistsError):
        os.link(name, file)  # whole, or not at all
    Path(name).unlink()


def secret_of(settings: Settings) -> str:
    """Return the secret that signs cookies.

    It is the one in the settings, or one that is made once and stored beside the database, so that a restart logs
    nobody out. Raises ValueError if the stored secret can be neither read nor written.
    """
    if settings.cookie_secret:
        return settings.cookie_secret
    from attnviz.classroom.storage.database import folder_of

    file = folder_of(settings.database) / _SECRET_FILE
    try:
        if not file.exists():
            _make_secret(file)
        kept = file.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"The cookie secret cannot be kept in {file} ({error}). Please set cookie_secret.") from None
    if len(kept) < _LEAST_SECRET:
        raise ValueError(
            f"The cookie secret in {file} is too short. Please delete the file. A new file will then be created."
        )
    return kept
