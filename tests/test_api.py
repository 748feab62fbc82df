"""`attnviz.__all__` is the public surface: what people import in a notebook, no more and no less."""

import subprocess
import sys

import pytest

import attnviz
from tests.each_case import each_case


def test_every_public_name_is_there() -> None:
    missing = [name for name in attnviz.__all__ if not hasattr(attnviz, name)]
    assert not missing


def test_every_public_object_says_what_it_is() -> None:
    silent = [name for name in attnviz.__all__ if not name.startswith("__") and not getattr(attnviz, name).__doc__]
    assert not silent


def test_only_the_promised_names_are_public() -> None:
    public = {name for name in dir(attnviz) if not name.startswith("_")}
    rooms = {name for name in public if f"attnviz.{name}" in sys.modules}
    assert public - rooms <= {*attnviz.__all__, "open"}  # which a star import leaves alone


def test_import_waits_with_the_heavy_libraries() -> None:
    code = "import attnviz, sys; print(*sorted({'torch', 'streamlit', 'plotly', 'transformers'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


SHOWN = """
import attnviz, sys
from attnviz.models.translator.tiny import tiny_translator
attnviz.show(tiny_translator(seed=0).trace("I love you", to="fr", tgt_text="je t'aime"))
own = [name for name in sys.modules if name.partition(".")[0] == "attnviz"]
print(len(own), *sorted({"pandas", "plotly", "streamlit", "transformers"} & set(sys.modules)))
"""


def test_a_picture_in_a_notebook_imports_little() -> None:
    """Of attnviz no more than a picture of weights needs, and no library of tables, figures or pages."""
    done = subprocess.run([sys.executable, "-c", SHOWN], capture_output=True, text=True, check=True)
    count, *libraries = done.stdout.split()
    assert libraries == []
    assert int(count) <= 130


@each_case("said", [None, 5, b"gpt2", ["gpt2"]])
def test_a_model_that_is_named_by_no_text_and_no_path_is_refused_in_one_sentence(said) -> None:
    kind = type(said).__name__
    with pytest.raises(ValueError, match=f"^A model is given by its name, its folder or its hub id, not as {kind}.$"):
        attnviz.load(said)
