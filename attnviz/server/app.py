"""The dashboard as an ASGI application, with the middleware of a server for many visitors."""

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import streamlit as st
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware

from attnviz.app import hosting, streamlit_internals
from attnviz.app.address import browser
from attnviz.app.cache import engine
from attnviz.places import APP
from attnviz.server.base_path import AddBasePath, StripBasePath
from attnviz.server.fair_use import FairUse, network_of
from attnviz.server.headers import Headers, inline_scripts
from attnviz.server.health import Health, State
from attnviz.server.login import oidc
from attnviz.server.login.door import TEACHER, Door
from attnviz.server.login.oidc import OidcLogin, ProviderErrors
from attnviz.server.login.password import PasswordLogin
from attnviz.server.settings import Settings
from attnviz.server.telemetry import CountedRequests, Telemetry
from attnviz.server.turns import TooLongError, Turns

DASHBOARD = APP / "dashboard.py"
_LOCAL = ("localhost", "127.0.0.1", "[::1]")
_ALONE = 0.25  # seconds: most answers are there sooner


class Instance:
    """One server: `app` is the ASGI application, `turns` the queue for runs, and `state` its health."""

    def __init__(self, settings: Settings, secret: str) -> None:
        if said := streamlit_internals.missing_for_server():
            raise RuntimeError(said)
        self._settings = settings
        self.telemetry = Telemetry(is_logging=settings.log, front=settings.front)
        self.state = State()
        alone = 0.0 if os.environ.get(engine.VARIABLE) else _ALONE  # what an engine runs takes no processor here
        self.turns = Turns(settings.runs, most=settings.waiting, seconds=settings.run_seconds, alone=alone)
        self.telemetry.waiting.set_function(lambda: self.turns.waiting_count)
        self.app = st.App(
            DASHBOARD,
            secrets=oidc.secrets_of(settings, secret),
            middleware=self._middleware(secret),
            on_script_error=self._report_error,
        )
        _set_streamlit(settings)
        streamlit_internals.install()
        streamlit_internals.keep_quiet_outside_pages()
        streamlit_internals.around_runs(self._measure_run)
        hosting.use(hosting.Hosting(self.turns, network_of, self._may_open_any, self._is_author))

    def _middleware(self, secret: str) -> list[Middleware]:
        """Return the middleware, the outermost first."""
        settings = self._settings
        hosts = settings.hosts or (_LOCAL if settings.is_local else ("*",))
        scripts = (*inline_scripts(), *browser.SCRIPTS)
        return [
            Middleware(StripBasePath, settings.base_path),
            Middleware(CountedRequests, self.telemetry),
            Middleware(Headers, settings, scripts),
            Middleware(Health, self.state),
            Middleware(TrustedHostMiddleware, allowed_hosts=list(hosts), www_redirect=False),
            Middleware(FairUse, settings, self.telemetry, self.state),
            *_login_middleware(settings, secret, self.telemetry),
            Middleware(AddBasePath, settings.base_path),
        ]

    def _may_open_any(self, role: str) -> bool:
        allowed = self._settings.open_models
        return allowed == "everybody" or (allowed == "teachers" and role == TEACHER)

    def _is_author(self, role: str) -> bool:
        return self._settings.login != "none" and role == TEACHER

    @contextmanager
    def _measure_run(self, page_of: Callable[[], str]) -> Iterator[None]:
        """Measure and log one run of a visitor's page, which happens inside this context."""
        started = time.perf_counter()
        try:
            yield
        finally:
            waited = self.turns.give_back()
            seconds, page = time.perf_counter() - started, page_of() or "welcome"
            self.telemetry.answers.labels(page).observe(seconds)
            self.telemetry.waits.observe(waited)
            said: dict[str, Any] = {
                "page": page,
                "ms": round(seconds * 1e3),
                "waited_ms": round(waited * 1e3),
            }
            if self._settings.log_sentences:
                said["asked"] = dict(st.query_params)
            self.telemetry.say("answer", **said)

    def _report_error(self, error: Exception) -> bool:
        """Report an error of a run.

        Return True if the page has shown it; otherwise Streamlit shows the error's type.
        """
        if isinstance(error, TooLongError):
            self.telemetry.count_refusal("too long")
            st.error(str(error), icon=":material/error:")
            return True
        self.telemetry.errors.labels(type(error).__name__).inc()
        self.telemetry.say("fault", type=type(error).__name__)
        return False

    def warm_up(self) -> None:
        """Load the shipped model in a thread, while the server starts to answer.

        `/readyz` is 503 until it is loaded.
        """
        threading.Thread(target=self._load, name="attnviz-warm-up", daemon=True).start()

    def _load(self) -> None:
        from attnviz.app.cache.traces import model
        from attnviz.models.catalogue import DEFAULT

        try:
            model(DEFAULT)
        except ValueError as error:
            self.state.fault = str(error)
            self.telemetry.say("fault", type="ValueError", sentence=str(error))
            return
        self.state.is_loaded.set()
        self.telemetry.say("ready")
        self._check_engine()
        self._open_classes()

    def _check_engine(self) -> None:
        """Ask the configured engine for its models, and log it if the engine does not answer.

        Pages then work without the engine, and say so.
        """
        from attnviz.app.cache import engine

        engine.names()
        if sentence := engine.engine_note():
            self.telemetry.say("fault", type="Engine", sentence=sentence)

    def _open_classes(self) -> None:
        """Open the database if it has classes, so that expired classes are deleted even if nobody visits."""
        from attnviz.classroom import instance
        from attnviz.lessons.page.run import picture

        try:
            if instance.is_used():
                instance.classroom(picture, hosting.ensure_turn)
        except ValueError as error:  # pages say so too, and open it when it is back
            self.telemetry.say("fault", type=type(error).__name__, sentence=str(error))


def _login_middleware(settings: Settings, secret: str, telemetry: Telemetry) -> list[Middleware]:
    if settings.login == "oidc":
        errors = Middleware(ProviderErrors, settings, telemetry.say)
        return [errors, Middleware(Door, OidcLogin(settings, secret), telemetry)]
    if settings.login == "password":
        return [Middleware(Door, PasswordLogin(settings, secret, telemetry), telemetry)]
    return []


def _set_streamlit(settings: Settings) -> None:
    """Set the Streamlit options that differ from `.streamlit/config.toml` on a server for many visitors."""
    streamlit_internals.MOST_UPLOADED = settings.upload_megabytes << 20
    streamlit_internals.set_options(
        {
            "server.disconnectedSessionTTL": 30,  # seconds; a browser that lost its connection is back within three
            "server.headless": True,
            "server.address": settings.host,
            "server.port": settings.port,
            "server.baseUrlPath": settings.base_path,
            "client.showErrorDetails": "none",
        }
    )
