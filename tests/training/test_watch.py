"""`--watch`: the recording of the watched sentences equals what the translator did."""

import json
import shutil
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest
import torch

import attnviz
from attnviz.models.catalogue import DEFAULT
from attnviz.models.translator.translator import Translator
from attnviz.text.tokenizer import TranslatorTokenizer
from attnviz.toys.packing import to_8_bits
from attnviz.toys.storage import save
from attnviz.toys.translator.recording import TranslatorRecording, translator_recording
from attnviz.tracing.trace import KINDS
from attnviz.training.__main__ import main
from attnviz.training.run import language_pairs
from attnviz.training.watch import MOST_BYTES, SENTENCES, TrainingWatch, watched_lines
from attnviz.transformer.config import ModelConfig
from attnviz.transformer.transformer import Transformer

DEV = 1  # pairs a language that are scored
STRANGE = "<b>👩‍👧</b>\u2028 $x$ ﺦe\u0301"
ROWS = ("en\tde\tzh\tfr", "The red dog.\t\t红狗。\tLe rouge chien.", f"{STRANGE}\tx\t红狗\u2028。\ty",
        "The new cat.\tx\t新猫。\tLe chat.")  # fmt: skip


@pytest.fixture(scope="module")
def table(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("watched") / "sentences.tsv"
    path.write_text("\n".join(ROWS), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def train(data, recipe, table):
    """Train in a folder for so many steps, a look after each: the exit status."""

    def go(folder: Path, steps: int, *more: str) -> int:
        changes = json.dumps(asdict(replace(recipe, steps=steps)))
        return main(
            ["--data", str(data), "--state", str(folder), "--recipe", changes, "--device", "cpu", "--threads", "1",
             "--every", "1", "--dev", str(DEV), "--watch", str(table), *more]
        )  # fmt: skip

    return go


@pytest.fixture(scope="module")
def state(train, tmp_path_factory) -> Path:
    """Provide the folder of a run of five steps that was not interrupted."""
    folder = tmp_path_factory.mktemp("run") / "state"
    assert train(folder, 5) == 0
    return folder


@pytest.fixture(scope="module")
def recording(state) -> TranslatorRecording:
    found = attnviz.load_recording(state / "recording.npz")
    assert isinstance(found, TranslatorRecording)
    return found


@pytest.fixture(scope="module")
def models(state, recipe) -> dict[int, Translator]:
    """Provide the translator before its first step, and after the last: which looks were at them."""
    codec = TranslatorTokenizer.load(state / "tokenizer.json")
    config = ModelConfig(codec.vocab_size, recipe.d_model, recipe.n_heads, recipe.n_layers, recipe.d_ff)
    begun, done = Transformer(config).initialise(recipe.seed), Transformer(config)
    done.load_state_dict(torch.load(state / "state.pt", weights_only=True)["average"])
    return {at: Translator(model.eval(), codec, model_id="") for at, model in ((0, begun), (-1, done))}


def test_it_looks_before_the_first_step_and_at_every_checkpoint(recording):
    assert recording.steps == (0, 1, 2, 3, 4, 5)


def test_each_sentence_is_watched_in_one_of_the_languages_that_are_trained_in_turn(recording):
    assert [line.to for line in recording.lines] == ["fr", "zh", "fr"]
    assert [line.sentence.src_text for line in recording.lines] == ["The red dog.", STRANGE, "The new cat."]
    assert [line.sentence.tgt_text for line in recording.lines] == ["Le rouge chien.", "红狗\u2028。", "Le chat."]
    assert [line.learned for line in recording.lines] == [True, False, False]


@pytest.mark.parametrize("at", [0, -1])
def test_what_it_holds_is_what_the_translator_did(at, recording, models):
    for line, of_line, wrote in zip(recording.lines, recording.maps, recording.answers_at(at), strict=True):
        text = line.sentence.src_text
        trace = models[at].trace(text, to=line.to, tgt_text=line.sentence.tgt_text)
        assert trace.sentences[0] == line.sentence
        for kind in KINDS:
            parted = np.abs(of_line[kind][at] / 255 - trace.attn(kind).numpy())
            assert parted.max() <= 0.5 / 255 + 1e-6
        assert wrote == models[at].translate(text, to=line.to)


@pytest.mark.parametrize("at", [0, -1])
def test_its_loss_is_the_mean_over_the_tokens_of_the_dev_pairs(at, recording, models, data, recipe):
    losses = []
    for to, pairs in language_pairs(data, recipe, "dev").items():
        for english, target in pairs[:DEV]:
            trace = models[at].trace(english, to=to, tgt_text=target)
            ids = torch.tensor([token.id for token in trace.sentences[0].tgt_out])
            losses += torch.nn.functional.cross_entropy(trace.logits[0], ids, reduction="none").tolist()
    assert recording.held_out_loss[at] == pytest.approx(np.mean(losses), abs=1e-5)


def test_its_scores_are_those_that_are_logged(recording, state):
    logged = [json.loads(line) for line in (state / "scores.jsonl").read_text().splitlines()]
    assert recording.scores.keys() == {"bleu.fr", "chrf.fr", "bleu.zh", "chrf.zh"}
    for at, line in enumerate(logged, start=1):
        assert recording.scores["chrf.zh"][at] == np.float32(line["zh"]["chrf"])


def test_a_run_that_goes_on_leaves_bitwise_the_same_file(train, state, tmp_path):
    """Whether it ended between two looks, or between saving its state and looking, or was set back to an older state.

    Three steps and then two are five: no step of the first three is yet slowed down for the end.
    """
    folder, whole = tmp_path / "state", (state / "recording.npz").read_bytes()
    assert train(folder, 3) == 0
    kept = attnviz.load_recording(folder / "recording.npz")
    assert kept.steps == (0, 1, 2, 3)
    (tmp_path / "older").mkdir()
    shutil.copy(folder / "state.pt", tmp_path / "older")
    save(translator_recording(kept.lines, kept.vocab_size, kept.moments[:-1]), folder / "recording.npz")
    assert train(folder, 5) == 0
    assert (folder / "recording.npz").read_bytes() == whole
    shutil.copy(tmp_path / "older" / "state.pt", folder / "state.pt")
    assert train(folder, 5) == 0
    assert (folder / "recording.npz").read_bytes() == whole
    assert not list(folder.glob("*.part"))


def test_watching_changes_nothing_of_what_is_learned(train, state, tmp_path, data, recipe):
    changes = json.dumps(asdict(replace(recipe, steps=5)))
    arguments = ["--data", str(data), "--state", str(tmp_path / "state"), "--recipe", changes, "--threads", "1"]
    assert main([*arguments, "--device", "cpu"]) == 0
    assert not (tmp_path / "state" / "recording.npz").exists()
    states = [torch.load(folder / "state.pt", weights_only=True) for folder in (state, tmp_path / "state")]
    for name, tensor in states[0]["average"].items():
        assert torch.equal(tensor, states[1]["average"][name]), name


def test_a_file_that_cannot_be_gone_on_with_is_one_sentence_and_stays(train, state, tmp_path, capsys):
    shutil.copytree(state, tmp_path / "state")
    path, other = tmp_path / "state" / "recording.npz", tmp_path / "other.tsv"
    whole = path.read_bytes()
    path.write_bytes(whole[:1000])
    assert train(tmp_path / "state", 6) == 2
    said = capsys.readouterr().err
    assert said.startswith("attnviz.training: recording.npz is not a recording of attnviz (")
    assert said.endswith("). Remove it to start a new recording.\n")
    assert len(said.splitlines()) == 1
    assert path.read_bytes() == whole[:1000]
    path.write_bytes(whole)
    other.write_text("en\tfr\nThe red cat.\tLe rouge chat.\n", encoding="utf-8")
    assert train(tmp_path / "state", 6, "--watch", str(other)) == 2
    assert (
        "recording.npz was made with other sentences or another model. Please pass the same" in capsys.readouterr().err
    )
    path.unlink()
    assert train(tmp_path / "state", 6, "--watch", str(other)) == 0
    assert attnviz.load_recording(path).steps == (5, 6)


def test_a_new_run_begins_a_new_file(train, recipe, tmp_path):
    (tmp_path / "recording.npz").write_bytes(b"of a run that was removed")
    assert train(tmp_path, 1) == 0
    assert attnviz.load_recording(tmp_path / "recording.npz").steps == (0, 1)


BAD = {
    "another language": ("en\tit\nThe dog.\tIl cane.\n", "has no sentence in a language that is trained: fr, zh."),
    "no sentence": ("en\tfr\n", "has no sentence in a language that is trained: fr, zh."),
    "blank": ("en\tfr\nThe dog.\t \n", "line 2: a sentence and its translation (fr) cannot be blank."),
    "many": ("en\tfr\n" + "The dog.\tLe chien.\n" * 9, "has 9 sentences; at most 8 can be watched."),
    "no table": ("The dog.\n", "the first line must name the columns"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_table_that_cannot_be_watched_is_one_sentence(name, codec, recipe, tmp_path):
    content, said = BAD[name]
    (tmp_path / "t.tsv").write_text(content, encoding="utf-8")
    with pytest.raises(ValueError, match=r"^t\.tsv") as raised:
        watched_lines(tmp_path / "t.tsv", recipe.languages, codec, set())
    assert said in str(raised.value)
    assert "\n" not in str(raised.value)


def test_sentences_too_long_for_a_small_file_are_said(codec, config, tmp_path):
    (tmp_path / "t.tsv").write_text("en\tfr\n" + "The red dog. " * 40 + "\tLe chien.\n", encoding="utf-8")
    lines = watched_lines(tmp_path / "t.tsv", ["fr"], codec, set())
    with pytest.raises(
        ValueError, match=r"take [\d,]+ bytes at each look, and 50,000 is the most\. Please take shorter"
    ):
        TrainingWatch(tmp_path / "r.npz", lines, config, [])


def test_of_the_shipped_translator_the_file_stays_small_at_worst(tmp_path):
    """With maps of noise, which nothing packs. Those of a real training pack to about half."""
    translator = attnviz.load(DEFAULT, device="cpu")
    lines = watched_lines(SENTENCES, translator.languages, translator.codec, set())
    assert [line.to for line in lines] == list(translator.languages)
    watch = TrainingWatch(tmp_path / "r.npz", lines, translator.model.config, [])
    assert 20 <= watch.most <= 60
    random, stacks = np.random.default_rng(0), (translator.model.config.n_layers, translator.model.config.n_heads)
    noise = tuple(
        {
            kind: random.integers(0, 256, (watch.most, *stacks, len(one.queries(kind)), len(one.keys(kind))), np.uint8)
            for kind in KINDS
        }
        for one in (line.sentence for line in lines)
    )
    steps, writing = tuple(range(watch.most)), (("word " * 30,) * 4,) * watch.most
    loss = np.ones(watch.most, np.float32)
    save(TranslatorRecording(lines, 12_000, steps, loss, {}, noise, writing), tmp_path / "r.npz")
    assert (tmp_path / "r.npz").stat().st_size < MOST_BYTES + 20_000


def test_weights_are_rounded_to_the_nearest_of_256():
    assert to_8_bits(torch.tensor([0, 0.00195, 0.00197, 0.5019, 1])).tolist() == [0, 0, 1, 128, 255]


def test_without_a_file_the_sentences_that_come_along_are_watched(train, recipe, data, tmp_path):
    changes = json.dumps(asdict(replace(recipe, steps=1)))
    arguments = ["--data", str(data), "--state", str(tmp_path), "--recipe", changes, "--device", "cpu"]
    assert main([*arguments, "--threads", "1", "--watch"]) == 0
    lines = attnviz.load_recording(tmp_path / "recording.npz").lines
    assert [(line.to, line.sentence.src_text) for line in lines][:2] == [
        ("fr", "I love you."),
        ("zh", "The cat is sleeping on the table."),
    ]
