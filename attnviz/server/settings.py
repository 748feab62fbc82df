"""Settings of a shared instance, and the values that each may have. `deploy/attnviz.toml` has them with comments."""

from dataclasses import dataclass, field
from typing import Any

WHO_OPENS = ("nobody", "teachers", "everybody")
LOGINS = ("none", "password", "oidc")
CONNECTIONS = 8  # of one browser: six for plain requests, its websocket, and one that is just closing
_SPARE_CONNECTIONS = 32


def _number(default: float, least: float, most: float) -> Any:
    """Declare a number from `least` to `most`, whole where the default is."""
    return field(default=default, metadata={"least": least, "most": most})


def _one_of(options: tuple[str, ...]) -> Any:
    return field(default=options[0], metadata={"options": options})


def _secret() -> Any:
    """Declare a text that no `repr` shows."""
    return field(default="", repr=False, metadata={"secret": True})


@dataclass(frozen=True)
class Settings:
    """One instance. Each field can stand in the file under its name, or in the environment as `ATTNVIZ_NAME`."""

    host: str = "127.0.0.1"
    port: int = _number(8501, 1, 65535)
    certificate: str = ""
    key: str = ""
    redirect_port: int = _number(0, 0, 65535)
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
    def connections_an_address(self) -> int:
        """The number of connections that one address may have to one process."""
        return CONNECTIONS * min(self.visitors_an_address, self.visitors) + _SPARE_CONNECTIONS

    @property
    def is_local(self) -> bool:
        """Whether only this machine can reach it."""
        return self.host in {"127.0.0.1", "::1", "localhost"}
