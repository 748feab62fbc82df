"""What the kernel of the documentation's notebooks runs first: it lets a picture stand on a page as a file in a frame.

No Python answers on a page, and a widget would ask a network for its front end.
"""

from pathlib import Path

HEIGHT = 620  # pixels
CODE = f"""
def static(widget, include=None, exclude=None):
    from attnviz.hosts.notebook.show import StaticPicture

    return {{"text/html": StaticPicture(widget.shown, widget.height or {HEIGHT})._repr_html_()}}, {{}}


formatter = get_ipython().display_formatter.mimebundle_formatter
formatter.for_type_by_name("attnviz.hosts.notebook.widget", "PictureWidget", static)
del formatter
"""


def write_profile(folder: Path) -> str:
    """Write a profile of IPython that does so; return its folder, for the variable IPYTHONDIR."""
    start = folder / "profile_default" / "startup"
    start.mkdir(parents=True, exist_ok=True)
    (start / "pictures.py").write_text(CODE, encoding="utf-8")
    return str(folder)
