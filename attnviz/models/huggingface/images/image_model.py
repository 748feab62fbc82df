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
from attnviz.models.huggingface.images.reader import ImageReader, PreparedImage
from attnviz.models.huggingface.network.network import Network, PassRequest, PixelBatch
from attnviz.models.image_inputs import NO_TEXT, ReadsImages
from attnviz.tracing.causes.intervention import Intervention
from attnviz.tracing.causes.resolution import CheckedInterventions
from attnviz.tracing.interventions import Chain
from attnviz.tracing.record import RunInfo, Sentence, TokenOrder
from attnviz.tracing.recorder import Recorder
from attnviz.tracing.trace import Trace
from attnviz.transformer.device import wait_for
from attnviz.transformer.probe import Probe, gradients_if_needed

MOST_PATCHES = 4_096  # then all scores of one layer with 16 heads take a gigabyte


@reads_arguments
class ImageModel(ReadsImages, NetworkModel):
    """A vision model whose attention equals transformers' eager attention, with its image processor.

    All methods are thread-safe.
    """

    def __init__(self, network: Network, reader: ImageReader, order: TokenOrder, *, name: str = "") -> None:
        super().__init__(network)
        self.reader, self.order, self.name = reader, order, name
        self._checked: set[tuple[int, ...]] = set()  # sizes of images that were compared with the model as it was given
        self._checking = Lock()

    def trace(
        self, image: Any, pair: Any = None, *, hidden: bool = True, interventions: Sequence[Intervention] = (),
        **more: Any,
    ) -> Trace:  # fmt: skip
        """Run the model on an image and record every site.

        `image` is a path, a Pillow image, or an array `(height, width, 3)`. The trace's tokens are the patches, each
        with its `place` (image, row, column), and special tokens such as [CLS]. `trace.sentences[0].images` holds the
        pixels after the model's own image processor, and `trace.info.notes` say what the processor cut off.
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
        """Run and record one pass over the image of `trace`, with the probe and then the trace's interventions
        applied.
        """
        if not trace.sentences[0].images:
            raise ValueError(NO_TEXT.format(name=self.name))
        pixels = trace.sentences[0].images[0].array
        prepared = PreparedImage(self.reader.fields_of(pixels), pixels)
        made = self._run(prepared, PassRequest(Recorder()), trace.interventions, probe)
        return replace(made, info=trace.info)

    def flags_for(self, fields: dict[str, Tensor]) -> dict[str, bool]:
        """Return the additional arguments that transformers needs for an image of this size."""
        return flags_of(self.torch_module, fields)

    @torch.inference_mode()
    def _record(self, prepared: PreparedImage, request: PassRequest, interventions: Sequence[Intervention]) -> Trace:
        return self._run(prepared, request, interventions)

    def _run(
        self, prepared: PreparedImage, request: PassRequest, interventions: Sequence[Intervention],
        first: Probe | None = None,
    ) -> Trace:  # fmt: skip
        """Run and record one pass, with the probe `first` and then the interventions applied."""
        sentence = self._label(prepared.pixels)
        changes = CheckedInterventions.check(interventions, self.shapes, self.model_id if interventions else "")
        resolved, recorder = changes.resolve([sentence]), request.probe
        assert isinstance(recorder, Recorder)  # each pass has its own
        probe = resolved.chain_with(recorder)
        request = replace(
            request, probe=probe if first is None else Chain((first, probe)),
            hidden=request.hidden or resolved.edits is not None,
        )  # fmt: skip
        count = fields_count(prepared.fields, len(sentence.src))
        batch = PixelBatch.of_tokens(count, prepared.fields, self.flags_for(prepared.fields))
        batch, started = batch.to(self.device, self.dtype), time.perf_counter()
        out = self.network.run_only_stack(batch, request)
        wait_for(self.device)
        seconds = time.perf_counter() - started
        if first is None and not interventions:
            self._check_size(batch, out.last_hidden_state)
        dtype = str(self.dtype).removeprefix("torch.")
        notes = (*prepared.notes, *self._layer_notes(), *resolved.notes, *self.as_given.notes)
        info = RunInfo(self.model_id, "", self.device.type, dtype, seconds, notes=notes)
        return Trace.from_recorder(
            recorder, [sentence], memory=out.last_hidden_state[:, : len(sentence.src)], info=info,
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
