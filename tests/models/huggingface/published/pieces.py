"""sentencepiece files as the hub has them, written by sentencepiece's own trainer with the options of each family."""

import io
from functools import cache
from pathlib import Path
from typing import Any

import sentencepiece
import transformers
from transformers.tokenization_utils_base import generate_merges

from tests.models.huggingface.published.files import Write, dump
from tests.models.huggingface.tokenizers_made import SENTENCES

_MORE = (
    "Je t'aime. Le chat dort sur le tapis.",
    "Ich liebe dich, und der Zug hat Verspätung.",
    "我爱你。猫坐在垫子上。",
)

# What the trainers of these families were told.
UNIGRAM = {"model_type": "unigram", "normalization_rule_name": "nmt_nfkc", "vocab_size": 190, "hard_vocab_limit": False}
BPE = {"model_type": "bpe", "normalization_rule_name": "nmt_nfkc", "vocab_size": 190}
BYTE_FALLBACK = {
    "model_type": "bpe", "normalization_rule_name": "identity", "vocab_size": 430, "byte_fallback": True,
    "split_digits": True, "remove_extra_whitespaces": False, "allow_whitespace_only_pieces": True,
}  # fmt: skip
ALBERT = UNIGRAM | {"pad_id": 0, "unk_id": 1, "bos_id": -1, "eos_id": -1, "control_symbols": "[CLS],[SEP],[MASK]"}
_T5 = UNIGRAM | {"pad_id": 0, "eos_id": 1, "unk_id": 2, "bos_id": -1}
_MT5 = _T5 | {"byte_fallback": True, "vocab_size": 430}
_DEBERTA_3 = UNIGRAM | {
    "pad_id": 0, "bos_id": 1, "eos_id": 2, "unk_id": 3, "pad_piece": "[PAD]", "bos_piece": "[CLS]",
    "eos_piece": "[SEP]", "unk_piece": "[UNK]",
}  # fmt: skip
_REM_BERT = UNIGRAM | {"pad_id": 0, "unk_id": 1, "bos_id": -1, "eos_id": -1, "control_symbols": "[CLS],[SEP],[MASK]"}
_PEGASUS = UNIGRAM | {"pad_id": 0, "eos_id": 1, "unk_id": 2, "bos_id": -1}
BERT_GENERATION = UNIGRAM | {"pad_id": 0, "eos_id": 1, "bos_id": 2, "unk_id": 3}
CAMEMBERT = UNIGRAM


def piece_file(name: str, options: dict[str, Any], config: dict[str, Any] | None = None) -> Write:
    """Make a folder with a sentencepiece file of that name, and `tokenizer_config.json` where it says something."""

    def write(folder: Path) -> None:
        (folder / name).write_bytes(train_pieces(**options))
        if config is not None:
            dump(folder / "tokenizer_config.json", config)

    return write


def deberta_3(folder: Path) -> None:
    """`spm.model`, and `[MASK]` behind it in `added_tokens.json`."""
    piece_file("spm.model", _DEBERTA_3, {"do_lower_case": False, "vocab_type": "spm"})(folder)


def t5(folder: Path) -> None:
    """`spiece.model`; a hundred places behind it, `<extra_id_99>` first, are in no vocabulary."""
    extra = [f"<extra_id_{at}>" for at in range(100)]
    said = {"eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>", "extra_ids": 100}
    piece_file("spiece.model", _T5, said | {"additional_special_tokens": extra, "model_max_length": 512})(folder)


def mt5(folder: Path) -> None:
    """`spiece.model` that falls back to bytes, and none of T5's extra places."""
    said = {"eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>", "extra_ids": 0}
    piece_file("spiece.model", _MT5, said | {"additional_special_tokens": None, "tokenizer_class": "T5Tokenizer"})(
        folder
    )


def pegasus(folder: Path) -> None:
    """`spiece.model`, with `<mask_1>`, `<mask_2>` and a hundred unused places before its pieces, in no file."""
    piece_file("spiece.model", _PEGASUS, {"tokenizer_class": "PegasusTokenizer"})(folder)


def rem_bert(folder: Path) -> None:
    """`sentencepiece.model`, with BERT's names."""
    piece_file("sentencepiece.model", _REM_BERT, {"tokenizer_class": "RemBertTokenizer"})(folder)


def mbart_50(folder: Path) -> None:
    """XLM-R's file; each text begins with its language."""
    said = {"tokenizer_class": "MBart50Tokenizer", "src_lang": "en_XX", "tgt_lang": "ro_RO"}
    piece_file("sentencepiece.bpe.model", UNIGRAM, said)(folder)


def mbart(folder: Path) -> None:
    """XLM-R's file; the languages behind it are in no file."""
    said = {"tokenizer_class": "MBartTokenizer", "src_lang": "en_XX", "tgt_lang": "ro_RO"}
    piece_file("sentencepiece.bpe.model", UNIGRAM, said)(folder)


def nllb(folder: Path) -> None:
    """`tokenizer.json`, written by transformers' own class: two hundred languages behind what was learned."""
    pieces = pieces_of(train_pieces(**BPE))[3:]
    ids = {piece: id_ for id_, piece in enumerate(["<s>", "<pad>", "</s>", "<unk>", *pieces])}
    tokenizer = transformers.NllbTokenizer(vocab=ids, merges=generate_merges(ids), src_lang="eng_Latn")
    tokenizer.save_pretrained(folder)


def nllb_pieces(folder: Path) -> None:
    """NLLB's sentencepiece file alone, in which no language stands."""
    piece_file("sentencepiece.bpe.model", BPE, {"tokenizer_class": "NllbTokenizer", "src_lang": "eng_Latn"})(folder)


def marian(folder: Path) -> None:
    """Two sentencepiece files, and one vocabulary whose ids are neither's: sorted, `</s>` first and `<pad>` last."""
    source, target = SENTENCES, _MORE + SENTENCES[:2]
    pieces: set[str] = set()
    for name, sentences in (("source.spm", source), ("target.spm", target)):
        content = train_pieces(sentences, **UNIGRAM)
        (folder / name).write_bytes(content)
        pieces |= set(pieces_of(content)[3:])
    order = ["</s>", "<unk>", *sorted(pieces), ">>fra<<", ">>deu<<", "<pad>"]
    dump(folder / "vocab.json", {piece: id_ for id_, piece in enumerate(order)})
    dump(folder / "tokenizer_config.json", {"source_lang": "en", "target_lang": "fr", "model_max_length": 512})


def m2m_100(folder: Path, *, keeps_spaces: bool = False) -> None:
    """Make a sentencepiece file, and a vocabulary with ids of its own; languages follow it, and are in no file."""
    content = train_pieces(SENTENCES + _MORE, **BPE | {"remove_extra_whitespaces": not keeps_spaces})
    (folder / "sentencepiece.bpe.model").write_bytes(content)
    order = ["<s>", "<pad>", "</s>", "<unk>", *reversed(pieces_of(content)[3:])]
    dump(folder / "vocab.json", {piece: id_ for id_, piece in enumerate(order)})
    dump(folder / "tokenizer_config.json", {"tokenizer_class": "M2M100Tokenizer", "src_lang": "en", "tgt_lang": "fr"})


def pieces_of(content: bytes) -> list[str]:
    """Return the pieces of a sentencepiece file, by id."""
    processor = sentencepiece.SentencePieceProcessor(model_proto=content)
    return [processor.id_to_piece(id_) for id_ in range(len(processor))]


def train_pieces(sentences: tuple[str, ...] = SENTENCES + _MORE, **options: Any) -> bytes:
    """Train sentencepiece on a few sentences."""
    return _train(sentences, tuple(options.items()))


@cache
def _train(sentences: tuple[str, ...], options: tuple[tuple[str, Any], ...]) -> bytes:
    out = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(sentences), model_writer=out, character_coverage=1.0, minloglevel=2, num_threads=1,
        **dict(options),
    )  # fmt: skip
    return out.getvalue()
