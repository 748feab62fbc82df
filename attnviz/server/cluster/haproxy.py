"""HAProxy in front of the dashboards: its configuration, which HAProxy itself checks, and its runtime socket."""

import asyncio
import csv
import shutil
import subprocess
from pathlib import Path
from string import Template

from attnviz.server.cluster.plan import ClusterPlan
from attnviz.server.plain_page import paragraph, plain_page
from attnviz.server.settings import CONNECTIONS, Settings

_TEMPLATE = Path(__file__).with_name("haproxy.cfg")
_STARTING, _FULL = 5, 20  # seconds after which these pages ask again


def find() -> str:
    """Return the path of HAProxy. Raises ValueError, with the command that installs it, if it is missing."""
    path = shutil.which("haproxy") or shutil.which("haproxy", path="/usr/sbin:/usr/local/sbin")
    if path is None:
        raise ValueError("cluster needs HAProxy, which is not installed: apt-get install haproxy.")
    return path


def write(plan: ClusterPlan, folder: Path) -> Path:
    """Write HAProxy's configuration, its error pages, and links to the certificate into a folder of this cluster."""
    settings = plan.settings
    again = f"This page tries again in {_STARTING} seconds, and opens at the same address."
    starting = plain_page(
        "Starting", paragraph("The servers are just starting."), paragraph(again), retry_after=_STARTING
    )
    again = f"This page tries again in {_FULL} seconds, and opens at the same address."
    full = plain_page(
        "One moment", paragraph("All places are taken at the moment."), paragraph(again), retry_after=_FULL
    )
    (folder / "starting.html").write_bytes(bytes(starting.body))
    (folder / "full.html").write_bytes(bytes(full.body))
    file = folder / "haproxy.cfg"
    file.write_text(_fill_template(plan, folder), encoding="utf-8")
    if settings.is_tls:  # HAProxy looks for the key under the certificate's name
        (folder / "site.pem").symlink_to(Path(settings.certificate).resolve())
        (folder / "site.pem.key").symlink_to(Path(settings.key).resolve())
    return file


def _fill_template(plan: ClusterPlan, folder: Path) -> str:
    settings, count = plan.settings, len(plan.fronts)
    is_secure = settings.is_tls or settings.public_address.startswith("https:")
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    places = settings.visitors * count
    an_address = min(settings.visitors_an_address, settings.visitors) * count
    return Template(_TEMPLATE.read_text(encoding="utf-8")).substitute(
        folder=folder,
        bind=f"{host}:{settings.port}" + (f" ssl crt {folder}/site.pem alpn http/1.1" if settings.is_tls else ""),
        connections=CONNECTIONS * places + 1000,
        connections_an_address=settings.connections_an_address * count,
        an_address=an_address,
        visitors=settings.visitors,
        proxies=" ".join(settings.proxies) or "255.255.255.255",  # no visitor comes from there
        redirect=_redirect(settings, host),
        scheme="https" if is_secure else "http",
        secure="secure " if is_secure else "",
        starting=_STARTING,
        full=_FULL,
        fronts="\n".join(
            f"    server {front.name} 127.0.0.1:{front.port} cookie {front.name}" for front in plan.fronts
        ),
    )


def _redirect(settings: Settings, host: str) -> str:
    """Return the configuration of a frontend that redirects plain HTTP to HTTPS; "" without `redirect_port`."""
    if not settings.redirect_port:
        return ""
    port = "" if settings.port == 443 else f":{settings.port}"
    there = f"https://%[req.hdr(host),regsub(:[0-9]+$,)]{port}%[capture.req.uri]"
    return (
        f"frontend plain\n    bind {host}:{settings.redirect_port}\n"
        f"    http-request redirect code 301 location {there}\n"
    )


def check(program: str, file: Path) -> None:
    """Let HAProxy check the configuration. Raises ValueError with HAProxy's first complaint."""
    done = subprocess.run((program, "-c", "-q", "-f", str(file)), capture_output=True, text=True, check=False)
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if "ALERT" in line] or ["it does not say why"]
        said = lines[0].split(" : ", 1)[-1].strip().rstrip(".")
        raise ValueError(f"HAProxy rejects the configuration that attnviz made: {said}.")


class Runtime:
    """Client of HAProxy's runtime socket, which takes fronts out of rotation and tells which are up."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "haproxy.sock"

    async def close_front(self, front: str) -> None:
        """Make HAProxy send no new visitors to a front (a dashboard process). Connected visitors stay."""
        await self._say(f"set server fronts/{front} state maint")

    async def open_front(self, front: str) -> None:
        """Make HAProxy send visitors to a front (a dashboard process) again."""
        await self._say(f"set server fronts/{front} state ready")

    async def is_up(self, front: str) -> bool:
        """Check whether HAProxy itself has found a front (a dashboard process) ready."""
        lines = (await self._say("show stat fronts 4 -1")).lstrip("# ").splitlines()
        return any(row["svname"] == front and row["status"].startswith("UP") for row in csv.DictReader(lines))

    async def _say(self, command: str) -> str:
        """Send a command and return the answer.

        Raises OSError if HAProxy does not answer, and ValueError if it refuses the command.
        """
        reader, writer = await asyncio.open_unix_connection(self._path)
        try:
            writer.write(f"{command}\n".encode())
            told = (await reader.read()).decode()
        finally:
            writer.close()
        if command.startswith("set ") and told.strip():
            raise ValueError(f"HAProxy answers {command!r} with {told.strip()!r}.")
        return told
