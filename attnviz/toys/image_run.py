"""The training of a toy that reads images of digits, with its accuracy and what it confuses at each snapshot."""

from collections.abc import Sequence
from random import Random

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from attnviz.toys.batches import BATCH
from attnviz.toys.experiment import Experiment
from attnviz.toys.head_scores import mass, sharpness
from attnviz.toys.network import PatchClassifier, classifier_of, cut_patches, join_patches
from attnviz.toys.packing import to_8_bits
from attnviz.toys.run import HELD_OUT, LOOKED_AT, Moment, ToyTraining, one_thread
from attnviz.toys.tasks.digits import CLASSES, INK, SIDE, Digits
from attnviz.toys.tasks.task import Example, distinct
from attnviz.toys.words import ToyWords
from attnviz.tracing.recorder import Recorder
from attnviz.transformer.attention import call_attn
from attnviz.transformer.layers import ForwardContext


class ImageRun(ToyTraining[PatchClassifier]):
    """The training of a toy that reads digits. It is scored on all held-out images."""

    def __init__(self, experiment: Experiment) -> None:
        with one_thread():
            super().__init__(experiment, classifier_of(experiment))
        task = experiment.toy_task
        assert isinstance(task, Digits)
        self.words, self._watched = ToyWords(task), tuple(task.watched())
        self.training, self.held_out = training_images(experiment), task.examples(held_out=True)
        self._pixels, self._digits = pixels_of(self.held_out), digits_of(self.held_out)
        self._first = pixels_of(self._watched)
        self._given = pixels_of(self.training), digits_of(self.training)
        self._random = Random(f"{experiment.task} {experiment.seed}")

    @property
    def watched_lines(self) -> tuple[Example, ...]:
        """The held-out images, one of each digit, whose answers are recorded at each snapshot."""
        return self._watched

    def batch_loss(self) -> Tensor:
        """Return the mean loss of the next batch, in nats per image."""
        images, digits = self._given
        chosen = torch.tensor(self._random.choices(range(len(digits)), k=BATCH))
        return F.cross_entropy(self.network(images[chosen]), digits[chosen])

    @torch.inference_mode()
    def snapshot(self, step: int, losses: tuple[float, ...]) -> Moment:
        """Score the network on the held-out images, and record its maps of the first watched image."""
        logits = self.network(self._pixels)
        said = logits.argmax(dim=-1)
        accuracy = share_right(said, self._digits)
        recorder = self._look(self._first)
        maps = torch.stack([call_attn(recorder.calls[site])[0] for site in sorted(recorder.calls)])
        wrote = self.network(self._first).argmax(dim=-1).tolist()
        return Moment(
            step, losses, float(F.cross_entropy(logits, self._digits)), accuracy, accuracy, self._score_heads(),
            {"encoder_self": to_8_bits(maps)}, tuple((*self.words.ids((str(digit),)),) for digit in wrote),
            confusion(said, self._digits),
        )  # fmt: skip

    @torch.inference_mode()
    def at_the_end(self) -> dict[str, float]:
        """Return the accuracy on held-out images, on those with shuffled patches, and on images of the training."""
        with one_thread():
            said = {
                "accuracy": (self._pixels, self._digits),
                "accuracy_shuffled": (shuffle_patches(self._pixels), self._digits),
                "accuracy_seen": tuple(part[:HELD_OUT] for part in self._given),
            }
            return {name: share_right(self.network(images).argmax(-1), right) for name, (images, right) in said.items()}

    def _look(self, images: Tensor) -> Recorder:
        recorder = Recorder()
        self.network(images, ForwardContext(recorder))
        return recorder

    def _score_heads(self) -> dict[str, np.ndarray]:
        """Compute the weight of [CLS] on patches with ink, and the sharpness of all rows, as `(layers, heads)`."""
        images = self._pixels[:LOOKED_AT]
        recorder = self._look(images)
        layers = [call_attn(recorder.calls[site]) for site in sorted(recorder.calls)]
        wanted = torch.zeros(len(images), *layers[0].shape[2:], dtype=torch.bool)
        wanted[:, 0, 1:] = (cut_patches(images) > 0).any(dim=-1)
        rows = torch.ones(wanted.shape[:2], dtype=torch.bool)
        return {
            "ink": torch.stack([mass(attn, wanted) for attn in layers]).numpy(),
            "sharpness.encoder_self": torch.stack([sharpness(attn, rows) for attn in layers]).numpy(),
        }


def training_images(experiment: Experiment) -> list[Example]:
    """Return the images that training samples from: all that are not held out, or the number that `pairs` gives."""
    task = experiment.toy_task
    assert isinstance(task, Digits)
    if experiment.pairs is None:
        return task.examples(held_out=False)
    return distinct(task, Random(f"{task.name} pairs"), experiment.pairs, held_out=False)


def pixels_of(lines: Sequence[Example]) -> Tensor:
    """Return images `(count, 8, 8)` with values from 0 (paper) to 1 (ink)."""
    return torch.tensor([[int(word) for word in line.src] for line in lines]).view(-1, SIDE, SIDE) / INK


def digits_of(lines: Sequence[Example]) -> Tensor:
    """Return the right digits of images, `(count,)`."""
    return torch.tensor([int(line.tgt[0]) for line in lines])


def share_right(said: Tensor, right: Tensor) -> float:
    """Return the share of images that were read rightly."""
    return float((said == right).double().mean())


def confusion(said: Tensor, right: Tensor) -> np.ndarray:
    """Count images by the right digit (rows) and the digit that was read (columns): `(10, 10)` uint16."""
    counts = torch.bincount(CLASSES * right + said, minlength=CLASSES * CLASSES)
    return counts.view(CLASSES, CLASSES).numpy().astype(np.uint16)


def shuffle_patches(images: Tensor) -> Tensor:
    """Shuffle the patches of each image, each image in a different random order that is the same in every call."""
    generator, patches = torch.Generator().manual_seed(0), cut_patches(images)
    orders = torch.stack([torch.randperm(patches.shape[1], generator=generator) for _ in images])
    return join_patches(patches.gather(1, orders.unsqueeze(-1).expand_as(patches)))
