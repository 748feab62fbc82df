"""The libraries that only some parts of attnviz need, by the package's extra that installs them."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version

from attnviz.places import APP, CODE

LIBRARIES = {
    "notebook": ("anywidget",),
    "huggingface": ("transformers", "sentencepiece", "huggingface_hub", "PIL"),
    "gguf": ("gguf", "accelerate"),
    "plot": ("plotly",),
    "app": ("streamlit", "markdown_it", "yaml", "sqlalchemy", "alembic", "platformdirs", "limits", "segno", "tqdm"),
    "serve": ("uvicorn", "starlette", "aiolimiter", "prometheus_client", "psycopg", "authlib", "httpx", "websockets"),
    "cluster": ("ray", "httpx"),
    "train": ("sacrebleu", "ctranslate2", "tqdm"),
}
STREAMLIT = "1.67"  # the one minor version that `attnviz/app/streamlit_internals.py` reaches into
_GROUPS = {"serve", "cluster", "train", "notebook", "gguf"}  # of pyproject.toml; requirements.txt installs the rest


class MissingExtraError(ValueError, ImportError):
    """Raised if a library that an extra installs is missing, or has another version."""


@contextmanager
def needs(extra: str, what: str, *, otherwise: str = "") -> Iterator[None]:
    """Turn a failed import of a library of `extra` inside this context into a MissingExtraError.

    Its message has the command that installs the library. `what` begins the message and names what needs the library;
    `otherwise` tells what else the user can do.
    """
    try:
        yield
    except ModuleNotFoundError as missing:
        library = (missing.name or "").partition(".")[0]
        if library not in LIBRARIES[extra]:
            raise
        install = f"pip install {_requirement(extra)}" + (f", or {otherwise}" if otherwise else "")
        raise MissingExtraError(f"{what} needs {library}: {install}.") from None


def require_streamlit() -> None:
    """Raise MissingExtraError if the installed Streamlit has another minor version.

    The message has the command that installs the right one. If Streamlit is missing, `needs` reports that.
    """
    try:
        found = version("streamlit")
    except PackageNotFoundError:
        return
    if found.split(".")[:2] != STREAMLIT.split("."):
        raise MissingExtraError(
            f"The dashboard needs Streamlit {STREAMLIT}, and {found} is installed: "
            f"pip install 'streamlit=={STREAMLIT}.*'."
        )


def _requirement(extra: str) -> str:
    if CODE != APP:
        return f"'attnviz[{extra}]'"
    return f"--group {extra}" if extra in _GROUPS else "-r requirements.txt"
