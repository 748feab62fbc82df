"""Sentences that Streamlit would read as Markdown, shown as they are."""


def literal(sentence: str) -> str:
    """Markdown that shows a sentence as it is."""
    return "".join(f"\\{character}" if character in "\\`*_{}[]<>()#+-.!|$:~^" else character for character in sentence)
