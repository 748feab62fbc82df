"""Settings of Sphinx for the documentation: `make docs` builds it, offline, and a warning is an error."""

import os
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent), str(HERE / "_extensions")]

from notebook_pictures import write_profile  # noqa: E402 -- of _extensions

import attnviz  # noqa: E402 -- from this folder's clone

project = "attnviz"
version = release = attnviz.__version__
copyright = "the authors of attnviz"
language = "en-GB"

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_design",
    "sphinx_copybutton",
    "from_code",
    "live",
]
exclude_patterns = ["_build", "_extensions", "conf.py", "companions/_*"]
source_suffix = {".md": "myst-nb", ".ipynb": "myst-nb", ".py": "myst-nb"}
nitpicky = True
nitpick_ignore_regex = [("py:.*", ".*")]  # types in signatures are other libraries', or are no part of what is promised
default_role = "code"  # docstrings write `names` so, as Markdown does
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
autodoc_typehints_format = "short"
python_display_short_literal_types = True
python_maximum_signature_line_length = 88

myst_enable_extensions = ["colon_fence", "dollarmath", "deflist", "attrs_inline", "attrs_block"]
myst_heading_anchors = 4

# Notebooks run at each build, and one that fails fails the build. No widget of theirs asks a network.
os.environ["IPYTHONDIR"] = write_profile(HERE / "_build" / "ipython")
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_in_temp = True
nb_execution_timeout = 180
nb_ipywidgets_js = {}

html_theme = "pydata_sphinx_theme"
html_title = "attnviz"
html_static_path = ["_static"]
html_css_files = ["attnviz.css"]
html_js_files = ["live.js"]
html_copy_source = False
html_show_sourcelink = False
html_logo = html_favicon = "../assets/icon.svg"
html_context = {"default_mode": "auto"}
html_theme_options = {
    "logo": {"text": "attnviz"},
    "header_links_before_dropdown": 7,
    "show_prev_next": False,
    "navigation_with_keys": False,
    # Elsewhere pictures want its room.
    "secondary_sidebar_items": {
        f"{folder}/*": ["page-toc"] for folder in ("get-started", "how-to", "reference", "developing")
    },
    "footer_start": ["copyright"],
    "footer_end": [],
    "show_nav_level": 2,
}
