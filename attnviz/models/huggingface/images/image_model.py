"""A transformers vision model with the methods of any other model: it traces an image, whose tokens have a
place in it.
"""

import time
from collections.abc import Sequence
from dataclasses import replace
from threading import Lock
from typing import Any

import numpy as np
import torch
from torch import Tensor

from attnviz.guards.arguments import reads_arguments
from attnviz.guards.images import ImageError
from attnviz.models.huggingface import parity
from attnviz.models.huggingface.checkpoint_model import NetworkModel
from attnviz.models.huggingface.errors import ModelError
from attnviz.models.huggingface.images.classifier import ClassifierHead
from attnviz.models.huggingface.images.grid import CLS
from attnviz.models.huggingface.images.reader import ImageReader, PreparedImage
from attnviz.models.huggingface.network.network import Network, PassRequest, PixelBatch
from attnviz.models.image_inputs import NO_LABELS, NO_TEXT, ReadsImages
from attnviz.tracing.causes.edits import Edits
from attnviz.tracing.causes.intervention import Intervention
from attnviz.tracing.causes.resolution import CheckedInterventions
from attnviz.tracing.interventions import Chain
from attnviz.tracing.record import RunInfo, Sentence, TokenOrder
from attnviz.tracing.recorder import Recorder
from attnviz.tracing.trace import Trace
from attnviz.transformer.device import explain_shortage, wait_for
from attnviz.transformer.probe import Probe, gradients_if_needed

MOST_PATCHES = 4_096  # then all scores of one layer with 16 heads take a gigabyte


@reads_arguments
class ImageModel(ReadsImages, NetworkModel):
    """A vision model whose attention equals transformers' eager attention, with its image processor.

    All methods are thread-safe.
    """

    has_text_tower = False  # whether the checkpoint has a tower for texts, too, as CLIP has

    def __init__(self, network: Network, reader: ImageReader, order: TokenOrder, *, name: str = "") -> None:
        super().__init__(network)
        self.reader, self.order, self.name = reader, order, name
        self.head: ClassifierHead | None = None
        self._checked: set[tuple[int, ...]] = set()  # sizes of images that were compared with the model as it was given
        self._checking = Lock()

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of the labels that a classifier chooses from; () for a model without a classifier."""
        return () if self.head is None else self.head.labels

    @property
    def summary(self) -> str:
        """The name of the vector that stands for the whole image: "[CLS]", or "pooled" for a model without [CLS]."""
        return CLS if CLS in (*self.order.before, *self.order.after) else "pooled"

    def add_head(self, head: ClassifierHead) -> None:
        """Attach the classifier head of the model that contains this vision model, so that traces have the labels'
        logits.
        """
        self.head, self.torch_module = head, head.module

    def trace(
        self, image: Any, pair: Any = None, *, hidden: bool = True, interventions: Sequence[Intervention] = (),
        **more: Any,
    ) -> Trace:  # fmt: skip
        """Run the model on an image and record every site.

        `image` is a path, a Pillow image, or an array `(height, width, 3)`. The trace's tokens are the patches, each
        with its `place` (image, row, column), and special tokens such as [CLS]. `trace.sentences[0].images` holds the
        pixels after the model's own image processor, and `trace.info.notes` say what the processor cut off. A
        classifier's `trace.logits` `(1, 1, labels)` are the scores of `labels`.
        `hidden=False` leaves out the inputs of sites and the outputs of layers. Raises ImageError for an image that
        cannot be read, and ValueError for an intervention that is not possible.
        """
        if asked := [name for name, value in {"pair": pair, **more}.items() if value not in (None, "", (), [])]:
            raise ValueError(f"{self.name} takes an image alone, without {', '.join(asked)}.")
        try:
            prepared = self.reader.read(image)
        except ImageError as error:
            if isinstance(image, str) and "There is no image file" in str(error):
                raise ImageError(f"{error} {self.name} reads images and no text.") from None
            raise
        return self._record(prepared, PassRequest(Recorder(keeps_hidden=hidden), hidden), interventions)

    @gradients_if_needed
    def rerun(self, trace: Trace, probe: Probe | None = None) -> Trace:
        """Run and record one pass over the images of `trace`, with the probe and then the trace's interventions
        applied.
        """
        made = self._run(self._prepare_again(trace), PassRequest(Recorder()), trace.interventions, probe)
        return replace(made, info=trace.info)

    def logits_under(self, trace: Trace, edits: Edits, *, rows: Sequence[int] | None = None) -> Tensor:
        """Run copies of the image of `trace` as one batch, each with its own interventions (`edits.rows`); return the
        logits.

        The shape is `(copies, rows, labels)`. Nothing is recorded. An image has a single row of logits. Raises
        ValueError for a model without a classifier.
        """
        if self.head is None:
            raise ValueError(NO_LABELS.format(name=self.name))
        out, batch = self._run_copies(trace, edits)
        logits = self._scores(self.head, out, batch)
        return logits if rows is None else logits[:, list(rows)]

    def summaries_under(self, trace: Trace, edits: Edits) -> Tensor:
        """Run copies of the image of `trace`, each with its own interventions; return each one's vector of the whole
        image.

        The shape is `(copies, d_model)`, and `edits.rows` has the interventions of each copy. The vector is the last
        hidden state of [CLS] or, for a model without [CLS], the pooled vector that transformers returns. Nothing is
        recorded. Raises ValueError for a model that returns neither.
        """
        out, _ = self._run_copies(trace, edits)
        if self.summary == CLS:
            at = next(at for at, token in enumerate(trace.sentences[0].src) if token.text == CLS)
            return out.last_hidden_state[:, at]
        pooled = getattr(out, "pooler_output", None)
        if pooled is None:
            raise ValueError(f"{self.name} returns neither labels nor one vector for the whole image.")
        return pooled

    def flags_for(self, fields: dict[str, Tensor]) -> dict[str, bool]:
        """Return the additional arguments that transformers needs for an image of this size."""
        return flags_of(self.network.model, fields)

    @torch.inference_mode()
    def _record(self, prepared: PreparedImage, request: PassRequest, interventions: Sequence[Intervention]) -> Trace:
        return self._run([prepared], request, interventions)

    def _prepare_again(self, trace: Trace) -> list[PreparedImage]:
        """Prepare the images of a trace, whose pixels are already resized, for another pass."""
        if not all(sentence.images for sentence in trace.sentences):
            raise ValueError(NO_TEXT.format(name=self.name))
        pixels = [sentence.images[0].array for sentence in trace.sentences]
        if len({one.shape for one in pixels}) > 1:
            raise ValueError("The images have different sizes, so they cannot run as one batch.")
        return [PreparedImage(self.reader.fields_of(one), one) for one in pixels]

    @torch.inference_mode()
    def _run_copies(self, trace: Trace, edits: Edits) -> tuple[Any, PixelBatch]:
        """Run copies of a trace's image as one batch, each with its own interventions; return the output and the batch.

        `edits.rows` has the interventions of each copy.
        """
        (prepared,) = self._prepare_again(replace(trace, sentences=trace.sentences[:1]))
        count = len(edits.rows)
        batch = self._batch([prepared] * count, len(trace.sentences[0].src))
        with explain_shortage(self.device, f"A run over {count:,} copies of the image"):
            return self.network.run_only_stack(batch, PassRequest(edits)), batch

    def _batch(self, images: Sequence[PreparedImage], tokens: int) -> PixelBatch:
        fields = {name: torch.cat([one.fields[name] for one in images]) for name in images[0].fields}
        batch = PixelBatch.of_tokens(fields_count(fields, tokens), fields, self.flags_for(fields))
        return batch.to(self.device, self.dtype)

    def _scores(self, head: ClassifierHead, out: Any, batch: PixelBatch) -> Tensor:
        """Return the scores of the labels as logits with one row, `(batch, 1, labels)`."""
        return head.scores(out, batch).unsqueeze(1)

    def _run(
        self, images: Sequence[PreparedImage], request: PassRequest, interventions: Sequence[Intervention],
        first: Probe | None = None,
    ) -> Trace:  # fmt: skip
        """Run and record one pass over a batch of images, with the probe `first` and then the interventions applied."""
        sentences = [self._label(one.pixels) for one in images]
        changes = CheckedInterventions.check(interventions, self.shapes, self.model_id if interventions else "")
        resolved, recorder = changes.resolve(sentences), request.probe
        assert isinstance(recorder, Recorder)  # each pass has its own
        probe = resolved.chain_with(recorder)
        request = replace(
            request, probe=probe if first is None else Chain((first, probe)),
            hidden=request.hidden or resolved.edits is not None,
        )  # fmt: skip
        tokens = len(sentences[0].src)
        batch, started = self._batch(images, tokens), time.perf_counter()
        out = self.network.run_only_stack(batch, request)
        wait_for(self.device)
        seconds = time.perf_counter() - started
        if first is None and not interventions:
            self._check_size(batch, out.last_hidden_state)
        dtype = str(self.dtype).removeprefix("torch.")
        notes = (*images[0].notes, *self._layer_notes(), *resolved.notes, *self.as_given.notes)
        info = RunInfo(self.model_id, "", self.device.type, dtype, seconds, notes=notes)
        return Trace.from_recorder(
            recorder, sentences, memory=out.last_hidden_state[:, :tokens], info=info,
            logits=None if self.head is None else self._scores(self.head, out, batch),
            numbers=self.network.layer_numbers, names=self.network.layer_names,
            interventions=changes.interventions,
        )  # fmt: skip

    def _label(self, pixels: np.ndarray) -> Sentence:
        """Return a sentence with the tokens of an image. Raises ImageError for an image with too many patches."""
        image = self.order.seen(pixels)
        if image.grid[0] * image.grid[1] > MOST_PATCHES or min(image.grid) < 1:
            raise ImageError(
                f"The image processor divides the image into {image.grid[0]} × {image.grid[1]} "
                f"patches, but attnviz shows at most {MOST_PATCHES:,} patches."
            )
        tokens, text = self.order.tokens(image.grid)
        return Sentence(src=tokens, src_text=text, images=(image,))

    def _check_size(self, batch: PixelBatch, shown: Tensor) -> None:
        """Compare the first image of each size with the model as it was given. Raises ModelError for a difference."""
        size = tuple(batch.pixels["pixel_values"].shape)
        if size in self._checked:
            return
        with self._checking:
            if size not in self._checked:
                self.as_given.check(batch, None, shown, is_decoder=False)
                self._checked.add(size)


def fields_count(fields: dict[str, Tensor], tokens: int) -> int:
    """Return the number of tokens that the model computes, including tokens that only pad."""
    mask = fields.get("pixel_attention_mask")
    return tokens if mask is None else mask.shape[1]


def flags_of(model: Any, fields: dict[str, Tensor]) -> dict[str, bool]:
    """Return the argument that asks for interpolated positions, if an image has a different size than the
    model's own.
    """
    said, values = getattr(model.config, "image_size", None), fields["pixel_values"]
    own = tuple(said) if isinstance(said, list | tuple) else (said, said)
    if "interpolate_pos_encoding" not in parity.parameters_of(model) or tuple(values.shape[-2:]) == own:
        return {}
    return {"interpolate_pos_encoding": True}


def refuse_text(name: str) -> ModelError:
    """Return the error for a tokenizer that was given with a model that reads images."""
    return ModelError(
        f"{name} reads images and not text. Please pass its image processor, attnviz.load(model, "
        "processor), which transformers.AutoImageProcessor.from_pretrained reads."
    )
