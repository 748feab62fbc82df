"""A trained toy that reads digits, as a model: Heads and Patches open it like any vision model."""

import hashlib
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Self, cast

import numpy as np
import torch

from attnviz.guards.arguments import reads_arguments
from attnviz.guards.images import read_image
from attnviz.models.image_inputs import NO_TEXT, ReadsImages
from attnviz.models.protocol import Model, two_line_summary
from attnviz.models.toy.toy import weights_of
from attnviz.toys.experiment import Experiment
from attnviz.toys.network import PatchClassifier
from attnviz.toys.recording import Recording, image_sentence
from attnviz.toys.tasks.digits import INK, SIDE, drawn_pixels
from attnviz.tracing.causes.edits import Edits
from attnviz.tracing.causes.intervention import Intervention
from attnviz.tracing.causes.resolution import CheckedInterventions
from attnviz.tracing.interventions import Chain
from attnviz.tracing.record import RunInfo, Sentence
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
        """The kinds of attention that the model computes."""
        return self.experiment.toy_task.kinds

    @property
    def shapes(self) -> dict[Kind, tuple[int, int]]:
        """Numbers of layers and heads."""
        return dict.fromkeys(self.kinds, (self.model.config.n_layers, self.model.config.n_heads))

    @property
    def labels(self) -> tuple[str, ...]:
        """The digits that the toy chooses from."""
        return tuple(map(str, range(self.model.W_class.out_features)))

    @property
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
            return _probabilities(self.model(self._batch([values])))

    def trace(
        self, image: Any, *, hidden: bool = True, interventions: Sequence[Intervention] = (), **more: Any
    ) -> Trace:  # fmt: skip
        """Run the toy on an image and record every site.

        `image` is a path, a Pillow image, or an array `(height, width, 3)`, with dark ink on light paper. It is cut to
        its middle square and reduced to 8 x 8 grey values, as the images of the training are. The trace's tokens are
        [CLS] and the patches, each with its `place`. `trace.info.notes` say which digit the toy reads, and
        `trace.logits` `(1, 1, labels)` are the scores of all digits. `hidden` has no effect, because a toy is small.
        Raises ImageError for an image that cannot be read, and ValueError for an intervention that is not possible.
        """
        if asked := [name for name, value in more.items() if value not in (None, "", (), [])]:
            raise ValueError(f"{self.name} takes an image alone, without {', '.join(asked)}.")
        values, notes = prepare(image)
        with torch.inference_mode():
            return self._run([values], notes, interventions)

    @gradients_if_needed
    def rerun(self, trace: Trace, probe: Probe | None = None) -> Trace:
        """Run and record one pass over the images of `trace`, with the probe and then the trace's interventions
        applied.
        """
        made = self._run(self._values_of(trace.sentences), (), trace.interventions, probe)
        return replace(made, info=trace.info)

    @torch.inference_mode()
    def logits_under(self, trace: Trace, edits: Edits, *, rows: Sequence[int] | None = None) -> torch.Tensor:
        """Run copies of the image of `trace` as one batch, each with its own interventions (`edits.rows`); return the
        logits.

        The shape is `(copies, rows, labels)`. Nothing is recorded. An image has a single row of logits.
        """
        copies = self._batch(self._values_of(trace.sentences[:1] * len(edits.rows)))
        logits = self.model.classify(self.model.encode(copies, ForwardContext(edits))).unsqueeze(1)
        return logits if rows is None else logits[:, list(rows)]

    def _values_of(self, sentences: Sequence[Sentence]) -> list[np.ndarray]:
        """Return the grey values of the images of a trace."""
        if not all(sentence.images for sentence in sentences):
            raise ValueError(NO_TEXT.format(name=self.name))
        return [prepare(sentence.images[0].array)[0] for sentence in sentences]

    def _run(
        self, values: Sequence[np.ndarray], notes: tuple[str, ...], interventions: Sequence[Intervention],
        first: Probe | None = None,
    ) -> Trace:  # fmt: skip
        """Run and record one pass over a batch of images, with the probe `first` and then the interventions applied."""
        sentences, recorder = [image_sentence(drawn_pixels(one)) for one in values], Recorder()
        changes = CheckedInterventions.check(interventions, self.shapes, self.model_id if interventions else "")
        resolved = changes.resolve(sentences)
        probe, started = resolved.chain_with(recorder), time.perf_counter()
        hidden = self.model.encode(
            self._batch(values), ForwardContext(probe if first is None else Chain((first, probe)))
        )
        seconds = time.perf_counter() - started
        logits = self.model.classify(hidden)
        said = sorted(_probabilities(logits).items(), key=lambda one: -one[1])
        reads = "The toy reads the digit {} with probability {:.3f}, then {} with {:.3f}.".format(*said[0], *said[1])
        dtype = str(self.dtype).removeprefix("torch.")
        info = RunInfo(self.model_id, "", self.device.type, dtype, seconds, notes=(*notes, reads, *resolved.notes))
        return Trace.from_recorder(
            recorder, sentences, memory=hidden, logits=logits.unsqueeze(1), info=info,
            interventions=changes.interventions,
        )  # fmt: skip

    def _batch(self, values: Sequence[np.ndarray]) -> torch.Tensor:
        return torch.stack([torch.from_numpy(one) for one in values]).to(self.dtype) / INK


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
