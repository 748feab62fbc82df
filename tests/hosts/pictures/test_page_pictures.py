"""Pictures of Decoding, Masks, Causes and Learning, drawn from a trace and their state, without a page."""

import pytest

from attnviz.causes.attribution import attribution
from attnviz.causes.compared import compared
from attnviz.causes.compared.compared import Side
from attnviz.causes.numbers.pair import pair_of
from attnviz.causes.numbers.switched_off import rerun_under
from attnviz.causes.patching import patching
from attnviz.causes.switches import switches
from attnviz.decoding import stepper
from attnviz.learning import learning
from attnviz.masks import mask_lab
from attnviz.toys import shipped
from attnviz.toys.experiment import Experiment
from attnviz.toys.storage import toy_recording
from attnviz.tracing.causes.making import ablate


@pytest.fixture(scope="module")
def headers(model, trace) -> dict[str, dict]:
    other = model.trace("I see you", to="fr", tgt_text="je t'aime")
    runs = rerun_under(model, trace, [ablate("cross", layer=1, heads=[0])])
    made = {
        "stepper": stepper.stepper(model, trace),
        "mask_lab": mask_lab.mask_lab(model, trace),
        "switches": switches.switches(model, runs),
        "patching": patching.patching(model, pair_of(model, trace, other)),
        "attribution": attribution.attribution(model, trace),
        "compared": compared.compared(Side("one", model, trace), Side("other", model, other)),
        "learning": learning.learning([toy_recording(shipped.path(Experiment("reverse")))]),
    }
    return {name: one.header for name, one in made.items()}


def test_each_picture_is_made_of_a_trace_and_its_state_alone(headers) -> None:
    assert len(headers["stepper"]["steps"]) == headers["stepper"]["view"]["step"] + 1
    assert headers["mask_lab"]["words"]["title"].startswith("Decoder self-attention, L0 H0: mask causal")
    assert headers["switches"]["view"]["off"] == headers["switches"]["done"] == ["cross.1.0"]
    assert headers["patching"]["matrices"] or headers["patching"]["why_not"]
    assert sum(bar["value"] for bar in headers["attribution"]["bars"]) == pytest.approx(headers["attribution"]["total"])
    assert {"kind", "layer", "head"} == headers["compared"]["view"].keys()
    assert headers["learning"]["asked"]["run"] == 0


def test_a_script_has_its_options_from_the_header(headers) -> None:
    assert headers["switches"]["options"]["put"][0] == ["zero", "Zero"]
    assert headers["attribution"]["options"]["order"] == [["size", "By size"], ["model", "In the model’s order"]]
