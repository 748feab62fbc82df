"""Score a toy on held-out lines, with teacher forcing and with its own output."""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from attnviz.toys.batches import ToyBatch, add_padding, one_line
from attnviz.toys.network import ToyNetwork
from attnviz.toys.tasks.french import French
from attnviz.toys.words import PAD, ToyWords
from attnviz.tracing.causes.stepping import write
from attnviz.transformer.decoding import Choose, Sampling, Stepper, Vocabulary, likeliest_ids

OVER = 4  # tokens that a toy may write past the correct end, to show how it continues


@dataclass(frozen=True)
class Evaluation:
    """For each line, whether the whole answer is correct, and the loss of the answers in nats per token.

    `teacher` is the result with teacher forcing, `own` the result if each position is fed what the toy wrote before.
    """

    loss: float
    teacher: tuple[bool, ...]
    own: tuple[bool, ...]


@torch.inference_mode()
def evaluation(network: ToyNetwork, batch: ToyBatch, rules: Vocabulary) -> Evaluation:
    """Compute the loss and both exact matches, greedily. Suppressed ids cannot be chosen under teacher forcing
    either.
    """
    src_mask = network.src_mask(batch.src)
    logits = network.logits(network.decode(batch.tgt_in, network.encode(batch.src, src_mask), src_mask))
    said = rules.forbid(logits.flatten(0, 1)).view_as(logits).argmax(dim=-1)
    teacher = ((said == batch.answers) | (batch.answers == PAD)).all(dim=1)
    rows = write_lines(network, batch, rules)
    own = tuple(row == right for row, right in zip(rows, batch.expected, strict=True))
    return Evaluation(float(mean_loss(logits, batch.answers)), tuple(teacher.tolist()), own)


def mean_loss(logits: Tensor, labels: Tensor) -> Tensor:
    """Compute the cross-entropy in nats per label, ignoring padding."""
    return F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=PAD)


@torch.inference_mode()
def write_lines(
    network: ToyNetwork, batch: ToyBatch, rules: Vocabulary, *, choose: Choose = likeliest_ids
) -> list[tuple[int, ...]]:
    """Decode each line of a batch, including the end if it comes, up to the length of the longest answer plus `OVER`.

    A toy that cannot write an end stops at the length of the longest answer.
    """
    writes_end = rules.eos_id not in rules.suppressed_ids
    limit = batch.longest_answer + (OVER if writes_end else 0)
    src_mask = network.src_mask(batch.src)
    memory = network.encode(batch.src, src_mask)
    stepper = Stepper(network, memory, src_mask, capacity=limit + batch.begun.shape[1])
    return [tuple(row) for row in write(stepper, batch.begun, rules, limits=limit, choose=choose)]


def padding_scores(network: ToyNetwork, batch: ToyBatch, rules: Vocabulary) -> dict[str, float]:
    """Return the share of correct lines with more `<pad>` after each source, and with each line alone without
    padding.
    """
    found = {
        f"own_prefix_{count}_more_pad": _right_share(network, add_padding(batch, count), rules) for count in (1, 5, 20)
    }
    rows = [one_line(batch, row) for row in range(len(batch.src))]
    return found | {"own_prefix_alone": sum(_right_share(network, row, rules) for row in rows) / len(rows)}


def grammatical_share(network: ToyNetwork, batch: ToyBatch, words: ToyWords) -> float:
    """Return the share of grammatical sentences among those that the network writes when each word is sampled."""
    assert isinstance(words.task, French)
    draw = Sampling(torch.Generator().manual_seed(0))
    rows = write_lines(network, batch, words.rules, choose=draw)
    ended = [row[-1] == words.rules.eos_id and words.task.is_grammatical(words.words(row)) for row in rows]
    return sum(ended) / len(ended)


def _right_share(network: ToyNetwork, batch: ToyBatch, rules: Vocabulary) -> float:
    rows = write_lines(network, batch, rules)
    return sum(row == right for row, right in zip(rows, batch.expected, strict=True)) / len(rows)
