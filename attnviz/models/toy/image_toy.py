"""A trained toy that reads digits, as a model: Heads and Patches open it like any vision model."""

import hashlib
import time
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, Self, cast

import numpy as np
import torch

from attnviz.guards.arguments import reads_arguments
from attnviz.guards.images import read_image
from attnviz.models.image_inputs import NO_TEXT, ReadsImages
from attnviz.models.notebook import two_line_summary
from attnviz.models.protocol import Model
from attnviz.models.toy.toy import weights_of
from attnviz.toys.experiment import Experiment
from attnviz.toys.network import PatchClassifier
from attnviz.toys.recording import Recording, image_sentence
from attnviz.toys.tasks.digits import INK, SIDE, drawn_pixels
from attnviz.tracing.causes.intervention import Intervention
from attnviz.tracing.causes.resolution import CheckedInterventions
from attnviz.tracing.interventions import Chain
from attnviz.tracing.record import RunInfo
from attnviz.tracing.recorder import Recorder
from attnviz.tracing.trace import Trace
from attnviz.transformer.layers import ForwardContext
from attnviz.transformer.probe import Kind, Probe, gradients_if_needed


@reads_arguments
class ImageToy(ReadsImages):
    """The network of a recording that reads images of digits. All methods are thread-safe."""

    def __init__(self, experiment: Experiment, model: PatchClassifier, *, model_id: str, name: str = "") -> None:
        self.experiment, self.model, self.name = experiment, model, name or experiment.toy_task.title
        self._id, self._learned = model_id, weights_of(model)

    @classmethod
    def from_recording(cls, recording: Recording, name: str = "") -> Self:
        """Return the model at the end of a recording. Raises ValueError for a recording without weights."""
        network = recording.network()
        assert isinstance(network, PatchClassifier)
        digest = hashlib.sha256(weights_of(network) + recording.experiment.key.encode())
        return cls(recording.experiment, network, model_id=digest.hexdigest()[:12], name=name)

    def __repr__(self) -> str:
        """Describe the model in two lines for a notebook: its sizes and its methods."""
        return two_line_summary(cast(Model, self))

    @property
    def model_id(self) -> str:
        """The id of the weights: the recording's, or a new one if they were trained further."""
        now = weights_of(self.model)
        return self._id if now == self._learned else hashlib.sha256(now + self.experiment.key.encode()).hexdigest()[:12]

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """The kind of attention that the model computes."""
        return self.experiment.toy_task.kinds

    @property
    def shapes(self) -> dict[Kind, tuple[int, int]]:
        """Numbers of layers and heads."""
        return dict.fromkeys(self.kinds, (self.model.config.n_layers, self.model.config.n_heads))

    @cached_property
    def n_parameters(self) -> int:
        """Number of parameters."""
        return sum(parameter.numel() for parameter in self.model.parameters())

    @property
    def device(self) -> torch.device:
        """The device of the weights."""
        return self.model.cls.device

    @property
    def dtype(self) -> torch.dtype:
        """The dtype of the weights."""
        return self.model.cls.dtype

    def classify(self, image: Any) -> dict[str, float]:
        """Return the probability of each digit for an image, which is read as in `trace`."""
        values, _ = prepare(image)
        with torch.inference_mode():
            return _probabilities(self.model(self._batch(values)))

    def trace(
        self, image: Any, *, hidden: bool = True, interventions: Sequence[Intervention] = (), **more: Any
    ) -> Trace:  # fmt: skip
        """Run the toy on an image and record every site.

        `image` is a path, a Pillow image, or an array `(height, width, 3)`, with dark ink on light paper. It is cut to
        its middle square and reduced to 8 x 8 grey values, as the images of the training are. The trace's tokens are
        [CLS] and the patches, each with its `place`. `trace.info.notes` say which digit the toy reads. `hidden` has no
        effect, because a toy is small. Raises ImageError for an image that cannot be read, and ValueError for an
        intervention that is not possible.
        """
        if asked := [name for name, value in more.items() if value not in (None, "", (), [])]:
            raise ValueError(f"{self.name} takes an image alone, without {', '.join(asked)}.")
        values, notes = prepare(image)
        with torch.inference_mode():
            return self._run(values, notes, interventions)

    @gradients_if_needed
    def rerun(self, trace: Trace, probe: Probe | None = None) -> Trace:
        """Run and record one pass over the image of `trace`, with the probe and then the trace's interventions
        applied.
        """
        if not trace.sentences[0].images:
            raise ValueError(NO_TEXT.format(name=self.name))
        made = self._run(prepare(trace.sentences[0].images[0].array)[0], (), trace.interventions, probe)
        return replace(made, info=trace.info)

    def _run(
        self, values: np.ndarray, notes: tuple[str, ...], interventions: Sequence[Intervention],
        first: Probe | None = None,
    ) -> Trace:  # fmt: skip
        """Run and record one pass, with the probe `first` and then the interventions applied."""
        sentence, recorder = image_sentence(drawn_pixels(values)), Recorder()
        changes = CheckedInterventions.check(interventions, self.shapes, self.model_id if interventions else "")
        resolved = changes.resolve([sentence])
        probe, started = resolved.chain_with(recorder), time.perf_counter()
        hidden = self.model.encode(
            self._batch(values), ForwardContext(probe if first is None else Chain((first, probe)))
        )
        seconds = time.perf_counter() - started
        said = sorted(_probabilities(self.model.classify(hidden)).items(), key=lambda one: -one[1])
        reads = "The toy reads the digit {} with probability {:.3f}, then {} with {:.3f}.".format(*said[0], *said[1])
        dtype = str(self.dtype).removeprefix("torch.")
        info = RunInfo(self.model_id, "", self.device.type, dtype, seconds, notes=(*notes, reads, *resolved.notes))
        return Trace.from_recorder(recorder, [sentence], memory=hidden, info=info, interventions=changes.interventions)

    def _batch(self, values: np.ndarray) -> torch.Tensor:
        return (torch.from_numpy(values).to(self.dtype) / INK).unsqueeze(0)


def prepare(image: Any) -> tuple[np.ndarray, tuple[str, ...]]:
    """Return an image as grey values `(8, 8)` from 0 (paper) to 16 (ink), and notes on what was changed.

    Raises ImageError for an image that cannot be read.
    """
    from PIL import Image

    given = read_image(image)
    height, width = given.pixels.shape[:2]
    grey, notes = Image.fromarray(given.pixels).convert("L"), given.notes
    if (height, width) != (SIDE, SIDE):
        short = min(height, width)
        left, top = (width - short) // 2, (height - short) // 2
        square = grey.crop((left, top, left + short, top + short))
        grey = square.resize((SIDE, SIDE), Image.Resampling.BOX)
        notes = (
            *notes,
            f"The image of {width} × {height} pixels was cut to the middle {short} × {short}, made grey, and resized "
            f"to {SIDE} × {SIDE}.",
        )
    ink = (255 - np.asarray(grey, dtype=np.float64)) * (INK / 255)
    return np.rint(ink).astype(np.uint8), notes


def _probabilities(logits: torch.Tensor) -> dict[str, float]:
    return {str(digit): float(chance) for digit, chance in enumerate(logits[0].softmax(dim=-1))}
