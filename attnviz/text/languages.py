"""Names of languages, for people. Knows no tokenizer."""

_NAMES = {"de": "German", "es": "Spanish", "fr": "French", "zh": "Chinese"}


def language_name(code: str) -> str:
    """The name of a language, such as French for `fr`; the code itself where no name is known."""
    return _NAMES.get(code, code)
