"""Small tokenizers of the three sorts that checkpoints come with, learned from a few sentences.

Each says the special tokens of its family, so that pairs and targets get the right ones. Each is the same in every
process: the trainers of word pieces and of unigrams go over words in a random order, so that a model's
random weights would meet other tokens each time.
"""

import math
from functools import cache

from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import PreTrainedTokenizerFast

SENTENCES = (
    "The quick brown fox jumps over the lazy dog.",
    "It sleeps on.",
    "A cat sat on the mat, and the dog looked at the cat.",
    "Where is the station? It is behind the old town hall.",
    "I love you. We were told that the train would be late.",
    "Über die Brücke ging ein Hund; 猫 schläft 😀.",
)


@cache
def word_pieces() -> PreTrainedTokenizerFast:
    """BERT's: `[CLS] a [SEP] b [SEP]`, the second sentence marked as segment 1."""
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    vocabulary = {piece: id_ for id_, piece in enumerate([*special, *learned_words(151 - len(special))])}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=_ids(tokenizer, "[CLS]", "[SEP]")
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, unk_token="[UNK]", pad_token="[PAD]", cls_token="[CLS]", sep_token="[SEP]",
        mask_token="[MASK]",
    )  # fmt: skip


@cache
def byte_level(*, single: str = "<s> $A </s>", pair: str = "<s> $A </s> </s> $B </s>") -> PreTrainedTokenizerFast:
    """RoBERTa's: `<s> a </s></s> b </s>` without segments, on bytes. GPT-2's puts nothing around a text."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=307, special_tokens=special, initial_alphabet=alphabet)
    tokenizer.train_from_iterator(SENTENCES, trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single=single, pair=pair, special_tokens=_ids(tokenizer, "<s>", "</s>")
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, unk_token="<unk>", pad_token="<pad>", bos_token="<s>", eos_token="</s>",
        cls_token="<s>", sep_token="</s>", mask_token="<mask>",
    )  # fmt: skip


@cache
def pieces(*, single: str = "$A </s>", pair: str = "$A </s> $B </s>") -> PreTrainedTokenizerFast:
    """Marian's and T5's: pieces that keep their space, `a </s>`. Llama's begins a text instead: `<s> a`."""
    special = ["<pad>", "</s>", "<unk>", "<s>"]
    vocabulary = [*((name, 0.0) for name in special), *_unigrams(113 - len(special))]
    tokenizer = Tokenizer(models.Unigram(vocabulary, unk_id=special.index("<unk>")))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single=single, pair=pair, special_tokens=_ids(tokenizer, "<s>", "</s>")
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, unk_token="<unk>", pad_token="<pad>", bos_token="<s>", eos_token="</s>"
    )


def byte_prompts() -> PreTrainedTokenizerFast:
    """GPT-2's: nothing around a text."""
    return byte_level(single="$A", pair="$A $B")


def one_special() -> PreTrainedTokenizerFast:
    """GPT-2's as it is published: one token begins and ends a text, and is what it calls unknown."""
    end = "<|endoftext|>"
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=307, special_tokens=[end], initial_alphabet=alphabet)
    tokenizer.train_from_iterator(SENTENCES, trainer)
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token=end, bos_token=end, eos_token=end)


def bos_pieces() -> PreTrainedTokenizerFast:
    """Llama's: `<s> a`."""
    return pieces(single="<s> $A", pair="<s> $A <s> $B")


def learned_words(size: int, *, lower: bool = True) -> list[str]:
    """Word pieces as BERT has them, `size` of them in the order of their ids."""
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=lower)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    texts = [tokenizer.normalizer.normalize_str(text) for text in SENTENCES]
    words = [word for text in texts for word, _ in tokenizer.pre_tokenizer.pre_tokenize_str(text)]
    within = sorted({f"##{letter}" for word in words for letter in word[1:]})  # named: their ids are not drawn then
    trainer = trainers.WordPieceTrainer(vocab_size=size, special_tokens=within, show_progress=False)
    tokenizer.train_from_iterator(SENTENCES, trainer)
    return sorted_vocabulary(tokenizer)


def _unigrams(size: int) -> list[tuple[str, float]]:
    """Pieces of byte pairs, and for each the logarithm of how often it is in the sentences."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.train_from_iterator(SENTENCES, trainers.BpeTrainer(vocab_size=size, show_progress=False))
    text = "".join(f"▁{sentence.replace(' ', '▁')}" for sentence in SENTENCES)
    return [(piece, math.log(text.count(piece) / len(text))) for piece in sorted_vocabulary(tokenizer)]


def sorted_vocabulary(tokenizer: Tokenizer) -> list[str]:
    """List a tokenizer's vocabulary in the order of its ids."""
    vocabulary = tokenizer.get_vocab()
    return sorted(vocabulary, key=vocabulary.__getitem__)


def _ids(tokenizer: Tokenizer, *names: str) -> list[tuple[str, int]]:
    vocabulary = tokenizer.get_vocab()
    return [(name, vocabulary[name]) for name in names]
