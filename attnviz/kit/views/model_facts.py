"""Facts about a model as HTML, a list under each heading. The text of a model card is always escaped."""

import html
from collections.abc import Iterable

from attnviz.models.facts import Section


def facts_html(sections: Iterable[Section]) -> str:
    """Return the sections as HTML, each with a heading and its facts."""
    return "".join(f"<section><h3>{html.escape(one.title)}</h3><dl>{_facts(one)}</dl></section>" for one in sections)


def _facts(section: Section) -> str:
    return "".join(
        f"<div><dt>{html.escape(name)}</dt><dd dir='auto'>{html.escape(said)}</dd></div>"
        for name, said in section.facts.items()
    )
