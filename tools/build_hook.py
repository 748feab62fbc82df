"""Put the dashboard's files into the wheel, as `attnviz/_app`: its start, its pages, its assets, Streamlit's options.

An installation that is edited in place (`pip install -e .`) has them in the repository, and needs no copy.
"""

from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_FILES = ("dashboard.py", "pages", "assets", ".streamlit/config.toml")


class DashboardFiles(BuildHookInterface):
    """The hook that `pyproject.toml` names."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the files to a standard wheel."""
        if version == "standard":
            build_data["force_include"] |= {f"{self.root}/{file}": f"attnviz/_app/{file}" for file in _FILES}
