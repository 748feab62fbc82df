"""Sentence pairs to one shared BPE vocabulary."""

from collections.abc import Iterable, Mapping

from tokenizers import Tokenizer, models, trainers

from attnviz.text.normalization import pipeline
from attnviz.text.tokenizer import EOS, PAD, UNK, TranslatorTokenizer, bos
from attnviz.training.corpus import Pair


def build_codec(pairs: Mapping[str, list[Pair]], *, vocab_size: int, alphabet: int = 2_700) -> TranslatorTokenizer:
    """BPE over lowercased English and every target language (`language -> pairs`).

    `alphabet` is how many single characters are kept; rarer ones become `<unk>`.
    """
    tokenizer = Tokenizer(models.BPE(unk_token=UNK, fuse_unk=False))
    tokenizer.normalizer, tokenizer.pre_tokenizer = pipeline(lowercase=False, spaced=True, elision=True)
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size,
        special_tokens=[PAD, UNK, EOS, *(bos(language) for language in pairs)],
        limit_alphabet=alphabet,
        show_progress=False,
    )
    tokenizer.train_from_iterator(_sentences(pairs), trainer)
    return TranslatorTokenizer(tokenizer.to_str())


def _sentences(pairs: Mapping[str, list[Pair]]) -> Iterable[str]:
    yield from sorted({english.lower() for of_language in pairs.values() for english, _ in of_language})
    for of_language in pairs.values():
        yield from (translation for _, translation in of_language)
