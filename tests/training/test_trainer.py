"""Training goes on from an interruption to the same numbers, and learns."""

from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F

from attnviz.training.corpus import epoch_batches
from attnviz.training.trainer import Trainer, read_state, train
from attnviz.training.workers import Share

CPU = torch.device("cpu")


def _quiet(*_values) -> None:
    pass


def _run(trainer: Trainer, corpora, *, every: int = 1_000, keep=_quiet) -> None:
    train(trainer, corpora, every=every, report=_quiet, checkpoint=keep)


class _InterruptedError(Exception):
    pass


@pytest.mark.parametrize(("cut", "share"), [(1, Share()), (11, Share()), (7, Share(1, 2))])
def test_an_interrupted_run_ends_in_bitwise_the_same_state(recipe, config, corpora, tmp_path, monkeypatch, cut, share):
    """One worker's, and the second's of two: what the first sends it is nothing here."""
    monkeypatch.setattr("torch.distributed.all_reduce", lambda flat: None)
    recipe = replace(recipe, batch_tokens=60) if share.count > 1 else recipe
    whole = Trainer(recipe, config, CPU, share)
    _run(whole, corpora)
    first, path = Trainer(recipe, config, CPU, share), tmp_path / "state.pt"

    def keep_and_stop() -> None:
        first.save(path)
        raise _InterruptedError

    with pytest.raises(_InterruptedError):
        _run(first, corpora, every=cut, keep=keep_and_stop)
    second = Trainer(replace(recipe), config, CPU, share)
    second.load(path)
    assert second.step == cut
    _run(second, corpora)
    assert (second.step, second.epoch, second.batch, second.tokens_seen) == (
        whole.step,
        whole.epoch,
        whole.batch,
        whole.tokens_seen,
    )
    for name, tensor in whole.model.state_dict().items():
        assert torch.equal(tensor, second.model.state_dict()[name]), name
        assert torch.equal(whole.average[name], second.average[name]), name


def test_a_run_sees_the_epochs_in_order(recipe, config, corpora):
    trainer = Trainer(replace(recipe, steps=40), config, CPU)
    seen = []
    for batch in trainer.batches(corpora):
        trainer.step += 1
        seen.append(batch.src)
    expected = [
        batch.src
        for epoch in range(40)
        for batch in epoch_batches(corpora, epoch=epoch, seed=recipe.seed, batch_tokens=recipe.batch_tokens)
    ]
    assert len(seen) == 40
    assert all(torch.equal(a, b) for a, b in zip(seen, expected, strict=False))
    assert trainer.epoch >= 2


def test_steps_may_be_raised_and_nothing_else(recipe, config, corpora, tmp_path):
    trainer, path = Trainer(replace(recipe, steps=2), config, CPU), tmp_path / "state.pt"
    _run(trainer, corpora)
    trainer.save(path)
    Trainer(replace(recipe, steps=5), config, CPU).load(path)
    with pytest.raises(ValueError, match="another dropout, seed"):
        Trainer(replace(recipe, dropout=0.2, seed=9), config, CPU).load(path)
    read, place = read_state(path)
    assert read == replace(recipe, steps=2)
    assert (place.step, place.tokens_seen) == (2, trainer.tokens_seen)


@pytest.mark.parametrize("content", [b"", b"nonsense", b"PK\x03\x04"])
def test_a_broken_state_says_what_to_do(recipe, config, tmp_path, content):
    (tmp_path / "state.pt").write_bytes(content)
    with pytest.raises(ValueError, match=r"state\.pt is broken. Please remove it"):
        Trainer(recipe, config, CPU).load(tmp_path / "state.pt")


def test_a_state_is_replaced_whole(recipe, config, tmp_path, monkeypatch):
    trainer, path = Trainer(recipe, config, CPU), tmp_path / "state.pt"
    trainer.save(path)
    before = path.read_bytes()

    def fails(_state, part):
        part.write_bytes(b"half")
        raise OSError("disk full")

    monkeypatch.setattr(torch, "save", fails)
    with pytest.raises(OSError, match="disk full"):
        trainer.save(path)
    assert path.read_bytes() == before


@pytest.mark.parametrize(("has", "error"), [(True, 2e-2), (False, 1e-6)])
def test_the_loss_is_the_mean_over_real_target_tokens(recipe, config, corpora, monkeypatch, has, error):
    """A processor that has no bfloat16 learns in float32: emulated, every product would take ten times as long."""
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: {"avx2": True, "avx512_bf16": has})
    trainer = Trainer(replace(recipe, dropout=0.0), config, CPU)
    batch = next(iter(trainer.batches(corpora)))
    logits = trainer.model(batch.src, batch.tgt[:, :-1])
    expected = F.cross_entropy(
        logits.flatten(0, 1), batch.tgt[:, 1:].flatten(), ignore_index=0, label_smoothing=recipe.label_smoothing
    )
    loss, n_tokens = trainer.learn(batch)
    assert loss == pytest.approx(expected.item(), rel=error)
    assert (loss == pytest.approx(expected.item(), rel=1e-6)) is not has
    assert n_tokens == batch.n_tokens


def test_training_halves_the_loss(recipe, config, corpora):
    losses = []
    trainer = Trainer(replace(recipe, steps=30, learning_rate=1e-2, dropout=0.0, label_smoothing=0.0), config, CPU)
    train(trainer, corpora, every=1_000, report=lambda _step, loss, _rate: losses.append(loss), checkpoint=_quiet)
    assert losses[-1] < losses[0] / 2


def test_the_average_follows_the_weights(recipe, config, corpora):
    trainer = Trainer(recipe, config, CPU)
    start = trainer.model.embedding.weight.detach().clone()
    trainer.learn(next(iter(trainer.batches(corpora))))
    now = trainer.model.embedding.weight.detach()
    torch.testing.assert_close(trainer.average["embedding.weight"], start.lerp(now, 1 - 2 / 11))
    assert torch.equal(trainer.averaged_model().embedding.weight, trainer.average["embedding.weight"])


def test_it_leaves_other_random_numbers_alone(recipe, config, corpora):
    trainer = Trainer(recipe, config, CPU)
    before = torch.get_rng_state()
    trainer.learn(next(iter(trainer.batches(corpora))))
    assert torch.equal(torch.get_rng_state(), before)


def test_no_pairs_is_said_and_not_waited_for(recipe, config):
    with pytest.raises(ValueError, match="no sentence pairs to learn from"):
        _run(Trainer(recipe, config, CPU), [])


def test_checkpoints_come_every_so_often_and_once_at_the_end(recipe, config, corpora):
    trainer = Trainer(replace(recipe, steps=6), config, CPU)
    steps = []
    _run(trainer, corpora, every=3, keep=lambda: steps.append(trainer.step))
    assert steps == [3, 6]
