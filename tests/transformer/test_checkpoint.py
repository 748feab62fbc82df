"""A model on disk: it comes back as it was, and each way to break it is one clear sentence."""

import json
import os
import pickle
import signal
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from attnviz.transformer import checkpoint
from attnviz.transformer.checkpoint import CONFIG, WEIGHTS, CheckpointError, load, read_config, save
from attnviz.transformer.transformer import Transformer
from tests.each_case import each_case


@pytest.fixture
def folder(model, tmp_path):
    save(model, tmp_path / "model", dtype=torch.float32)
    return tmp_path / "model"


def _change(folder, **changes) -> None:
    path = folder / CONFIG
    content = json.loads(path.read_text())
    content["model"] |= changes
    path.write_text(json.dumps(content))


def _refusal(folder) -> str:
    with pytest.raises(CheckpointError) as error:
        load(folder)
    message = str(error.value)
    assert len(message.splitlines()) == 1
    assert str(folder.parent) not in message, "a visitor need not learn where the server keeps its files"
    return message


def test_round_trip_is_exact_in_float32(model, folder, src, tgt_in):
    again = load(folder)
    assert again.config == model.config
    assert torch.equal(again(src, tgt_in), model(src, tgt_in))
    assert not again.training
    assert not any(parameter.requires_grad for parameter in again.parameters())
    assert not any(tensor.is_meta for tensor in (*again.parameters(), *again.buffers()))


def test_float16_halves_the_file_and_stays_close(model, tmp_path, src, tgt_in):
    save(model, tmp_path / "half")
    assert {tensor.dtype for tensor in load_file(tmp_path / "half" / WEIGHTS).values()} == {torch.float16}
    torch.testing.assert_close(load(tmp_path / "half")(src, tgt_in), model(src, tgt_in), rtol=0, atol=2e-2)


def test_it_is_read_in_the_type_asked_for(folder, src, tgt_in):
    half = load(folder, dtype=torch.bfloat16)
    assert half.embedding.weight.dtype is torch.bfloat16
    assert half(src, tgt_in).dtype is torch.bfloat16


def test_on_a_cpu_a_single_row_reads_each_column_of_a_matrix_at_a_stretch(folder):
    weights = dict(load(folder).named_parameters())
    assert all(weight.t().is_contiguous() for weight in weights.values() if weight.dim() == 2)


def test_a_checkpoint_that_lacks_a_tensor_is_refused(folder):
    weights = load_file(folder / WEIGHTS)
    del weights["encoder.layers.1.self_attention.W_q.bias"]
    save_file(weights, folder / WEIGHTS)
    assert "lacks 'encoder.layers.1.self_attention.W_q.bias' (1 of" in _refusal(folder)


def test_a_checkpoint_with_an_unknown_tensor_is_refused(folder):
    save_file(load_file(folder / WEIGHTS) | {"lm_head.weight": torch.zeros(3)}, folder / WEIGHTS)
    assert "holds 'lm_head.weight'" in _refusal(folder)


def test_wrongly_shaped_tensor_names_both_shapes(folder):
    weights = load_file(folder / WEIGHTS)
    weights["decoder.layers.0.cross_attention.W_o.weight"] = torch.zeros(34, 32)
    save_file(weights, folder / WEIGHTS)
    message = _refusal(folder)
    assert "'decoder.layers.0.cross_attention.W_o.weight' has shape (34, 32)" in message
    assert "asks for (34, 33)" in message


def test_shapes_are_checked_before_any_weight_is_read_or_allocated(folder, monkeypatch):
    devices = []
    build = Transformer.__init__

    def spy(self, config):
        build(self, config)
        devices.append({parameter.device.type for parameter in self.parameters()})

    monkeypatch.setattr(Transformer, "__init__", spy)
    monkeypatch.setattr(checkpoint, "_check_shapes", lambda *_: (_ for _ in ()).throw(CheckpointError("first")))
    assert _refusal(folder) == "first"
    assert devices == [{"meta"}]


@pytest.mark.parametrize(
    "changes",
    [
        {"n_layers": 1_000_000_000},
        {"d_model": 1_000_000_000_000, "d_ff": 1_000_000_000_000},
        {"vocab_size": 2**62, "d_model": 2**40},
        {"d_ff": 10**30},
        {"n_layers": 3},
        {"d_k": 17},
        {"vocab_size": 29},
    ],
)
def test_config_of_another_size_is_refused_at_once(folder, changes):
    _change(folder, **changes)
    _refusal(folder)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"n_heads": 5, "d_k": None}, "not a multiple of n_heads"),
        ({"n_layers": 0}, "n_layers must be a positive whole number"),
        ({"n_layers": "2"}, "n_layers must be a positive whole number"),
        ({"norm_first": "no"}, "norm_first must be true or false"),
        ({"pad_id": None}, "pad_id=None"),
        ({"colour": "red"}, "Unknown names"),
    ],
)
def test_config_that_cannot_be_built_says_why(folder, changes, reason):
    _change(folder, **changes)
    assert reason in _refusal(folder)


@each_case(
    "content",
    [
        *("", "{", "[]", "5", "null", '"text"', "{}", '{"format_version": 1}', '{"format_version": 2, "model": {}}'),
        *(
            '{"format_version": 1, "model": 5}',
            '{"format_version": 1, "model": [1]}',
            '{"format_version": [], "model": {}}',
        ),
        "[" * 100_000,
        '{"format_version": ' + "9" * 10_000 + "}",
        " " * 2_000_000,
    ],
    ids=lambda content: content[:20],
)
def test_config_that_is_none(folder, content):
    (folder / CONFIG).write_text(content)
    assert CONFIG in _refusal(folder)


def test_config_that_is_not_text(folder):
    (folder / CONFIG).write_bytes(b"\xff\xfe\x00\x01")
    assert CONFIG in _refusal(folder)


def test_a_folder_without_config_json_is_refused(tmp_path):
    assert "no config.json" in _refusal(tmp_path)
    assert "no config.json" in _refusal(tmp_path / "nowhere")


def test_a_folder_without_model_safetensors_is_refused(folder):
    (folder / WEIGHTS).unlink()
    assert "no model.safetensors" in _refusal(folder)


@pytest.mark.parametrize("name", [CONFIG, WEIGHTS])
def test_a_pipe_in_a_files_place_is_never_waited_for(folder, name, monkeypatch):
    (folder / name).unlink()
    os.mkfifo(folder / name)
    monkeypatch.setattr(Path, "is_file", lambda path: True)  # as a file that was one when it was looked at
    signal.signal(signal.SIGALRM, lambda *_: pytest.fail("It waits for the pipe."))
    signal.alarm(10)
    try:
        assert f"{name} in 'model' cannot be read ({name} is not a plain file)" in _refusal(folder)
    finally:
        signal.alarm(0)


def test_pickle_is_named_and_never_opened(folder, tmp_path):
    (folder / WEIGHTS).unlink()
    trap = tmp_path / "sprung"

    class Trap:
        def __reduce__(self):
            return (trap.touch, ())

    (folder / "pytorch_model.bin").write_bytes(pickle.dumps(Trap()))
    assert "pytorch_model.bin, a pickle, which can run code" in _refusal(folder)
    (folder / "pytorch_model.bin").rename(folder / WEIGHTS)
    assert "because they can run code" in _refusal(folder)
    torch.save({"weight": torch.zeros(3)}, folder / WEIGHTS)
    assert "because they can run code" in _refusal(folder)
    assert not trap.exists()


@pytest.mark.parametrize("size", [0, 1, 8, 100, 5_000, -1])
def test_truncated_weights(folder, size):
    path = folder / WEIGHTS
    content = path.read_bytes()
    path.write_bytes(content[:size])
    assert "is not a safetensors file, or is cut short" in _refusal(folder)


def test_weights_of_many_gigabytes_are_refused_unread(folder):
    with (folder / WEIGHTS).open("r+b") as file:
        file.truncate(checkpoint.MAX_WEIGHTS_BYTES + 1)
    assert "larger than 4 GB" in _refusal(folder)


def test_config_alone_can_be_read(model, folder):
    assert read_config(folder) == model.config
