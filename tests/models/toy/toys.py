"""Toys of shipped recordings, and a line that one of them knows."""

import attnviz
from attnviz.models.toy.toy import Toy
from attnviz.toys import shipped
from attnviz.toys.experiment import Experiment

LINE, FRENCH = "the black dogs see my small car", "les chiens noirs voient ma petite voiture"


def shipped_toy(**choices) -> Toy:
    return Toy.from_recording(attnviz.load_recording(shipped.path(Experiment(**choices))), choices["task"])
