"""The training loop: train on batches and save the state, so that a resumed run gives the same results."""

import json
import pickle
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from attnviz.text.tokenizer import TranslatorTokenizer
from attnviz.training.corpus import Change, Corpus, PairBatch, epoch_batches
from attnviz.training.recipe import Recipe
from attnviz.training.workers import Share
from attnviz.transformer.config import ModelConfig
from attnviz.transformer.dropout import Dropout
from attnviz.transformer.layers import ForwardContext
from attnviz.transformer.transformer import Transformer

EMBEDDING = "embedding.weight"


class Trainer:
    """A model with its running average, optimizer and position in the data; `share` is this worker's part of
    the work.
    """

    def __init__(self, recipe: Recipe, config: ModelConfig, device: torch.device, share: Share | None = None) -> None:
        self.recipe, self.device, self.share = recipe, device, share or Share()
        self.dtype = product_dtype(device)
        self.model = Transformer(config).initialise(recipe.seed).to(device)
        self.average = self._copy_parameters()
        self.optimizer = _optimizer(self.model, recipe)
        self.generator = torch.Generator(device)
        self.step, self.epoch, self.batch, self.tokens_seen = 0, 0, 0, 0

    def begin_from(self, codec: TranslatorTokenizer, teacher: Transformer, its_codec: TranslatorTokenizer) -> None:
        """Start with a trained model's weights instead of random ones, as in `warm_start`. Call it before the first
        step.
        """
        warm_start(self.model, codec, teacher, its_codec)
        self.average = self._copy_parameters()

    def _copy_parameters(self) -> dict[str, Tensor]:
        return {name: tensor.detach().clone() for name, tensor in self.model.named_parameters()}

    def batches(self, corpora: list[Corpus], change: Change | None = None) -> Iterator[PairBatch]:
        """Yield one worker's batches from the current position, epoch after epoch, until all steps of the recipe are
        done.

        The last batches of an epoch are skipped if there are not enough for all workers. `change` is that of
        `epoch_batches`. Raises ValueError if there are no pairs, or too few for all workers.
        """
        if not any(corpus.src and corpus.repeat for corpus in corpora):
            raise ValueError(
                "There are no sentence pairs to learn from: the files are empty, or every pair is too long."
            )
        while self.step < self.recipe.steps:
            epoch = epoch_batches(
                corpora,
                epoch=self.epoch,
                seed=self.recipe.seed,
                batch_tokens=self.recipe.batch_tokens,
                begin=self.batch,
                change=change,
            )
            for batches in zip(*[epoch] * self.share.count, strict=False):
                if self.step >= self.recipe.steps:
                    return
                self.batch += self.share.count  # counted first, so that a resumed run continues after these batches
                yield batches[self.share.rank]
            if not self.batch:
                raise ValueError(
                    f"There are fewer batches than the {self.share.count} workers. Please take fewer "
                    "workers, or smaller batches (batch_tokens)."
                )
            self.epoch, self.batch = self.epoch + 1, 0

    def learn(self, batch: PairBatch) -> tuple[float, int]:
        """Do one optimizer step; return the mean loss in nats per target token and the number of tokens, over all
        workers.
        """
        self.step += 1
        for group in self.optimizer.param_groups:
            group["lr"] = self.recipe.rate(self.step)
        self.generator.manual_seed((self.recipe.seed << 40) + (self.step << 8) + self.share.rank)
        loss, n_target = self._loss(batch.src.to(self.device), batch.tgt.to(self.device))
        loss.backward()
        gradients = [parameter.grad for parameter in self.model.parameters() if parameter.grad is not None]
        mean, n_tokens = self.share.average(gradients, loss.item(), n_target, batch.n_tokens)
        nn.utils.clip_grad_norm_(self.model.parameters(), self.recipe.clip)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        self._update_average()
        self.tokens_seen += n_tokens
        return mean, n_tokens

    def _loss(self, src: Tensor, tgt: Tensor) -> tuple[Tensor, int]:
        run = ForwardContext(dropout=Dropout(self.recipe.dropout, self.generator))
        tgt_in, tgt_out = tgt[:, :-1], tgt[:, 1:]
        with torch.autocast(self.device.type, self.dtype, enabled=self.dtype is not torch.float32):
            src_mask = self.model.src_mask(src)
            hidden = self.model.decode(tgt_in, self.model.encode(src, src_mask, run), src_mask, run)
        real = tgt_out != self.model.config.pad_id
        total = smoothed_cross_entropy(
            hidden[real],
            self.model.embedding.weight,
            tgt_out[real],
            smoothing=self.recipe.label_smoothing,
            dtype=self.dtype,
        )
        n_target = int(real.sum())
        return total / n_target, n_target

    @torch.no_grad()
    def _update_average(self) -> None:
        """Move the running average towards the weights, a little faster at the beginning of a run."""
        keep = min(self.recipe.average, (1 + self.step) / (10 + self.step))
        parameters: list[Tensor] = [parameter for _, parameter in self.model.named_parameters()]
        averages = list(self.average.values())
        torch._foreach_lerp_(averages, parameters, 1 - keep)  # pyright: ignore[reportPrivateImportUsage]

    def averaged_model(self) -> Transformer:
        """Return a copy of the model with the averaged weights, in eval mode, for scoring and shipping."""
        model = Transformer(self.model.config).to(self.device)
        model.load_state_dict(self.average)
        return model.requires_grad_(False).eval()

    def save(self, path: Path) -> None:
        """Save everything that `load` needs to resume exactly. The file is replaced at once, so that it is never
        half-written.
        """
        state = {
            "model": self.model.state_dict(),
            "average": self.average,
            "optimizer": self.optimizer.state_dict(),
            "place": (self.step, self.epoch, self.batch, self.tokens_seen),  # as in TrainingProgress
            "recipe": json.dumps(asdict(self.recipe)),
        }
        path.parent.mkdir(parents=True, exist_ok=True)
        torch.save(state, path.with_suffix(".part"))
        path.with_suffix(".part").replace(path)

    def load(self, path: Path) -> None:
        """Resume from a saved state.

        Raises ValueError if the state is broken or was made with another recipe (only `steps` may differ).
        """
        state = read_saved(path, self.device)
        then, now = asdict(Recipe(**json.loads(state["recipe"]))), asdict(self.recipe)
        if changed := [name for name in now if name != "steps" and then[name] != now[name]]:
            raise ValueError(
                f"{path} was trained with another {', '.join(changed)}. Please pass the same recipe, or a new folder."
            )
        self.model.load_state_dict(state["model"])
        self.average = dict(state["average"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.step, self.epoch, self.batch, self.tokens_seen = state["place"]


def train(
    trainer: Trainer,
    corpora: list[Corpus],
    *,
    every: int,
    report: Callable[[int, float, float], None],
    checkpoint: Callable[[], None],
    change: Change | None = None,
) -> None:
    """Train to the end of the recipe.

    `report(step, loss, tokens per second)` is called every 20 steps, `checkpoint()` every `every` steps and at the end.
    """
    losses: list[float] = []
    tokens, since = 0, time.perf_counter()
    for batch in trainer.batches(corpora, change):
        loss, n_tokens = trainer.learn(batch)
        losses.append(loss)
        tokens += n_tokens
        if trainer.step % 20 == 0 or trainer.step == trainer.recipe.steps:
            now = time.perf_counter()
            report(trainer.step, sum(losses) / len(losses), tokens / (now - since))
            losses, tokens, since = [], 0, now
        if trainer.step % every == 0 and trainer.step < trainer.recipe.steps:
            checkpoint()
            since = time.perf_counter()
    checkpoint()


def _optimizer(model: Transformer, recipe: Recipe) -> torch.optim.Optimizer:
    matrices = [p for p in model.parameters() if p.dim() > 1]
    vectors = [p for p in model.parameters() if p.dim() == 1]
    groups = [{"params": matrices, "weight_decay": recipe.weight_decay}, {"params": vectors, "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=recipe.learning_rate, betas=(0.9, 0.98), eps=1e-9, fused=True)


def product_dtype(device: torch.device) -> torch.dtype:
    """Return bfloat16 if the device multiplies in it natively, otherwise float32: emulated bfloat16 is ten times
    slower.
    """
    if device.type == "cpu":
        fast = any(has for name, has in torch.cpu.get_capabilities().items() if "bf16" in name)
    elif device.type == "cuda":
        fast = torch.cuda.is_bf16_supported(including_emulation=False)
    else:
        fast = True
    return torch.bfloat16 if fast else torch.float32


class _ChunkedCrossEntropy(torch.autograd.Function):
    """Cross-entropy of logits that are computed `CHUNK` positions at a time with their gradient, to save memory."""

    CHUNK = 256

    @staticmethod
    def forward(ctx, hidden, weight, labels, smoothing, dtype):
        low_weight = weight.detach().to(dtype)
        grad_hidden, grad_weight = torch.empty_like(hidden), torch.zeros_like(weight)
        loss = hidden.new_zeros((), dtype=torch.float32)
        for start in range(0, len(hidden), _ChunkedCrossEntropy.CHUNK):
            rows = slice(start, start + _ChunkedCrossEntropy.CHUNK)
            x, label = hidden.detach()[rows].to(dtype), labels[rows].unsqueeze(1)
            logits = F.linear(x, low_weight).float()
            logits -= logits.amax(dim=1, keepdim=True)
            kept = (1 - smoothing) * logits.gather(1, label).sum() + smoothing * logits.mean(dim=1).sum()
            grad = logits.exp_()
            normaliser = grad.sum(dim=1, keepdim=True)
            loss += normaliser.log().sum() - kept
            grad.div_(normaliser).sub_(smoothing / len(weight))
            grad.scatter_add_(1, label, grad.new_full(label.shape, smoothing - 1))
            grad = grad.to(dtype)
            grad_hidden[rows] = grad @ low_weight
            grad_weight += grad.T @ x
        ctx.save_for_backward(grad_hidden, grad_weight)
        return loss

    @staticmethod
    def backward(ctx, *grad_outputs):
        (scale,) = grad_outputs
        grad_hidden, grad_weight = ctx.saved_tensors
        return grad_hidden * scale, grad_weight * scale, None, None, None


def smoothed_cross_entropy(
    hidden: Float[Tensor, "positions d_model"],
    weight: Float[Tensor, "vocab_size d_model"],
    labels: Int[Tensor, " positions"],
    *,
    smoothing: float = 0.0,
    dtype: torch.dtype = torch.float32,
) -> Float[Tensor, ""]:
    """Compute the sum over positions of `F.cross_entropy(hidden @ weight^T, labels, label_smoothing=smoothing)`.

    Products are computed in `dtype`, softmax and sums in float32. Remove padded positions before calling.
    """
    return _ChunkedCrossEntropy.apply(hidden, weight, labels, smoothing, dtype)


@torch.no_grad()
def warm_start(
    model: Transformer, codec: TranslatorTokenizer, teacher: Transformer, its_codec: TranslatorTokenizer
) -> None:
    """Copy a trained model's weights into `model`, whose vocabulary may be different.

    A piece in both vocabularies keeps its vector. A new piece starts as the mean of the old pieces that spell it, a new
    language as the mean of the old languages. If `model` has more feed-forward units, the additional units keep their
    random input weights and have zero output weights (`W_2`), so that both models compute the same (Chen et al. 2016,
    Net2Net). Raises ValueError if the layers differ in any other way.
    """
    own = {name: tuple(tensor.shape) for name, tensor in model.state_dict().items() if name != EMBEDDING}
    learned = _widen_feed_forward(teacher, model)
    vectors = learned.pop(EMBEDDING)
    shapes = {name: tuple(tensor.shape) for name, tensor in learned.items()}
    if misfit := sorted(name for name in own.keys() | shapes.keys() if own.get(name) != shapes.get(name)):
        raise ValueError(
            f"The model to begin from has other sizes than the recipe ({misfit[0]!r}: "
            f"{shapes.get(misfit[0], 'none')} in the model, {own.get(misfit[0], 'none')} in the "
            "recipe). Please write the d_model, n_layers and d_ff of this model into --recipe."
        )
    languages = [its_codec.bos_id(to) for to in its_codec.languages]
    rows = [vectors[list(its_codec.spell(piece)) or languages].mean(0) for piece in codec.pieces]
    model.load_state_dict(learned | {EMBEDDING: torch.stack(rows)})


def _widen_feed_forward(teacher: Transformer, model: Transformer) -> dict[str, Tensor]:
    """Return the teacher's weights, padded to the feed-forward size of `model` if `model` has more units."""
    learned = teacher.state_dict()
    if teacher.config.d_model != model.config.d_model or teacher.config.d_ff >= model.config.d_ff:
        return learned
    for name, own in model.state_dict().items():
        if ".feed_forward." in name and name in learned:
            wide = own.clone() if ".W_1." in name else torch.zeros_like(own)
            wide[tuple(map(slice, learned[name].shape))] = learned[name]
            learned[name] = wide
    return learned


@dataclass(frozen=True)
class TrainingProgress:
    """The position of a run: its step, epoch, batch, and number of tokens."""

    step: int
    epoch: int
    batch: int
    tokens_seen: int


def read_state(path: Path) -> tuple[Recipe, TrainingProgress]:
    """Read the recipe and the progress from a saved state. Raises ValueError if the state is missing or broken."""
    if not path.is_file():
        raise ValueError(f"There is no {path.name} in {path.parent.name!r}. Please train first.")
    state = read_saved(path, torch.device("cpu"))
    return Recipe(**json.loads(state["recipe"])), TrainingProgress(*state["place"])


def read_saved(path: Path, device: torch.device) -> dict[str, Any]:
    """Load everything that a trainer saved, on `device`. Raises ValueError if the file is broken."""
    try:
        return torch.load(path, map_location=device, weights_only=True)
    except (RuntimeError, EOFError, pickle.UnpicklingError) as error:
        raise ValueError(
            f"{path.name} is broken. Please remove it to begin again, or give another --state folder."
        ) from error
