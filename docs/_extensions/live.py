"""Live pictures in the documentation: ```` ```{live} NAME ```` runs docs/gallery/NAME.py and embeds what it draws.

Each script runs once a build, before the pages are read; what it writes lies in `_live/` beside them, and a page shows
it in a frame that is loaded when it comes into view. A script is a page of its own, too. Options of the directive:

- `:code:` `folded` (left out), `unfolded` or `none`: the script below the picture;
- `:height:` of the frame in pixels, until its picture says how high it is (620).
"""

from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

from tools.docs import gallery

FOLDER = Path(__file__).parents[1] / "gallery"
PLACE = "_live"
HEIGHT = 620
_FRAME = '<iframe class="live" src="{address}" title="{title}" loading="lazy" height="{height}"></iframe>'
_LOG = logging.getLogger(__name__)


class Live(SphinxDirective):
    """A picture of the gallery, with its code."""

    required_arguments = 1
    option_spec = {  # noqa: RUF012 -- docutils has it so
        "code": lambda given: directives.choice(given, ("folded", "unfolded", "none")),
        "height": directives.positive_int,
    }

    def run(self) -> list[nodes.Node]:
        """Return the frame and, but for `:code: none`, the script."""
        path = FOLDER / f"{self.arguments[0]}.py"
        if not path.is_file():
            raise self.error(f"docs/gallery has no {path.name}; it has {', '.join(names())}.")
        self.env.note_dependency(str(path))
        script, code = gallery.read(path), self.options.get("code", "folded")
        made = [frame(script, self.env.docname, self.options.get("height", HEIGHT))]
        if code == "none":
            return made
        block = nodes.literal_block(script.code, script.code, language="python")
        return [*made, block] if code == "unfolded" else [*made, *folded(block)]


class LiveIndex(SphinxDirective):
    """Every picture of the gallery, small, with its title: a link to its page."""

    def run(self) -> list[nodes.Node]:
        """Return a list of them."""
        self.env.note_dependency(str(FOLDER))
        cards = [
            f'<a class="live-card" href="gallery/{script.name}.html"><span><iframe src="{PLACE}/{script.name}.html"'
            f' title="" loading="lazy" inert tabindex="-1"></iframe></span>{escape(script.title)}</a>'
            for script in gallery.scripts(FOLDER)
        ]
        return [nodes.raw("", f'<div class="live-cards">{"".join(cards)}</div>', format="html")]


def names() -> list[str]:
    """Name the scripts that there are."""
    return [path.stem for path in sorted(FOLDER.glob("*.py"))]


def frame(script: gallery.Script, docname: str, height: int) -> nodes.raw:
    """Return the frame of a script's picture, as a page names it."""
    address = f"{'../' * docname.count('/')}{PLACE}/{script.name}.html"
    return nodes.raw("", _FRAME.format(address=address, title=escape(script.title), height=height), format="html")


def folded(block: nodes.Node) -> list[nodes.Node]:
    """Return a block that opens on a click."""
    before = '<details class="live-code"><summary>The code</summary>'
    return [nodes.raw("", before, format="html"), block, nodes.raw("", "</details>", format="html")]


def write_page(app: Sphinx, docname: str, source: list[str]) -> None:
    """Let a script be read as its page in Markdown."""
    path = Path(app.srcdir) / f"{docname}.py"
    if path.parent == FOLDER and path.is_file():
        source[0] = gallery.page(gallery.read(path))


def run_scripts(app: Sphinx) -> None:
    """Run every script. Raises ExtensionError where one fails."""
    if app.builder.format != "html":
        return
    try:
        for written in gallery.run_all(FOLDER, Path(app.outdir) / PLACE):
            _LOG.info("ran docs/gallery/%s.py", written.stem)
    except (RuntimeError, ValueError) as why:
        raise ExtensionError(str(why), why) from why


def setup(app: Sphinx) -> dict[str, Any]:
    """Add the directives to Sphinx."""
    app.add_directive("live", Live)
    app.add_directive("live-index", LiveIndex)
    app.connect("builder-inited", run_scripts)
    app.connect("source-read", write_page)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
