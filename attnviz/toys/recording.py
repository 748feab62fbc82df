"""The recording of a finished run: curves, every head's map and the toy's output at each snapshot, and the weights."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from attnviz.text.tokens import Token
from attnviz.toys.experiment import Experiment
from attnviz.toys.image_run import ImageRun
from attnviz.toys.network import PatchClassifier, ToyNetwork, classifier_of, network_of
from attnviz.toys.run import HELD_OUT, Moment, ToyTraining, TrainingRun
from attnviz.toys.tasks.digits import PATCH, drawn_pixels
from attnviz.toys.tasks.task import Example, Words
from attnviz.toys.words import BOS, EOS, PAD, ToyWords
from attnviz.tracing.record import Sentence, TokenOrder
from attnviz.transformer.probe import Kind

ORDER = TokenOrder(before=("[CLS]",), after=(), patch=(PATCH, PATCH))  # of an image's tokens
_MOST_LOSS = 60_000.0  # fits into half precision


@dataclass(frozen=True, eq=False, repr=False)
class Recording:
    """The recording of a run; `moments` below is the number of snapshots.

    steps: the updates before each snapshot. losses `(updates,)` float16, in nats per token. held_out_loss,
    teacher_prefix, own_prefix `(moments,)`: see `Moment`. heads: score -> `(moments, layers, heads)` float16. maps:
    kind -> `(moments, layers, heads, q_len, k_len)` uint8, with 255 for weight 1, for the first of the `watched` lines.
    wrote `(moments, lines, longest)` uint8: the ids that the toy wrote, padded. scores: name -> value at the end.
    weights: all parameters in one vector, float16, in the order of the network's parameters; None if they were left
    out. confusion `(moments, 10, 10)` uint16: for a toy that reads images, the counts of held-out images by the right
    digit (rows) and the digit that it says (columns); None for other toys.
    """

    experiment: Experiment
    steps: tuple[int, ...]
    losses: np.ndarray
    held_out_loss: np.ndarray
    teacher_prefix: np.ndarray
    own_prefix: np.ndarray
    heads: Mapping[str, np.ndarray]
    maps: Mapping[Kind, np.ndarray]
    wrote: np.ndarray
    watched: tuple[Example, ...]
    scores: Mapping[str, float]
    weights: np.ndarray | None = None
    confusion: np.ndarray | None = None

    def __repr__(self) -> str:
        """Describe the recording for a notebook: its experiment and its scores."""
        scores = ", ".join(f"{name} {score:.4f}" for name, score in self.scores.items())
        return f"<Recording {self.experiment.name!r}: {scores}; .maps, .heads, attnviz.load(recording)>"

    @property
    def words(self) -> ToyWords:
        """The vocabulary of the task."""
        return ToyWords(self.experiment.toy_task)

    @property
    def guess(self) -> float:
        """The loss of uniform guessing in nats: the logarithm of the number of ids, or of the number of digits."""
        return float(np.log(self.experiment.toy_task.n_answers or len(self.words.pieces)))

    @property
    def held_out(self) -> int:
        """The number of held-out lines or images on which each snapshot was scored."""
        return HELD_OUT if self.confusion is None else int(self.confusion[-1].sum())

    @property
    def sentence(self) -> Sentence:
        """The line whose maps are recorded: `queries(kind)` and `keys(kind)` are the tokens along the axes of
        the maps.
        """
        return shown_sentence(self.words, self.watched[0], self._padding)

    def answers_at(self, moment: int) -> tuple[Words, ...]:
        """Return the toy's answers to the watched lines at snapshot number `moment`, as words."""
        words = self.words
        return tuple(words.words(ids) for ids in self.wrote[moment].tolist())

    def passes(self, score: str, *, layer: int, head: int, level: float = 0.5) -> int | None:
        """Return the number of updates after which a head's score is first above a level, or None if it never is."""
        above = np.flatnonzero(self.heads[score][:, layer, head] > level)
        return self.steps[above[0]] if len(above) else None

    def network(self) -> ToyNetwork | PatchClassifier:
        """Return the network with its final weights. Raises ValueError if the weights were left out."""
        if self.weights is None:
            raise ValueError("This recording has no weights. Train the same run again to open its model.")
        is_image = self.experiment.toy_task.is_image
        network = classifier_of(self.experiment) if is_image else network_of(self.experiment, len(self.words.pieces))
        weights = torch.from_numpy(self.weights.astype(np.float32))
        torch.nn.utils.vector_to_parameters(weights, network.parameters())
        return network.requires_grad_(False).eval()  # type: ignore[return-value]

    @property
    def _padding(self) -> int:
        if len(self.experiment.toy_task.kinds) == 1:
            return 0
        return self.maps["encoder_self"].shape[-1] - len(self.watched[0].src) - 1


def shown_sentence(words: ToyWords, line: Example, padding: int = 0) -> Sentence:
    """Return the tokens of a line along the axes of its maps, with `padding` tokens after the source."""
    if words.task.is_image:
        return image_sentence(drawn_pixels(line.src))
    source, target = words.ids(line.src), words.ids(line.tgt)
    if words.task.is_decoder_only:
        text, tokens = words.continue_line(words.text(source), words.tokens((BOS, *source)), target)
        return Sentence(tgt=tokens, tgt_text=text)
    src = words.tokens((*source, EOS)) + (_pad_token(words.text(source)),) * padding
    return Sentence(src, words.tokens((BOS, *target, EOS)), words.text(source), words.text(target))


def image_sentence(pixels: np.ndarray) -> Sentence:
    """Return the tokens of an image `(8, 8, 3)`: [CLS], then its patches row by row."""
    image = ORDER.seen(pixels)
    tokens, text = ORDER.tokens(image.grid)
    return Sentence(tokens, src_text=text, images=(image,))


def record(experiment: Experiment, watch: Callable[[Moment], None] | None = None) -> Recording:
    """Train an experiment to the end, and return the recording; `watch` is called with each snapshot."""
    return record_run((ImageRun if experiment.toy_task.is_image else TrainingRun)(experiment), watch)


def record_run(run: ToyTraining, watch: Callable[[Moment], None] | None = None) -> Recording:
    """Train to the end and return the recording; `watch` is called with each snapshot as it is recorded."""
    found: list[Moment] = []
    for moment in run:
        found.append(moment)
        if watch is not None:
            watch(moment)
    last = found[-1]
    scores = {
        "loss": run.loss,
        "teacher_prefix": last.teacher_prefix,
        "own_prefix": last.own_prefix,
        "held_out_loss": last.held_out_loss,
    }
    weights = torch.nn.utils.parameters_to_vector(run.network.parameters()).detach().half().numpy()
    return recording_from_moments(run.experiment, found, run.watched_lines, scores | run.at_the_end(), weights)


def recording_from_moments(
    experiment: Experiment, found: Sequence[Moment], watched: tuple[Example, ...], scores: Mapping[str, float],
    weights: np.ndarray | None = None,
) -> Recording:  # fmt: skip
    """Return a recording of these snapshots, of a finished run or of one that is still training."""
    return Recording(
        experiment,
        tuple(moment.step for moment in found),
        np.array([loss for moment in found for loss in moment.losses]).clip(max=_MOST_LOSS).astype(np.float16),
        *(np.array([getattr(moment, name) for moment in found], dtype=np.float32)
          for name in ("held_out_loss", "teacher_prefix", "own_prefix")),
        heads={name: np.stack([m.heads[name] for m in found]).astype(np.float16) for name in found[0].heads},
        maps={kind: np.stack([moment.maps[kind] for moment in found]) for kind in found[0].maps},
        wrote=_pad_answers([moment.wrote for moment in found]),
        watched=watched,
        scores=scores,
        weights=weights,
        confusion=None if found[0].confusion is None else np.stack([moment.confusion for moment in found]),  # type: ignore[arg-type]
    )  # fmt: skip


def _pad_answers(wrote: Sequence[Sequence[tuple[int, ...]]]) -> np.ndarray:
    longest = max(len(ids) for lines in wrote for ids in lines)
    rows = [[(*ids, *(PAD,) * (longest - len(ids))) for ids in lines] for lines in wrote]
    return np.array(rows, dtype=np.uint8)


def _pad_token(text: str) -> Token:
    return Token("<pad>", PAD, len(text), len(text), is_special=True)
