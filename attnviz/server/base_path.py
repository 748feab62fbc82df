"""The path under which a proxy offers the dashboard to visitors, such as /course/attnviz.

The proxy may keep this path in the requests that it passes on, or strip it. Our middleware sees requests without the
path, and answers with relative addresses, which are right in both cases. Streamlit sees requests with the path.
"""

from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Receive, Scope, Send


def relative(path: str, there: str) -> str:
    """Return the relative address from a page at `path` to the page at `there`, both without the base path.

    `relative("/auth/login", "/login?next=/")` is `"../login?next=/"`.
    """
    return "../" * (path.count("/") - 1) + (there.lstrip("/") or "./")


def redirect(scope: Scope, there: str, status: int = 303) -> RedirectResponse:
    """Return a redirect from the request in `scope` to a path of this server."""
    address = relative(scope["path"], there)
    return RedirectResponse(address if address.startswith(".") else f"./{address}", status)


class StripBasePath:
    """Middleware that removes the base path from a request, and a slash from the end of a page's path."""

    def __init__(self, app: ASGIApp, base_path: str) -> None:
        self._app, self._base_path = app, base_path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer an ASGI request."""
        if scope["type"] not in {"http", "websocket"}:
            await self._app(scope, receive, send)
            return
        base, path = self._base_path, scope["path"]
        if base and path == base and scope["type"] == "http":
            await self._move(scope, f"{base.rpartition('/')[2]}/")(scope, receive, send)
            return
        if base and path.startswith(f"{base}/"):
            path = path[len(base) :]
        page = path.rstrip("/")
        if scope["type"] == "http" and page != path and page and not path.startswith("//"):
            up = "../" * (len(path) - len(page))
            await self._move(scope, up + page.rpartition("/")[2])(scope, receive, send)
            return
        await self._app({**scope, "path": path}, receive, send)

    def _move(self, scope: Scope, address: str) -> RedirectResponse:
        """Return a redirect to an address relative to the request's own, which keeps the query and the body."""
        query = scope["query_string"].decode("latin-1")
        return RedirectResponse(f"{address}?{query}" if query else address, 308, {"Cache-Control": "no-cache"})


class AddBasePath:
    """Middleware that adds the base path to a request again, for Streamlit."""

    def __init__(self, app: ASGIApp, base_path: str) -> None:
        self._app, self._base_path = app, base_path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer an ASGI request."""
        if scope["type"] in {"http", "websocket"}:
            scope = {**scope, "path": self._base_path + scope["path"]}
        await self._app(scope, receive, send)
