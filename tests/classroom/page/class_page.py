"""Read the page Class and the panel of a class, and join a class."""

from streamlit.testing.v1 import AppTest


def page_text(app: AppTest) -> str:
    parts = (*app.error, *app.info, *app.warning, *app.success, *app.markdown, *app.caption)
    return "\n".join(part.value for part in parts).replace("\\", "")


def sent_text(app: AppTest) -> str:
    """Return all text that the run sent to the browser."""
    return "\n".join(str(element.proto) for element in app.main) + page_text(app)


def join(app: AppTest, code: str, nickname: str) -> AppTest:
    app.text_input(key="class-code").set_value(code)
    app.text_input(key="class-nickname").set_value(nickname)
    return next(button for button in app.button if button.label == "Join").click().run()
