"""Pairs that a model writes itself: CTranslate2 computes what attnviz computes, and only good pairs are taken."""

import gzip
from pathlib import Path

import pytest
import torch

from attnviz.models.catalogue import translator
from attnviz.training.corpus import read_pairs
from attnviz.transformer.config import ModelConfig
from attnviz.transformer.transformer import Transformer
from tests.each_case import each_case
from tools.pairs import distillation, mixed
from tools.pairs.beam_search import BeamSearch, BeamTranslation

ENGLISH = ["I love you.", "We saw three ducks on the pond."]


@pytest.fixture(scope="module")
def shipped_translator():
    return translator(device="cpu", dtype="float32")


@pytest.mark.parametrize("to", ["fr", "zh"])
def test_a_beam_of_one_is_greedy_decoding_with_the_models_own_probabilities(shipped_translator, to):
    """Two programs, one model: the same sentence, and the same mean log-probability of its tokens among those that may
    be written.
    """
    search = BeamSearch(shipped_translator.model, shipped_translator.codec, precision="float32")
    for english, (found,) in zip(ENGLISH, search.translations(ENGLISH, to, beam=1, best=1), strict=True):
        assert found.text == shipped_translator.translate(english, to=to)
        trace = shipped_translator.trace(english, to=to)
        logits = trace.logits[0].clone()
        logits[:, list(shipped_translator.codec.never_generated)] = -torch.inf
        chosen = logits.log_softmax(-1).max(-1).values
        assert found.score == pytest.approx(float(chosen.mean()), abs=1e-3)


def test_a_wider_beam_finds_likelier_sentences_best_first(shipped_translator):
    search = BeamSearch(shipped_translator.model, shipped_translator.codec, precision="float32")
    greedy = search.translations(ENGLISH, "de", beam=1, best=1)
    for (alone,), several in zip(greedy, search.translations(ENGLISH, "de", beam=4, best=4), strict=True):
        scores = [each.score for each in several]
        assert len(several) == 4
        assert scores == sorted(scores, reverse=True)
        assert scores[0] >= alone.score - 1e-4


def test_the_model_stays_as_it_is(shipped_translator):
    before = {name: tensor.clone() for name, tensor in shipped_translator.model.state_dict().items()}
    BeamSearch(shipped_translator.model, shipped_translator.codec)
    assert all(torch.equal(before[name], tensor) for name, tensor in shipped_translator.model.state_dict().items())


def test_a_model_of_another_build_is_refused(shipped_translator):
    other = Transformer(ModelConfig(shipped_translator.codec.vocab_size, 8, 2, 1, 8, norm_first=False)).initialise(0)
    with pytest.raises(ValueError, match="layer norm comes first"):
        BeamSearch(other, shipped_translator.codec)


class _Written:
    """A search that returns given results."""

    def __init__(self, found: dict[str, list[BeamTranslation]]) -> None:
        self.found = found

    def translations(self, english, to, *, beam, best):
        return (self.found[sentence] for sentence in english)


def test_what_is_closest_to_all_translations_is_taken_and_only_if_it_is_close():
    found = {
        "You are tall.": [BeamTranslation("Tu es grand.", -0.2), BeamTranslation("Vous êtes grand.", -0.3)],
        "He ran.": [BeamTranslation("Il dort.", -0.1)],
        "It is sure.": [BeamTranslation("C'est sûr.", -0.1), BeamTranslation("C'est certain.", -0.2)],
        "It is vague.": [BeamTranslation("C'est flou.", -0.9)],
    }
    references = {"You are tall.": ["Vous êtes grande.", "Vous êtes grands."], "He ran.": ["Il courut."]}
    pairs = distillation.distil(
        _Written(found), references, list(found), "fr", beam=2, least=40, surest=-0.3  # type: ignore[arg-type]
    )  # fmt: skip
    assert pairs == [("You are tall.", "Vous êtes grand."), ("It is sure.", "C'est sûr.")]


def _corpus(folder: Path) -> Path:
    for to, lines in {"fr": "Hello.\tBonjour.\nI love you.\tJe t'aime.\n", "zh": "I love you.\t我爱你。\n"}.items():
        for split in ("train", "dev"):
            with gzip.open(folder / f"en-{to}.{split}.tsv.gz", "wt", encoding="utf-8") as out:
                out.write(lines)
    return folder


def test_from_a_corpus_to_a_folder_to_train_on(tmp_path, shipped_translator, capsys):
    data, own = _corpus(tmp_path), tmp_path / "own"
    for to in ("fr", "zh"):
        asked = [
            "--model",
            str(shipped_translator.folder),
            "--data",
            str(data),
            "--to",
            to,
            "--out",
            f"{own}/en-{to}.tsv.gz",
        ]
        assert distillation.main([*asked, "--unknown", "1", "--surest", "-9"]) == 0
    written = read_pairs(own / "en-zh.tsv.gz")
    assert [english for english, _ in written] == ["I love you.", "Hello."]  # the second has no Chinese: sure enough
    asked = ["--data", str(data), "--own", str(own), "--out", str(tmp_path / "both"), "--times", "2"]
    assert mixed.main([*asked, "--share", '{"fr": 0.5, "zh": 3}']) == 0
    assert read_pairs(tmp_path / "both" / "en-zh.train.tsv.gz") == [*[("I love you.", "我爱你。")] * 3, *written * 2]
    half = read_pairs(tmp_path / "both" / "en-fr.train.tsv.gz")
    assert len(half) == 1 + 2 * len(read_pairs(own / "en-fr.tsv.gz"))
    assert read_pairs(tmp_path / "both" / "en-fr.dev.tsv.gz") == read_pairs(data / "en-fr.dev.tsv.gz")


@pytest.mark.parametrize("command", [distillation.main, mixed.main])
def test_what_is_missing_is_said_in_a_sentence(command, tmp_path, shipped_translator, capsys):
    more = (
        ["--model", str(shipped_translator.folder), "--to", "fr"]
        if command is distillation.main
        else ["--own", str(tmp_path)]
    )
    assert command(["--data", str(tmp_path), "--out", str(tmp_path / "out"), *more]) == 2
    assert "en-fr.train.tsv.gz" in capsys.readouterr().err


@each_case("share", ['{"fr": -1}', '{"fr": 1.5}', '{"fr": "all"}', "[1]", "3", "{"])
def test_a_wrong_share_is_said_in_a_sentence(share, tmp_path, capsys):
    asked = ["--data", str(tmp_path), "--own", str(tmp_path), "--out", str(tmp_path / "out"), "--share", share]
    assert mixed.main(asked) == 2
    error = capsys.readouterr().err
    assert "--share maps a language to" in error
    assert len(error.splitlines()) == 1
