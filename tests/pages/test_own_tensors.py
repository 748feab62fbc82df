"""A visitor's file goes with the visitor: neither its weights nor what was made of them are kept for the server."""

import io

import numpy as np
import pytest
from streamlit.runtime.caching import cache_resource_api
from streamlit.testing.v1 import AppTest

from attnviz.tracing import tensor_file
from attnviz.ui import made_once
from attnviz.views import links_payload

SESSION = "test session id"  # what Streamlit calls the session of a page under test


@pytest.fixture
def counted(monkeypatch) -> list[str]:
    """The names of what was read and made, as often as that was done."""
    done: list[str] = []
    for module, name in ((tensor_file, "read"), (links_payload, "links_payload")):
        make = getattr(module, name)

        def noted(*args, _make=make, _name=name, **options):
            done.append(_name)
            return _make(*args, **options)

        monkeypatch.setattr(module, name, noted)
    return done


def test_what_a_visitor_hands_in_is_gone_when_they_are(open_page, counted) -> None:
    page = open_page("heads", tab="links")
    counted.clear()
    app = handed_in(page)
    assert counted == ["read", "links_payload"]
    app.run()
    assert counted == ["read", "links_payload"], "as long as they stay, it is kept"
    cache_resource_api.clear_session_cache(SESSION)
    app.run()
    assert counted == ["read", "links_payload"] * 2


def test_what_a_model_made_is_kept_for_all(open_page, counted) -> None:
    made_once._made.clear()
    app = open_page("heads", tab="links")
    cache_resource_api.clear_session_cache(SESSION)
    app.run()
    assert counted == ["links_payload"]


def handed_in(app: AppTest) -> AppTest:
    attn = np.random.default_rng(7).dirichlet(np.ones(3), (2, 3)).astype(np.float32)
    file = io.BytesIO()
    np.savez(file, attn=attn, tokens=np.array(["a", "b", "c"]))
    return app.file_uploader(key="own-file").upload("own.npz", file.getvalue()).run()
