"""Checkpoints that were damaged or made to mislead: each is refused in one sentence, and none runs code."""

import json
import shutil
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from attnviz.models.huggingface import load
from attnviz.text.limits import TextError
from tests.models.huggingface.refused import CPU, change, refusal


@pytest.fixture
def copy(checkpoint, tmp_path):
    """Make a copy of a checkpoint that a test may spoil."""
    return lambda name: Path(shutil.copytree(checkpoint(name), tmp_path / name))


def with_tensors(folder: Path, changed) -> Path:
    """Return the checkpoint with other tensors: `changed` takes a name and a tensor, and gives a tensor or None."""
    tensors = {name: changed(name, tensor) for name, tensor in load_file(folder / "model.safetensors").items()}
    kept = {name: tensor.contiguous() for name, tensor in tensors.items() if tensor is not None}
    save_file(kept, folder / "model.safetensors", metadata={"format": "pt"})
    return folder


def with_config(folder: Path, **fields) -> Path:
    change(folder / "config.json", **fields)
    return folder


def test_a_tensor_of_another_shape_is_named_with_both_shapes(copy):
    query = "bert.encoder.layer.1.attention.self.query.weight"
    spoilt = with_tensors(copy("bert"), lambda name, tensor: tensor[:-1] if name == query else tensor)
    assert f"'{query}' has shape (34, 35), but config.json asks for (35, 35)" in refusal(spoilt)


@pytest.mark.parametrize(("field", "size"), [("n_embd", 10**7), ("vocab_size", 10**10), ("n_positions", 10**10)])
def test_a_config_that_asks_for_more_than_any_memory_costs_none(copy, field, size):
    assert "has shape" in refusal(with_config(copy("gpt2"), **{field: size}))


@pytest.mark.parametrize(
    ("name", "part", "says"),
    [
        ("gpt2", "wte", "lm_head.weight"),
        ("llama", "lm_head", "lm_head.weight"),
        ("t5", "shared", "embed_tokens.weight"),
        ("bart", "shared", "do not contain"),
    ],
)
def test_tied_weights_that_are_nowhere_are_missed(name, part, says, copy):
    parts = (part, "embed_tokens", "lm_head") if part == "shared" else (part,)
    spoilt = with_tensors(copy(name), lambda key, tensor: None if any(each in key for each in parts) else tensor)
    assert says in refusal(spoilt)


def test_layers_that_the_config_has_no_place_for_are_not_left_out(copy):
    assert "which does not exist in a model with this config" in refusal(with_config(copy("bert"), num_hidden_layers=1))


@pytest.mark.parametrize("times", [float("nan"), float("inf")])
def test_weights_that_are_no_numbers(copy, times):
    spoilt = with_tensors(copy("gpt2"), lambda name, tensor: tensor * times if "h.2.mlp" in name else tensor)
    assert refusal(spoilt).startswith("The model computes NaN or infinity")


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"model_type": None}, "has no model_type"),
        ({"model_type": ["bert"]}, "has no model_type"),
        ({"num_attention_heads": "five"}, "is not a config of bert"),
        ({"num_attention_heads": 4}, "do not fit their config"),
        ({"num_attention_heads": 0}, "do not fit their config"),
        ({"num_hidden_layers": 0}, "asks for 0 layers"),
        ({"num_hidden_layers": -3}, "asks for -3 layers"),
    ],
)
def test_a_config_that_makes_no_sense(fields, says, copy):
    assert says in refusal(with_config(copy("bert"), **fields))


def test_a_config_with_a_word_for_a_number_says_which_and_what_belongs_there(copy):
    said = refusal(with_config(copy("gpt2"), n_layer="two"))
    assert said == (
        "config.json in 'gpt2' is not a config of gpt2 (Field 'n_layer' expected int, got str (value: 'two'))."
    )


@pytest.mark.parametrize("said", [[None], ["BertModel", 5], "BertModel", 5, [[]]])
def test_architectures_that_are_no_names(said, copy):
    folder = with_config(copy("bert"), architectures=said)
    assert refusal(folder) == "config.json in 'bert' has architectures that are not a list of names."


@pytest.mark.parametrize(("depth", "says"), [(100_000, "cannot be read as JSON"), (900, "is not a config of bert")])
def test_a_config_as_deep_as_a_well(depth, says, copy):
    folder = copy("bert")
    whole = (folder / "config.json").read_text(encoding="utf-8").rstrip().removesuffix("}")
    (folder / "config.json").write_text(f'{whole}, "deep": {"[" * depth}{"]" * depth}}}', encoding="utf-8")
    assert says in refusal(folder)


@pytest.mark.parametrize(
    ("file", "megabytes", "said"),
    [
        ("tokenizer.json", 50, "tokenizer.json in 'bert' takes 50 MB; up to"),
        ("config.json", 6, "config.json in 'bert' cannot be read as JSON (it is larger than"),
    ],
)
def test_a_file_that_would_take_minutes_to_read(file, megabytes, said, copy):
    folder = copy("bert")
    with (folder / file).open("ab") as out:
        out.truncate(megabytes * 10**6)
    assert refusal(folder).startswith(said)


def test_a_shard_that_is_missing_and_an_index_without_metadata(copy):
    folder = copy("bert")
    (folder / "model.safetensors").rename(folder / "model-00001-of-00002.safetensors")
    index, names = folder / "model.safetensors.index.json", {"a": 1, "b": 2}
    places = {name: f"model-0000{part}-of-00002.safetensors" for name, part in names.items()}
    index.write_text(json.dumps({"weight_map": places}), encoding="utf-8")
    assert "refers to the file 'model-00002-of-00002.safetensors', which is missing" in refusal(folder)
    index.write_text(json.dumps({"weight_map": {"a": places["a"]}}), encoding="utf-8")
    assert "has no metadata" in refusal(folder)


@pytest.mark.parametrize("auto", ["AutoConfig", "AutoModelForMaskedLM", "AutoTokenizer"])
def test_code_beside_a_known_architecture_stays_unread(auto, copy, tmp_path):
    folder = copy("bert")
    (folder / "code.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')", encoding="utf-8")
    file = "tokenizer_config.json" if auto == "AutoTokenizer" else "config.json"
    change(folder / file, auto_map={auto: ["code.X", None] if auto == "AutoTokenizer" else "code.X"})
    assert load(folder, **CPU).kinds == ("encoder_self",)
    assert not (tmp_path / "ran").exists()


def test_a_word_that_the_model_does_not_know_is_named(copy):
    folder = copy("gpt2")
    tokenizer = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    model = load(folder, **CPU)
    word = {"content": "zebra", "special": False, "single_word": False, "lstrip": False, "rstrip": False}
    tokenizer["added_tokens"].append(word | {"normalized": False, "id": model.text.known})
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer), encoding="utf-8")
    with pytest.warns(UserWarning, match=r"the model has embeddings for only .* one of the other 1 pieces") as warned:
        longer = load(folder, **CPU)
    assert len(warned) == 1
    with pytest.raises(TextError, match=r"reads “zebra” as id .* leave it out of the sentence"):
        longer.trace("A zebra sat.")
    assert longer.trace("A cat sat.", new_tokens=0).kinds == ("decoder_self",)


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"eos_token_id": "x"}, "eos_token_id 'x', which is not a token id"),
        ({"suppress_tokens": ["x"]}, "suppress_tokens 'x', which is not a token id"),
        ({"decoder_start_token_id": 10**6}, "begin with the id 1000000"),
    ],
)
def test_settings_of_writing_that_make_no_sense(settings, says, copy):
    folder = copy("bart")
    change(folder / "generation_config.json", **settings)
    assert says in refusal(folder)


def test_what_is_never_written_may_lie_beyond_the_vocabulary(copy):
    folder = copy("bart")
    change(folder / "generation_config.json", suppress_tokens=[3, 10**9])
    assert all(token.id != 3 for token in load(folder, **CPU).trace("A cat sat.").tokens("tgt"))


def test_a_target_without_an_end_stops_where_the_positions_do(copy):
    folder = copy("bart")
    change(folder / "generation_config.json", suppress_tokens=[load(folder, **CPU).text._tokenizer.eos_token_id])
    model = load(folder, **CPU)
    trace = model.trace("A cat sat on the mat and looked at the red dog.")
    assert len(trace.tokens("tgt")) == model.text.max_tokens
    assert "The target was cut without reaching <eos>." in trace.info.notes
    assert torch.isfinite(trace.attn("cross")).all()
