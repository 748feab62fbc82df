"""`attnviz.__all__` is the public surface: what people import in a notebook, no more and no less."""

import subprocess
import sys

import attnviz


def test_every_public_name_is_there() -> None:
    missing = [name for name in attnviz.__all__ if not hasattr(attnviz, name)]
    assert not missing


def test_every_public_object_says_what_it_is() -> None:
    silent = [name for name in attnviz.__all__ if not name.startswith("__") and not getattr(attnviz, name).__doc__]
    assert not silent


def test_nothing_else_looks_public() -> None:
    public = {name for name in dir(attnviz) if not name.startswith("_")}
    rooms = {name for name in public if f"attnviz.{name}" in sys.modules}
    assert public - rooms <= set(attnviz.__all__)


def test_import_waits_with_the_heavy_libraries() -> None:
    code = "import attnviz, sys; print(*sorted({'torch', 'streamlit', 'plotly', 'transformers'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
