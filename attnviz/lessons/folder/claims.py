"""Check whether the texts of a step agree with its picture: named rows, controls, options, and input tokens.

Not everything that a text says can be checked. Each check here would have found an untrue sentence in an earlier
version of a lesson.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache

from attnviz.decoding.decoding import DecodingState
from attnviz.hosts import registry
from attnviz.kit.bundle import source
from attnviz.kit.fields import read
from attnviz.kit.glossary import FILES, tried_on
from attnviz.lessons.folder.drawn import Drawn
from attnviz.lessons.folder.mask_pages import bench_of
from attnviz.lessons.folder.variants import Variants
from attnviz.lessons.lesson import PAGES, LessonStep, Link
from attnviz.lessons.picture import LinkedPicture
from attnviz.lessons.question import NUMBER, Question
from attnviz.masks.masks import MaskBench
from attnviz.models.translator.translator import Translator

_ROW = re.compile(r"\brow (\d{1,4})\b")
_LABEL = re.compile(r"“([^“”]{1,60} → [^“”]{1,60})”")
_BOLD = re.compile(r"\*\*([^*\n]{2,40})\*\*")
_TAB = re.compile(r"\btab \*\*([^*\n]{2,40})\*\*")
_CONTROL = re.compile(r"\b(?:tab|button|switch|list|field|menu) \*\*([^*\n]{2,40})\*\*")
# The claims on tokens that go in, in English and in each language of assets/phrases: de, es, fr, zh.
_NEVER = (
    "(?:never goes|does not go) in\\b|(?:geht|kommt) (?:nie|niemals|nicht) hinein\\b|(?:nunca|no) entra\\b"
    "|n[’']entre (?:jamais|pas)\\b|(?:从不|从来不|绝不|不会|不)(?:进入|输入)"
)
_NEVER_IN = re.compile(rf"[`*“„«]\s?([^`*“”„«»\s]{{1,20}})\s?[`*”“»]\s?(?:{_NEVER})")
_GO_IN = re.compile(
    r"\b(\w+) (?:tokens go in|Tokens? (?:gehen|kommen) hinein|tokens entran|tokens entrent)\b"
    r"|\b[Ee]ntran (\w+) tokens\b|([0-9]+|[零一二两三四五六七八九十]+)\s?个词元(?:会)?(?:进入|输入)"
)
_NUMBERS = {
    word: number
    for words in (
        "zero one two three four five six seven eight nine ten eleven twelve",
        "null ein zwei drei vier fünf sechs sieben acht neun zehn elf zwölf",
        "cero un dos tres cuatro cinco seis siete ocho nueve diez once doce",
        "zéro un deux trois quatre cinq six sept huit neuf dix onze douze",
        "零 一 两 三 四 五 六 七 八 九 十 十一 十二",
    )
    for number, word in enumerate(words.split())
}
# Names in a question's `with`, and the parameter of a link that makes a page show it: (page, tab, parameter).
_SHOWN_BY: Mapping[str, tuple[str, str, str]] = {
    "line": ("Anatomy", "skip", "skip"),
    "bug": ("Implementations", "bugs", "bug"),
    "at": ("Masks", "leak", "at"),
    "instead": ("Masks", "leak", "instead"),
}
# Measures that only one tab shows: (page, parameter, value).
_SHOWN_ON: Mapping[str, tuple[str, str, str]] = {
    "moved": ("Anatomy", "tab", "modulation"),
    "one_head": ("Anatomy", "tab", "claims"),
    "parameter_share": ("Anatomy", "tab", "claims"),
    "equal_prefixes": ("Decoding", "more", "experiment"),
}


def untrue_claims(step: LessonStep, link: Link | None, shown: LinkedPicture | None) -> Iterator[str]:
    """Yield a sentence for each claim in a step's texts that is not true of its picture; `shown` is the run of
    `link`.
    """
    if link is None:
        return
    text = step_text(step)
    yield from _misplaced_controls(text, link.page)
    if step.question is not None:
        yield from _unshown_measure(step.question, link)
    if shown is None:
        return
    for find in (_rows, _mask, _tokens):
        try:
            yield from find(step, text, shown)
        except ValueError as error:
            yield str(error)


def step_text(step: LessonStep) -> str:
    """Return all texts of a step that a student reads, one per line."""
    question = step.question
    said = () if question is None else (question.ask, *(one.text for one in question.options), *question.hints)
    return "\n".join((step.title, step.text, *said, question.why if question else ""))


def missing_controls(step: LessonStep, drawn: Drawn | None) -> Iterator[str]:
    """Yield the name of each tab, button and page in a step's texts that its picture in a folder of files lacks."""
    has, text = _names_in(drawn), step_text(step)
    pages = [name for name in _BOLD.findall(text) if name in PAGES.values()]
    yield from (name for name in dict.fromkeys([*_named_controls(text), *pages]) if not has(name))


def _misplaced_controls(text: str, page: str) -> Iterator[str]:
    """Yield a sentence for each tab or control that the text names but the page lacks, unless its page is named too."""
    titles = {place for place, tab in _tabs() if tab == page}
    for name in dict.fromkeys(_TAB.findall(text)):
        if name not in titles and not _named_page_has(name, text):
            yield (f"the text names the tab “{name}”, but {page} has no such tab; please link to the page that has it")
    for name in _named_controls(text):
        if name in _all_controls() and name not in _controls(page) and not _named_page_has(name, text):
            yield (
                f"the text names “{name}”, which is not on {page}; please link to the page that has it, or "
                "name that page"
            )


def _named_controls(text: str) -> list[str]:
    """Return the controls that a text names in bold.

    Bold text is a control's name if it follows “tab” or “button”, or if it has several words and some page has such a
    control. A single bold word, such as **Weights**, may be an ordinary word.
    """
    long = [name for name in _BOLD.findall(text) if " " in name and name in _all_controls()]
    return list(dict.fromkeys([*_CONTROL.findall(text), *long]))


def _named_page_has(name: str, text: str) -> bool:
    return any(name in _controls(page) for page in PAGES.values() if f"**{page}**" in text)


@cache
def _tabs() -> frozenset[tuple[str, str]]:
    """Return (title, page) of every tab of the app."""
    places = {term.place for page in FILES for term in tried_on(page)}
    return frozenset((place.title, place.page) for place in places if place.title)


@cache
def _controls(page: str) -> frozenset[str]:
    """Return the names of a page's tabs and controls from its glossary."""
    named = {term.name for term in tried_on(page) if term.place.page == page}
    return frozenset(named | {title for title, of in _tabs() if of == page})


@cache
def _all_controls() -> frozenset[str]:
    return frozenset(name for page in FILES for name in _controls(page) if name[:1].isupper())


def _names_in(drawn: Drawn | None) -> Callable[[str], bool]:
    """Return a function that tells whether a picture of a static lesson page has a control of a given name."""
    if drawn is None:
        return lambda name: False
    of_widget = source(registry.widget(drawn.widget)) if drawn.widget else None
    code = "" if of_widget is None else of_widget.html + of_widget.module
    parts = [part for part in drawn.parts if isinstance(part, Variants)]
    labels = {part.label for part in parts} | {value for part in parts for value in part.values}
    return lambda name: name in labels or f">{name}<" in code or f'"{name}"' in code


def _unshown_measure(question: Question, link: Link) -> Iterator[str]:
    """Yield a sentence for each argument of the question's measure (a line, bug, position or experiment) that the link
    does not select.
    """
    said = link.texts
    for name, value in (question.more or {}).items():
        page, tab, parameter = _SHOWN_BY.get(name, ("", "", ""))
        if page and (link.page, said.get("tab"), said.get(parameter)) != (page, tab, value):
            found = said.get(parameter) if link.page == page else ""
            instead = f", not {found}" if found else ""
            yield f"the question is about {name} {value}{instead}: link to {page}, with tab={tab}&{parameter}={value}"
    if question.measure in _SHOWN_ON:
        page, parameter, value = _SHOWN_ON[question.measure]
        if (link.page, said.get(parameter)) != (page, value):
            yield (f"the measure {question.measure} is shown by {page}; please link there, with {parameter}={value}")
    run = (question.more or {}).get("run", "")
    if run and link.page == "Learning" and run not in _runs(said):
        yield f"the question is about the run {run}, but the link shows {' and '.join(_runs(said))}"


def _runs(said: Mapping[str, str]) -> list[str]:
    """Return the names of the training runs that a link to Learning shows."""
    parts = [said.get("first", "plain"), said.get("second", "none")]
    return [
        "-".join([said.get("task", "french"), *(part for part in one.split("~") if part != "plain")])
        for one in parts
        if one != "none"
    ]


def _rows(step: LessonStep, text: str, shown: LinkedPicture) -> Iterator[str]:
    """Yield a sentence for each row that the text names but the map lacks, or that the link should pin but does not."""
    labels = [row.text for row in shown.maps.rows]
    for name in dict.fromkeys(_LABEL.findall(text)):
        if name not in labels:
            yield f"the text names the row “{name}”, but the picture's rows are {', '.join(labels)[:200]}"
    numbers = [int(found) for found in dict.fromkeys(_ROW.findall(text))]
    yield from (
        f"the text names row {at}, but the picture ends at row {len(labels) - 1}" for at in numbers if at >= len(labels)
    )
    if not numbers and step.question is not None and step.question.row:
        numbers = [shown.row(step.question.row)]
    if numbers and shown.link.page == "Masks" and shown.link.texts.get("row") not in [str(at) for at in numbers]:
        yield f"the step is about row {numbers[0]}, which the link does not choose: add row={numbers[0]} to it"


def _mask(step: LessonStep, text: str, shown: LinkedPicture) -> Iterator[str]:
    """Yield a sentence for each mask, fill value, dtype or fully masked row in the question that the picture lacks."""
    more, said = (step.question.more if step.question else None) or {}, shown.link.texts
    if shown.link.page == "Decoding":
        if "mask" in more and said.get("causal", "causal") != more["mask"]:
            yield f"the question is about the mask {more['mask']}: add causal={more['mask']} to the link"
    elif {"fill", "dtype", "blind", "mask"} & set(more):
        if shown.link.page == "Masks":
            yield from _laboratory(more, bench_of(shown, _no_second_run), shown)
        else:
            yield "the question is about a fill; please link to Masks, which shows it"


def _laboratory(more: Mapping[str, str], bench: MaskBench, shown: LinkedPicture) -> Iterator[str]:
    view = bench.view
    has = {"mask": "~".join(name for name, _ in view.rules) or "none"}
    if shown.link.texts.get("tab") != "fills":  # which shows every fill in every number format
        has |= {"fill": view.fill, "dtype": view.dtype}
    for name, value in has.items():
        if more.get(name, value) != value:
            instead = f"put {'masks' if name == 'mask' else name}={more[name]} into the link"
            yield f"the question is about {name} {more[name]}, but the picture has {value}: {instead}"
    if more.get("blind") and bool(bench.mask[shown.row(more["blind"])].any()):
        seen = "has no keys in the question, but sees some in the picture"
        yield f"row {more['blind']} {seen}; please paint the row shut, then copy the link"


def _no_second_run(link: Link) -> LinkedPicture:
    raise ValueError("attnviz cannot check a question about the mask where the link to Masks has a second sentence")


def _tokens(step: LessonStep, text: str, shown: LinkedPicture) -> Iterator[str]:
    """Yield a sentence for each wrong claim about which tokens, and how many, are fed into the decoder."""
    fed = fed_tokens(shown)
    for name in dict.fromkeys(_NEVER_IN.findall(text)):
        if name in fed:
            yield f"the text says that {name} never goes in, but in the picture it does{_padded(shown)}"
    counts = [_NUMBERS.get(word.lower(), word) for word in map("".join, _GO_IN.findall(text))]
    yield from (f"the text says that {count} tokens go in, but in the picture {len(fed)} do" for count in counts
                if str(count).isdecimal() and int(count) != len(fed))  # fmt: skip
    asked = step.question
    if asked is not None and (asked.kind, asked.measure) == (NUMBER, "tokens_fed") and _padding(shown):
        yield f"the question counts the tokens that go in, but in the picture padding goes in, too{_padded(shown)}"


def fed_tokens(shown: LinkedPicture) -> list[str]:
    """Return the input tokens of the decoder, followed by the padding that the page Decoding adds for its batch."""
    tokens = [token.text for token in shown.trace.tokens("tgt")] if shown.trace.sentences[0].tgt else []
    return (tokens + ["<pad>"] * _padding(shown))[:-1]


def _padding(shown: LinkedPicture) -> int:
    if shown.link.page != "Decoding" or not isinstance(shown.model, Translator):
        return 0
    return read(DecodingState, shown.link.texts, dict.fromkeys(("layer", "head"), 1))[0].padding


def _padded(shown: LinkedPicture) -> str:
    return "; please add padding=0 to the link" if _padding(shown) else ""
