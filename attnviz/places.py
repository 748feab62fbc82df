"""Paths of the files beside the code: at the top level of a repository, or in `_app` of an installed package."""

from pathlib import Path

_PACKAGE = Path(__file__).parent
CODE = _PACKAGE.parent  # the folder that `import attnviz` finds it in
APP = _PACKAGE / "_app" if (_PACKAGE / "_app").is_dir() else CODE  # dashboard.py, pages, assets, .streamlit
ASSETS = APP / "assets"


def require_files() -> None:
    """Raise FileNotFoundError if the package was installed without its files."""
    for place in (APP / "dashboard.py", ASSETS / "models", ASSETS / "terms"):
        if not place.exists():
            raise FileNotFoundError(
                f"attnviz is installed without its files: {place} is missing. Install it again from its wheel: "
                "pip install --force-reinstall attnviz."
            )
