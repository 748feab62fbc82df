"""Workers that share a step move as one that had read all their batches, and all alike."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F

from attnviz.training.corpus import PairBatch
from attnviz.training.trainer import Trainer
from attnviz.training.workers import Share, run_in_processes

CPU = torch.device("cpu")


def _together(batches: list[PairBatch]) -> PairBatch:
    """One batch of all rows, padded to the longest."""

    def stack(parts: list[torch.Tensor]) -> torch.Tensor:
        longest = max(part.shape[1] for part in parts)
        return torch.cat([F.pad(part, (0, longest - part.shape[1])) for part in parts])

    return PairBatch(stack([batch.src for batch in batches]), stack([batch.tgt for batch in batches]))


def _gradients(trainer: Trainer, batch: PairBatch) -> tuple[list[torch.Tensor], float, int]:
    loss, n_target = trainer._loss(batch.src, batch.tgt)
    loss.backward()
    return [p.grad for p in trainer.model.parameters() if p.grad is not None], float(loss.detach()), n_target


class _Sum:
    """Stands for the processes: what each would send, summed."""

    def __init__(self, monkeypatch):
        self.sent, self.replies = [], None
        monkeypatch.setattr("torch.distributed.all_reduce", self)

    def __call__(self, flat):
        self.sent.append(flat.clone())
        if self.replies is not None:
            flat.copy_(self.replies)


@pytest.fixture
def shares(recipe, config, corpora, monkeypatch):
    """Two trainers, their batches, and what `average` leaves in each."""
    recipe = replace(recipe, dropout=0.0, batch_tokens=60)
    trainers = [Trainer(recipe, config, CPU, Share(rank, 2)) for rank in range(2)]
    batches = [next(iter(trainer.batches(corpora))) for trainer in trainers]
    seen = [_gradients(trainer, batch) for trainer, batch in zip(trainers, batches, strict=True)]
    wire = _Sum(monkeypatch)
    for trainer, batch, (gradients, loss, n_target) in zip(trainers, batches, seen, strict=True):
        trainer.share.average([g.clone() for g in gradients], loss, n_target, batch.n_tokens)
    wire.replies = sum(wire.sent)
    told = [
        trainer.share.average(gradients, loss, n_target, batch.n_tokens)
        for trainer, batch, (gradients, loss, n_target) in zip(trainers, batches, seen, strict=True)
    ]
    return trainers, batches, told


def test_workers_move_by_the_gradient_of_all_their_tokens(recipe, config, shares):
    trainers, batches, told = shares
    assert len(batches[0].src) != len(batches[1].src) or batches[0].n_tokens != batches[1].n_tokens
    whole = Trainer(replace(recipe, dropout=0.0), config, CPU)
    expected, loss, _ = _gradients(whole, _together(batches))
    for trainer, (mean, n_tokens) in zip(trainers, told, strict=True):
        assert mean == pytest.approx(loss, rel=1e-3)
        assert n_tokens == sum(batch.n_tokens for batch in batches)
        for (name, parameter), gradient in zip(trainer.model.named_parameters(), expected, strict=True):
            torch.testing.assert_close(parameter.grad, gradient, rtol=0.02, atol=2e-3, msg=lambda m, n=name: f"{n} {m}")


def test_workers_read_every_batch_once(recipe, config, corpora):
    recipe = replace(recipe, batch_tokens=60, steps=1_000)

    def first_epoch(share: Share) -> list[torch.Tensor]:
        trainer, seen = Trainer(recipe, config, CPU, share), []
        for batch in trainer.batches(corpora):
            if trainer.epoch:
                return seen
            seen.append(batch.src)
        raise AssertionError

    alone, shared = first_epoch(Share()), [first_epoch(Share(rank, 3)) for rank in range(3)]
    assert len(alone) // 3 == len(shared[0]) > 1
    dealt = [batch for group in zip(*shared, strict=True) for batch in group]
    assert all(torch.equal(a, b) for a, b in zip(dealt, alone, strict=False))


def test_workers_drop_out_different_units(recipe, config, corpora):
    """The same batch, the same weights, another rank: another gradient."""
    losses = []
    for rank in (0, 1, 0):
        trainer = Trainer(replace(recipe, dropout=0.5), config, CPU, Share(rank, 1))
        losses.append(trainer.learn(next(iter(Trainer(recipe, config, CPU).batches(corpora))))[0])
    assert losses[0] == losses[2] != losses[1]


def test_too_few_batches_for_the_workers_is_said(recipe, config, corpora):
    trainer = Trainer(replace(recipe, batch_tokens=100_000), config, CPU, Share(0, 2))
    with pytest.raises(
        ValueError, match=r"fewer batches than the 2 workers\. Please take fewer workers, or smaller batches"
    ):
        next(trainer.batches(corpora))


def _write(folder: Path, share: Share) -> None:
    """Write what a worker saw into a file."""
    value = torch.full((1,), float(share.rank + 1))
    told = share.average([value], float(share.rank), n_target=share.rank + 1, n_tokens=10)
    share.wait()
    (folder / str(share.rank)).write_text(json.dumps([value.item(), *told]))


def test_processes_average_what_they_have(tmp_path):
    run_in_processes(2, partial(_write, tmp_path))
    for rank in range(2):
        value, loss, n_tokens = json.loads((tmp_path / str(rank)).read_text())
        assert value == pytest.approx((1 * 1 + 2 * 2) / 3)  # one token against two
        assert loss == pytest.approx((0 * 1 + 1 * 2) / 3)
        assert n_tokens == 20


def test_one_worker_shares_nothing(tmp_path):
    gradient = torch.ones(3)
    assert Share().average([gradient], 2.5, 7, 20) == (2.5, 20)
    assert torch.equal(gradient, torch.ones(3))
    run_in_processes(1, lambda share: (tmp_path / "here").write_text(str(share)))
    assert (tmp_path / "here").read_text() == "Share(rank=0, count=1)"


def _stays(folder: Path, share: Share) -> None:
    """Write the worker's process id, and go on for longer than any test waits."""
    part = folder / f"{share.rank}.part"
    part.write_text(str(os.getpid()))
    part.rename(folder / str(share.rank))
    time.sleep(120)


def _is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def _wait_for(holds, seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.05)


def test_workers_end_with_a_training_that_was_killed_in_the_background_of_a_script(tmp_path):
    """There SIGINT is ignored, in all that is begun."""
    begin = (
        "import sys; from pathlib import Path; from tests.training.test_workers import begin; begin(Path(sys.argv[1]))"
    )
    training = subprocess.Popen(
        [sys.executable, "-c", begin, str(tmp_path)],
        cwd=Path(__file__).parents[2],
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),
    )
    files = [tmp_path / "0", tmp_path / "1"]
    try:
        _wait_for(lambda: all(file.is_file() for file in files) or training.poll() is not None)
        workers = [int(file.read_text()) for file in files]
        assert all(map(_is_alive, workers))
    finally:
        training.kill()
        training.wait()
    _wait_for(lambda: not any(map(_is_alive, workers)))


def begin(folder: Path) -> None:
    """Two workers that stay, in the process that this is called in."""
    run_in_processes(2, partial(_stays, folder))
