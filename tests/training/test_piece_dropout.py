"""Words in other pieces: the same text, repeatable, and nothing changed where nothing is left out."""

import random

import numpy as np
import pytest
import torch

from attnviz.models.translator.tiny import tiny_translator
from attnviz.training.corpus import Corpus, epoch_batches
from attnviz.training.run import PieceDropout
from tests.each_case import each_case

CODEC = tiny_translator().codec
SENTENCES = [("machine learning is fun.", "un petit chien rouge, je t'aime"), ("i love you", "机器学习真好玩")]
IDS = [
    np.array(ids, dtype=np.int32)
    for source, target in SENTENCES
    for ids in (CODEC.encode_source(source).ids, CODEC.encode_target(target, "fr" if "un" in target else "zh").ids)
]


@each_case("ids", IDS)
def test_without_dropout_the_pieces_are_those_of_the_tokenizer(ids: np.ndarray) -> None:
    assert np.array_equal(PieceDropout(CODEC, 0.0)(ids, random.Random(0)), ids)


@each_case("ids", IDS)
def test_other_pieces_spell_the_same_text_and_keep_the_special_tokens(ids: np.ndarray) -> None:
    change = PieceDropout(CODEC, 0.5)
    for seed in range(20):
        changed = change(ids, random.Random(seed))
        assert CODEC.text(tuple(changed.tolist())) == CODEC.text(tuple(ids.tolist()))
        assert [i for i in changed if i in CODEC.special_ids] == [i for i in ids if i in CODEC.special_ids]
        assert len(changed) >= len(ids)


def test_it_does_change_pieces_and_the_same_random_numbers_give_the_same() -> None:
    ids, change, again = IDS[0], PieceDropout(CODEC, 0.5, seed=3), PieceDropout(CODEC, 0.5, seed=3)
    again(IDS[1], random.Random(9))  # what was cut before has no say
    changed = [tuple(change(ids, random.Random(seed)).tolist()) for seed in range(20)]
    assert len(set(changed)) > 5
    assert changed == [tuple(again(ids, random.Random(seed)).tolist()) for seed in range(20)]


def test_chinese_characters_stay_tokens_of_their_own() -> None:
    ids = IDS[3]
    assert np.array_equal(PieceDropout(CODEC, 0.9)(ids, random.Random(1)), ids)


def test_a_rate_of_one_is_refused() -> None:
    with pytest.raises(ValueError, match=r"at least 0 and below 1"):
        PieceDropout(CODEC, 1.0)


def test_a_resumed_epoch_gets_the_same_pieces() -> None:
    pairs = [(f"{word} dog", "un petit chien") for word in ("red", "big", "small", "fun", "love", "learning")]
    corpora, change = [Corpus.encode(CODEC, pairs, "fr", repeat=2)], PieceDropout(CODEC, 0.3)
    how = {"epoch": 1, "seed": 0, "batch_tokens": 40, "change": change}
    whole, rest = list(epoch_batches(corpora, **how)), list(epoch_batches(corpora, begin=2, **how))
    assert len(whole) > 3
    for one, other in zip(whole[2:], rest, strict=True):
        assert torch.equal(one.src, other.src)
        assert torch.equal(one.tgt, other.tgt)
