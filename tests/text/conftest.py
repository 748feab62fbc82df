"""A vocabulary built in a moment from a few sentences."""

import pytest

from attnviz.text.tokenizer import TranslatorTokenizer
from attnviz.training.corpus import build_codec

FRENCH = [
    ("I love you.", "Je t'aime."),
    ("A big red dog jumped over a small pond.", "Un grand chien rouge a sauté par-dessus un petit étang."),
    ("Machine learning is fun.", "L'apprentissage automatique est amusant."),
    ("Don't you know where he lives?", "Ne sais-tu pas où il habite ?"),
]
CHINESE = [
    ("I love you.", "我爱你。"),
    ("Machine learning is fun.", "机器学习很有趣。"),
    ("Tom left at 8.", "Tom 8点走了。"),
]


@pytest.fixture(scope="session")
def codec() -> TranslatorTokenizer:
    return build_codec({"fr": FRENCH, "zh": CHINESE}, vocab_size=220)
