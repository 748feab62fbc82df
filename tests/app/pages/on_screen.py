"""Read a page that AppTest has run."""

from streamlit.testing.v1 import AppTest


def bar(app: AppTest) -> set[str]:
    """Return the names of the fields that text and numbers are typed into."""
    return {widget.label for widget in (*app.text_input, *app.number_input)}


def notes(app: AppTest) -> str:
    """Read what the page says in notes and errors, as it is read."""
    return "\n".join(note.value for note in (*app.error, *app.info)).replace("\\", "")
