"""Directives that write parts of pages from the code: a command's help and a module's docstring.

```` ```{command-help} trace ```` stands for what `attnviz trace --help` prints, and ```` ```{module-docstring}
attnviz.tracing.storage ```` for what that file says of itself, in Markdown.
"""

import os
from contextlib import redirect_stdout, suppress
from importlib import import_module
from inspect import cleandoc
from io import StringIO
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

WIDTH = 88  # characters of a line


class CommandHelp(SphinxDirective):
    """The help of a command, as a terminal has it."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return it as a block."""
        said = help_of(self.arguments[0])
        return [nodes.literal_block(said, said, language="text")]


class ModuleDocstring(SphinxDirective):
    """The docstring of a file, but for its first paragraph."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return what it says."""
        module = import_module(self.arguments[0])
        self.env.note_dependency(str(module.__file__))
        return self.parse_text_to_nodes(cleandoc(module.__doc__ or "").partition("\n\n")[2])


def help_of(command: str) -> str:
    """Ask a command for its help."""
    from attnviz.__main__ import main

    os.environ["COLUMNS"] = str(WIDTH)
    said = StringIO()
    with redirect_stdout(said), suppress(SystemExit):
        main([command, "--help"])
    return said.getvalue().strip()


def setup(app: Sphinx) -> dict[str, Any]:
    """Add the directives to Sphinx."""
    app.add_directive("command-help", CommandHelp)
    app.add_directive("module-docstring", ModuleDocstring)
    return {"version": "1", "parallel_read_safe": True}
