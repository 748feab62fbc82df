"""A corpus of a few pairs, and a recipe that learns them in a second."""

import gzip

import pytest
import torch

from attnviz.training.corpus import Corpus, build_codec
from attnviz.training.recipe import Recipe
from attnviz.transformer.config import ModelConfig

WORDS = {"red": ("rouge", "红"), "big": ("grand", "大"), "small": ("petit", "小"), "old": ("vieux", "老")}
THINGS = {"dog": ("chien", "狗"), "cat": ("chat", "猫"), "house": ("toit", "屋"), "pond": ("étang", "池")}


def _pairs(to: int) -> list[tuple[str, str]]:
    join = (lambda a, b: f"Le {a} {b}.", lambda a, b: f"{a}{b}。")[to]
    return [(f"The {w} {t}.", join(WORDS[w][to], THINGS[t][to])) for w in WORDS for t in THINGS]


@pytest.fixture(scope="session")
def pairs():
    return {"fr": _pairs(0), "zh": _pairs(1)[:11]}


@pytest.fixture(scope="session")
def recipe() -> Recipe:
    return Recipe(
        languages={"fr": 1, "zh": 3},
        vocab_size=120,
        d_model=24,
        n_heads=3,
        n_layers=2,
        d_ff=17,
        steps=12,
        batch_tokens=150,
        warmup=3,
    )


@pytest.fixture(scope="session")
def codec(pairs, recipe):
    return build_codec(pairs, vocab_size=recipe.vocab_size)


@pytest.fixture(scope="session")
def corpora(codec, pairs, recipe):
    return [Corpus.encode(codec, pairs[to], to, repeat=times) for to, times in recipe.languages.items()]


@pytest.fixture(scope="session")
def config(codec, recipe) -> ModelConfig:
    return ModelConfig(codec.vocab_size, recipe.d_model, recipe.n_heads, recipe.n_layers, recipe.d_ff)


@pytest.fixture(scope="session")
def data(pairs, tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    for to, of_language in pairs.items():
        for split, some in (("train", of_language), ("dev", of_language[:5])):
            with gzip.open(folder / f"en-{to}.{split}.tsv.gz", "wt", encoding="utf-8") as file:
                file.writelines(f"{english}\t{translation}\n" for english, translation in some)
    return folder


@pytest.fixture(scope="session")
def tables(tmp_path_factory):
    """Make a folder of further pairs: `thing.tsv`, in one language that the recipe trains and one that it does not."""
    folder = tmp_path_factory.mktemp("tables")
    (folder / "thing.tsv").write_text("en\tzh\tes\nThe new thing.\t新东西。\tLa cosa nueva.\n", encoding="utf-8")
    return folder


@pytest.fixture(autouse=True)
def _one_thread():
    """Restore the number of threads, which the command sets."""
    threads = torch.get_num_threads()
    yield
    torch.set_num_threads(threads)
