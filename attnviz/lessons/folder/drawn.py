"""Pictures of lesson steps, in a form that a browser shows without a server.

Most pictures are drawn by widgets. The others are HTML: either a tab for which the model ran with each value of its
controls when the folder was made (`mask_pages`, `many_sentences`), or a still picture with a sentence that says so
(`stills`).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from attnviz.heads.heads_state import HeadsState
from attnviz.hosts import registry
from attnviz.hosts.html.one_file import require_room
from attnviz.hosts.registry import picture
from attnviz.kit.covering import Covering
from attnviz.kit.fields import specs_of
from attnviz.kit.picture import Picture, ShownPicture
from attnviz.kit.views.terms import without_terms
from attnviz.kit.wire import Payload
from attnviz.learning.learning_state import EXPERIMENTS, FILE, TRANSLATOR, view_of
from attnviz.lessons.folder.causes import causes_picture
from attnviz.lessons.folder.many_sentences import ONLY_APP, many_sentences
from attnviz.lessons.folder.mask_pages import HTML_TABS, bench_of, laboratory
from attnviz.lessons.folder.stills import still
from attnviz.lessons.folder.variants import Part
from attnviz.lessons.lesson import Link
from attnviz.lessons.phrases import Translatable
from attnviz.lessons.picture import LinkedPicture, Pictures
from attnviz.lessons.question import Question
from attnviz.text.chat_link import read_chat
from attnviz.toys import shipped
from attnviz.toys.experiment import experiment_of
from attnviz.toys.recording import Recording
from attnviz.toys.storage import load_recording, toy_recording
from attnviz.toys.translator.recording import TranslatorRecording

_IN_VIEW = ("moment", "site", "line", "sentence")
_NO_FILE = (
    "A link cannot contain the recording that was opened from a file. Please put the file beside the "
    "lesson's, and write its name into the link, such as recording=run.npz."
)
Say = Callable[[str], str]  # into the language of the lesson
COVERED = Translatable("Covered until you answer the question or skip it.")
_PARTS = ("row", "map", "maps")  # covers that leave the rest of a Heads picture to be seen


@dataclass(frozen=True)
class Drawn:
    """The picture of a step: the payload of a widget, the parts of an HTML tab, or a still picture as HTML.

    `covered` is the payload that is shown while the question is open, if only a part of the picture is hidden then.
    `note` says in the lesson's language what only the app can do, or why the picture is still.
    """

    widget: str = ""
    opened: Payload | None = None
    covered: Payload | None = None
    parts: tuple[Part, ...] = ()
    html: str = ""
    note: str = ""

    @property
    def site(self) -> tuple[Any, ...] | None:
        """Kind, layer and head in focus of a Heads picture; None for any other picture."""
        if self.widget != "heads" or self.opened is None:
            return None
        return tuple(self.opened.header["view"][name] for name in ("kind", "layer", "head"))


def draw(
    link: Link,
    shown: LinkedPicture | None,
    question: Question | None,
    say: Say,
    *,
    run: Pictures,
    folder: Path | None = None,
) -> Drawn:
    """Draw the picture of the app to which a step's link leads.

    `shown` is the model's run on the inputs in the link, or None for a page that runs no model. `say` translates the
    picture's texts, `run` runs the second side of a comparison, and `folder` has the recordings that a link names.
    Raises ValueError for a link that cannot be followed.
    """
    if shown is None:
        return _live(learning_picture(link, folder))
    if link.page == "Heads":
        return _heads(shown, question, say)
    if link.page == "Masks":
        return _masks(shown, run, say)
    if link.page == "Decoding":
        return _live(_as_linked(_stepper(shown), shown))
    if link.page == "Causes":
        return _causes(shown, run, say)
    note = Translatable(
        "This picture cannot be changed here: the page {page} of attnviz needs a running model.", page=link.page
    )
    return Drawn(html=still(shown), note=say(note))


def _live(shown: ShownPicture) -> Drawn:
    require_room(shown.subject.trace, advice="Link to a picture of a shorter text.")
    return Drawn(shown.picture.widget, shown.without_python().payload())


def _tab_of(parts: Sequence[Part], only_app: str, say: Say) -> Drawn:
    """Make the picture of an HTML tab, without the markup of glossary terms, which a folder does not explain."""
    kept = (without_terms(part) if isinstance(part, str) else part for part in parts if part)
    return Drawn(parts=tuple(kept), note=say(only_app))


def _heads(shown: LinkedPicture, question: Question | None, say: Say) -> Drawn:
    tabs = registry.tabs("Heads")
    one = tabs.get(_tab(shown, "heads"), tabs["heads"])
    found = _live(_as_linked(_of_heads(one, shown), shown))
    if one.name != "heads" or question is None or question.cover not in _PARTS:
        return found
    covering = Covering(shown.cover(question, say(COVERED)))
    covered = _live(_as_linked(_of_heads(one, shown, covering=covering), shown))
    return replace(found, covered=covered.opened)


def _of_heads(one: Picture, shown: LinkedPicture, **more: Any) -> ShownPicture:
    """Draw a tab of Heads. Besides the trace it gets the model, which values such as ALTI need."""
    subject = one.read((shown.trace,), {"model": shown.model, "options": shown.options, **more})
    shared = HeadsState(shown.kind, shown.layer, shown.head)
    start = one.tab_rules.start(shown.trace, shared)  # Links draws the lines of the head in focus
    if start is None:
        return ShownPicture(one, subject, subject.start)
    return ShownPicture(one, subject, replace(start, kind=shown.kind))


def _masks(shown: LinkedPicture, run: Pictures, say: Say) -> Drawn:
    bench = bench_of(shown, run)
    found = HTML_TABS.get(_tab(shown, "pipeline"))
    return (
        _live(laboratory(bench)) if found is None else _tab_of(found.draw(bench, shown.link.texts), found.only_app, say)
    )


def _stepper(shown: LinkedPicture) -> ShownPicture:
    """Draw the picture of the page Decoding, training beside step-by-step decoding, for the link's sentence.

    The link's interventions are applied.
    """
    said, takes_target = shown.link.texts, shown.model.inputs.takes_target
    more = {"target": said.get("tgt", "").strip()} if takes_target else {"new_tokens": int(said.get("new") or 0)}
    more |= {"to": shown.trace.to, "interventions": shown.trace.interventions}
    if turns := read_chat(said.get("chat", "")):
        return picture("stepper").of(shown.model, messages=[turn.as_message for turn in turns], **more)
    return picture("stepper").of(shown.model, said.get("src", ""), **more)


def _causes(shown: LinkedPicture, run: Pictures, say: Say) -> Drawn:
    if (found := causes_picture(shown, run)) is not None:
        return _live(_as_linked(found, shown))
    is_patch = _tab(shown, "switch-off") == "patch"
    if not is_patch and (parts := many_sentences(shown)):
        return _tab_of(parts, ONLY_APP, say)
    tab = "Patch" if is_patch else "Many sentences"
    return Drawn(note=say(Translatable("No picture: this link to the tab “{tab}” does not say what to show.", tab=tab)))


def _tab(shown: LinkedPicture, first: str) -> str:
    return shown.link.texts.get("tab") or first


def _as_linked(made: ShownPicture, shown: LinkedPicture) -> ShownPicture:
    """Return a picture in the state (head, step, options and so on) that a link to it describes.

    Raises ValueError for an invalid text in the link.
    """
    subject, texts = made.subject, shown.link.texts
    named = registry.names_in_address(made.picture)
    names = {field: named(spec.name or field) for field, spec in specs_of(type(subject.start)).items()}
    asked = {field: texts[name] for field, name in names.items() if field in subject.fields and texts.get(name)}
    if getattr(subject.start, "kind", ""):
        asked["kind"] = shown.kind
    return made.with_fields(**asked)


def learning_picture(link: Link, folder: Path | None) -> ShownPicture:
    """Draw the picture of the page Learning to which a link leads.

    `folder` is that of the lesson's file, which may have recordings; None for a lesson without a file. Raises
    ValueError with one sentence.
    """
    where = link.texts.get("recording") or EXPERIMENTS
    found = _experiments(link) if where == EXPERIMENTS else [load_recording(_path(where, folder))]
    made = picture("learning").of(*found)
    asked = {name: link.texts[name] for name in _IN_VIEW if name in made.subject.fields and link.texts.get(name)}
    return made.with_fields(**asked)


def _experiments(link: Link) -> list[Recording | TranslatorRecording]:
    state, problems = view_of(link.texts)
    if problems:
        raise ValueError(str(problems[0]))
    return [_shipped(state.task, parts, state.seed) for parts in state.runs]


def _shipped(task: str, parts: tuple[str, ...], seed: int) -> Recording:
    experiment = experiment_of(task, parts, seed=seed)
    path = shipped.path(experiment)
    if not path.is_file():
        raise ValueError(
            f"No recording of {experiment.name[:60]} comes with the package. Please link to a shipped run."
        )
    return toy_recording(path)


def _path(where: str, folder: Path | None) -> Path:
    """Return the file of the recording that a link to the page Learning names.

    It is the shipped translator's recording, or a file of that name beside the lesson's file.
    """
    if where == TRANSLATOR:
        return shipped.FOLDER / "translator.npz"
    if where == FILE:
        raise ValueError(_NO_FILE)
    if folder is None or Path(where).name != where or not where.endswith(".npz"):
        raise ValueError(f"The recording “{where[:40]}” is not a file beside the lesson's, such as run.npz.")
    return folder / where
