"""Broken sentencepiece files, empty ones, and ones that would make a text endless; tokenizers that cannot be read."""

import json
import shutil
from pathlib import Path

import pytest
import transformers
from sentencepiece import sentencepiece_model_pb2

from attnviz.models.huggingface import load
from tests.models.huggingface.checkpoints import DECODERS, random_model, save
from tests.models.huggingface.published.files import write_byte_merges
from tests.models.huggingface.refused import CPU, refusal

FILES = {
    "Marian": "target.spm", "M2M100": "sentencepiece.bpe.model", "XLM-R": "sentencepiece.bpe.model",
    "T5": "spiece.model",
}  # fmt: skip
EACH = pytest.mark.parametrize("name", FILES)


@pytest.fixture
def copy(family, tmp_path):
    """Provide a family's folder that a test may spoil."""
    return lambda name: Path(shutil.copytree(family(name if name != "T5" else "T5, Flan-T5"), tmp_path / name))


@EACH
@pytest.mark.parametrize("spoil", [lambda content: content[: len(content) // 2], lambda content: b"\xff" + content[1:]])
def test_a_damaged_file_is_refused(name, spoil, copy):
    folder = copy(name)
    path = folder / FILES[name]
    path.write_bytes(spoil(path.read_bytes()))
    assert refusal(folder) == f"The tokenizer in {name!r} cannot be read. Please put a tokenizer.json into the folder."


@EACH
def test_a_file_without_a_piece_is_refused(name, copy):
    """With it, transformers reads XLM-R's texts as nothing but unknown."""
    folder = copy(name)
    (folder / FILES[name]).write_bytes(b"")
    assert refusal(folder) == f"{FILES[name]} in {name!r} is a sentencepiece file without pieces, so it is not loaded."


@EACH
def test_a_table_that_makes_a_letter_endless_is_refused(name, copy):
    folder = copy(name)
    model = sentencepiece_model_pb2.ModelProto()
    model.ParseFromString((folder / FILES[name]).read_bytes())
    model.normalizer_spec.precompiled_charsmap += b"A" * 101 + b"\0"
    (folder / FILES[name]).write_bytes(model.SerializeToString())
    assert (
        refusal(folder)
        == f"{FILES[name]} in {name!r} could make a text more than 100 times as long, which would use up "
        "all memory. attnviz therefore does not load it."
    )


def test_a_marian_without_its_target_is_refused(copy):
    folder = copy("Marian")
    (folder / "target.spm").unlink()
    assert refusal(folder) == "The tokenizer in 'Marian' cannot be read. Please put a tokenizer.json into the folder."


def test_a_folder_without_a_vocabulary_is_read_as_bytes_only_where_it_says_so(copy):
    folder = copy("ByT5")
    (folder / "tokenizer_config.json").write_text('{"tokenizer_class": "T5Tokenizer"}', encoding="utf-8")
    assert refusal(folder) == "There is no tokenizer in 'ByT5': its folder needs a tokenizer.json."


def test_a_tokenizer_that_transformers_has_in_python_alone_is_named(tmp_path):
    """CTRL's, under GPT-2's weights: it says nowhere which characters a token stands for."""
    folder = tmp_path / "ctrl"
    folder.mkdir()
    write_byte_merges("<unk>", tokenizer_class="CTRLTokenizer")(folder)
    config = transformers.GPT2Config(**DECODERS["gpt2"].sizes, vocab_size=400)
    random_model("GPT2LMHeadModel", config).save_pretrained(folder)
    said = refusal(folder)
    assert said.startswith("transformers has CTRLTokenizer only in Python, which does not say which characters a token")
    assert "put a tokenizer.json into its folder" in said
    assert "attnviz.from_tensors" in said


@pytest.mark.parametrize("name", ["CTRLTokenizer", "XLMTokenizer"])
def test_the_way_out_is_one_a_tokenizer_json_is_read_beside_a_class_in_python_alone(tmp_path, name):
    folder = save(tmp_path / "gpt2", DECODERS["gpt2"])
    plain = load(folder, **CPU).trace("I love you.", new_tokens=0)
    path = folder / "tokenizer_config.json"
    path.write_text(json.dumps(json.loads(path.read_text("utf-8")) | {"tokenizer_class": name}), encoding="utf-8")
    assert load(folder, **CPU).trace("I love you.", new_tokens=0).sentences == plain.sentences
