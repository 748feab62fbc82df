"""Toys of shipped recordings, and a line that one of them knows."""

import attnviz
from attnviz.learning import shipped
from attnviz.learning.experiment import Experiment
from attnviz.models.toy.toy import Toy

LINE, FRENCH = "the black dogs see my small car", "les chiens noirs voient ma petite voiture"


def shipped_toy(**choices) -> Toy:
    return Toy.from_recording(attnviz.load_recording(shipped.path(Experiment(**choices))), choices["task"])
