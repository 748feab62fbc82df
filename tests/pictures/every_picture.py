"""What each picture is drawn of in tests: a trace, a model and a trace, or two runs."""

from typing import Any

from attnviz.learning import shipped
from attnviz.learning.experiment import Experiment
from attnviz.learning.storage import toy_recording
from attnviz.models.translator.translator import Translator
from attnviz.pictures.causes.compared import Side
from attnviz.pictures.shown.registry import PICTURES, ShownPicture, picture
from attnviz.tracing.trace import Trace

OF_RUNS = ("mask_lab", "switches", "attribution")
OF_TRACES = ("heads", "links", "whole_model", "one_row", "neuron", "flow", "spans", "alignment")


def draw_picture(name: str, model: Translator, trace: Trace, **asked: Any) -> ShownPicture:
    """Draw one picture; `asked` are fields of its state."""
    other = model.trace("I see you", to="fr", tgt_text="je t'aime")
    subjects: dict[str, tuple[Any, ...]] = {
        **dict.fromkeys(OF_TRACES, (trace,)),
        **dict.fromkeys(OF_RUNS, (model, trace)),
        "stepper": (model, "I love you"),
        "patching": (model, trace, other),
        "compared": (Side("one", model, trace), Side("other", model, other)),
        "learning": (toy_recording(shipped.path(Experiment("reverse"))),),
    }
    language = {"to": "fr"} if name == "stepper" else {}
    return picture(name).of(*subjects[name], **language, **asked)


def draw_every(model: Translator, trace: Trace, **asked: dict[str, Any]) -> dict[str, ShownPicture]:
    """Draw every picture; `asked` are fields of the states of some, by the picture's name."""
    return {name: draw_picture(name, model, trace, **asked.get(name, {})) for name in PICTURES}
