"""Pictures of steps that link to Learning: shipped runs, the translator's training, recordings beside the lesson."""

from pathlib import Path

from attnviz.hosts.registry import picture
from attnviz.kit.picture import ShownPicture
from attnviz.learning.learning_state import EXPERIMENTS, FILE, TRANSLATOR, view_of
from attnviz.lessons.lesson import Link
from attnviz.toys import shipped
from attnviz.toys.names import experiment_of
from attnviz.toys.recording import Recording
from attnviz.toys.storage import load_recording, toy_recording
from attnviz.toys.translator.recording import TranslatorRecording

_IN_VIEW = ("moment", "site", "line", "sentence")
_NO_FILE = (
    "A link cannot contain the recording that was opened from a file: put the file beside the lesson's, and write its "
    "name into the link, such as recording=run.npz."
)


def learning_picture(link: Link, folder: Path | None) -> ShownPicture:
    """Draw what a link to Learning shows; `folder` is that of the lesson's file, None for a lesson without a file.

    Raises ValueError with one sentence.
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
        raise ValueError(f"No recording of {experiment.name[:60]} comes with the package: link to a shipped run.")
    return toy_recording(path)


def _path(where: str, folder: Path | None) -> Path:
    """Return the file of a recording: the translator's, or one of that name beside the lesson's file."""
    if where == TRANSLATOR:
        return shipped.FOLDER / "translator.npz"
    if where == FILE:
        raise ValueError(_NO_FILE)
    if folder is None or Path(where).name != where or not where.endswith(".npz"):
        raise ValueError(f"The recording “{where[:40]}” is not a file beside the lesson's, such as run.npz.")
    return folder / where
