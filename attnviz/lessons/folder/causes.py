"""Pictures for lesson steps that link to Causes. For the tabs Patch and Compare this runs the second text or model."""

from attnviz.causes.compared.compared import Side
from attnviz.causes.compared.sides import (
    FIXED_FOR_LANGUAGES,
    FIXED_FOR_MODELS,
    FIXED_FOR_SENTENCES,
    changed_sides,
    masked_sides,
    other_language,
    other_sentence,
    side,
)
from attnviz.hosts.registry import picture
from attnviz.kit.picture import ShownPicture
from attnviz.lessons.lesson import Link
from attnviz.lessons.picture import LinkedPicture, Pictures
from attnviz.models.catalogue import DEFAULT, TOY, entries
from attnviz.models.toy.toy import Toy
from attnviz.text.chat_link import question, with_question
from attnviz.text.languages import named_code
from attnviz.toys import shipped
from attnviz.toys.switches import toy_title


def causes_picture(shown: LinkedPicture, run: Pictures) -> ShownPicture | None:
    """Draw the tab of the page Causes to which a link leads. Return None if no widget draws it, or if its texts are
    incomplete.
    """
    tab = shown.link.texts.get("tab") or "switch-off"
    if tab == "switch-off":
        return picture("switches").of(shown.model, shown.trace)
    if tab == "patch":
        return _patching(shown, run)
    if tab == "attribute":
        return picture("attribution").of(shown.model, shown.trace)
    return picture("compared").of(*_sides(shown, run)) if tab == "compare" else None


def rerun(run: Pictures, link: Link, **texts: str) -> LinkedPicture:
    """Run the model on the inputs in a link's address, with some of these inputs replaced by `texts`.

    Raises ValueError if the run is refused.
    """
    return run(Link(link.page, {**link.texts, **texts}, link.line))


def _patching(shown: LinkedPicture, run: Pictures) -> ShownPicture | None:
    """Draw patches between the sentence and the changed one; None without a changed sentence.

    Prompts are not continued by written tokens, since the metric is the next token.
    """
    changed = shown.link.texts.get("changed", "")
    if not changed.strip():
        return None
    asked = with_question(shown.link.texts, changed)
    clean, other = rerun(run, shown.link, new=""), rerun(run, shown.link, **asked, tgt="", new="")
    return picture("patching").of(shown.model, clean.trace, other.trace)


def _sides(shown: LinkedPicture, run: Pictures) -> tuple[Side, Side]:
    """Run both sides of a comparison as the page Causes does. Raises ValueError if a run is refused."""
    said, model = shown.link.texts, shown.model
    by = said.get("by") or "sentence"
    if by == "do":
        return changed_sides(model, rerun(run, shown.link, do="").trace, shown.trace)
    if by == "mask":
        return masked_sides(model, shown.trace, said.get("kind") or "cross", said.get("rule") or "none")
    if by == "model":
        return _models(shown, run)
    if by == "language" and len(model.languages) > 1:
        return _languages(shown, run)
    src, other = question(said), other_sentence(question(said), said.get("other", ""))
    here, there = (rerun(run, shown.link, **with_question(said, text), tgt="").trace for text in (src, other))
    return side(src, model, here), side(other, model, there, FIXED_FOR_SENTENCES)


def _languages(shown: LinkedPicture, run: Pictures) -> tuple[Side, Side]:
    model, said = shown.model, shown.link.texts
    here = said.get("to", "") if said.get("to") in model.languages else model.languages[0]
    into = other_language(model, here, said.get("into", ""))
    runs = (rerun(run, shown.link, to=to, tgt="").trace for to in (here, into))
    one, other = (named_code(to) for to in (here, into))
    return side(one, model, next(runs)), side(other, model, next(runs), FIXED_FOR_LANGUAGES)


def _models(shown: LinkedPicture, run: Pictures) -> tuple[Side, Side]:
    """Run the same text with two models.

    The second model runs without interventions, which name the first one's heads.
    """
    name = shown.link.texts.get("model") or DEFAULT
    against = shown.link.texts.get("against") or _first_other(name)
    there = rerun(run, shown.link, model=against, tgt="", do="", to=_language_of(shown, against))
    own = side(_title(name, shown), shown.model, shown.trace)
    return own, side(_title(against, there), there.model, there.trace, FIXED_FOR_MODELS)


def _first_other(name: str) -> str:
    """Return the model that the page compares with by default.

    For a toy this is another toy trained on the same task, otherwise another shipped model, or the model itself if
    there is no other.
    """
    toys = [TOY + experiment.name for experiment in shipped.WITH_WEIGHTS]
    task = name.removeprefix(TOY).split("-")[0]
    alike = [toy for toy in toys if name.startswith(TOY) and toy.removeprefix(TOY).split("-")[0] == task]
    others = [entry.name for entry in entries()]
    return next((other for other in (*alike, *others) if other != name), name)


def _language_of(shown: LinkedPicture, against: str) -> str:
    """Return the target language for the second model of a comparison: the first one's if it has that language, else
    "".
    """
    languages = next((entry.languages for entry in entries() if entry.name == against), ())
    to = shown.link.texts.get("to", "")
    return to if to in languages else ""


def _title(name: str, shown: LinkedPicture) -> str:
    if isinstance(shown.model, Toy):
        return toy_title(shown.model.experiment)
    return next((entry.title for entry in entries() if entry.name == name), shown.model.name)
