"""Tokenizers' files as the hub has them: a function a form, which writes them into a folder. Vocabularies are small.

Vocabularies and merges are learned from a few sentences; names, templates, order of special tokens and what
`tokenizer_config.json` says are the published ones.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from tokenizers import (
    AddedToken,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)

from tests.models.huggingface import tokenizers_made
from tests.models.huggingface.tokenizers_made import SENTENCES, sorted_vocabulary

Write = Callable[[Path], None]
Merges = list[tuple[str, str]]
_PARTS = Path(__file__).with_name("tokenizers.json")


def write_published(name: str) -> Write:
    """Return the `tokenizer.json` of which `tokenizers.json` has all but the vocabulary."""

    def write(folder: Path) -> None:
        parts = json.loads(_PARTS.read_text(encoding="utf-8"))[name]
        special = sorted(parts["added_tokens"], key=lambda token: token["id"])
        learned, merges = _LEARNED[name]()
        pieces = _place({token["id"]: token["content"] for token in special}, learned)
        ids = {piece: id_ for id_, piece in enumerate(pieces)}
        for token in special:
            token["id"] = ids[token["content"]]
        model = {key: value for key, value in parts.pop("model").items() if key != "vocab_size"} | {"vocab": ids}
        model |= {"merges": [list(merge) for merge in merges]} if merges else {"type": "WordPiece"}
        file = {"version": "1.0", "truncation": None, "padding": None} | parts | {"model": model}
        dump(folder / "tokenizer.json", file)

    return write


def word_pieces(**said: Any) -> Write:
    """BERT's `vocab.txt`, with the hundred unused places that BERT has before its special tokens."""

    def write(folder: Path) -> None:
        special = dict(zip((0, 100, 101, 102, 103), ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"), strict=True))
        pieces = _place(special, learned_words(lower=said.get("do_lower_case", True))[0])
        (folder / "vocab.txt").write_text("\n".join(pieces) + "\n", encoding="utf-8")
        dump(folder / "tokenizer_config.json", said)

    return write


def write_byte_merges(*first: str, last: Sequence[str] = (), **said: Any) -> Write:
    """GPT-2's `vocab.json` and `merges.txt`, with special tokens before and after what was learned."""

    def write(folder: Path) -> None:
        learned, merges = learned_bytes()
        dump(folder / "vocab.json", {piece: id_ for id_, piece in enumerate([*first, *learned, *last])})
        lines = ["#version: 0.2", *(" ".join(merge) for merge in merges)]
        (folder / "merges.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
        dump(folder / "tokenizer_config.json", said)

    return write


def sentence_transformer(folder: Path) -> None:
    """Write the files of MiniLM, BGE and E5: BERT's own, and others that sentence-transformers reads."""
    word_pieces(do_lower_case=True, model_max_length=512, tokenizer_class="BertTokenizer")(folder)
    dump(folder / "sentence_bert_config.json", {"max_seq_length": 256, "do_lower_case": False})
    pooling = {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"}
    first = {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"}
    (folder / "modules.json").write_text(json.dumps([first, pooling]), encoding="utf-8")
    (folder / "1_Pooling").mkdir()
    dump(folder / "1_Pooling" / "config.json", {"word_embedding_dimension": 35, "pooling_mode_mean_tokens": True})


def modern_bert(folder: Path) -> None:
    """`tokenizer.json` alone: bytes, and BERT's names around a text."""
    names = ["[UNK]", "[CLS]", "[SEP]", "[PAD]", "[MASK]"]
    learned, merges = learned_bytes()
    tokenizer = Tokenizer(models.BPE({piece: id_ for id_, piece in enumerate([*learned, *names])}, merges))
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([*names[:4], AddedToken("[MASK]", lstrip=True)])
    ids = [(name, len(learned) + at) for at, name in enumerate(names)]
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS]:0 $A:0 [SEP]:0", pair="[CLS]:0 $A:0 [SEP]:0 $B:0 [SEP]:0", special_tokens=ids[1:3]
    )
    tokenizer.save(str(folder / "tokenizer.json"))
    said = {f"{name[1:-1].lower()}_token": name for name in names}
    inputs = ["input_ids", "attention_mask"]
    dump(
        folder / "tokenizer_config.json",
        said | {"tokenizer_class": "PreTrainedTokenizerFast", "model_input_names": inputs, "model_max_length": 8192},
    )


def deberta(folder: Path) -> None:
    """GPT-2's files under BERT's names."""
    write_byte_merges("[CLS]", "[PAD]", "[SEP]", "[UNK]", last=["[MASK]"], do_lower_case=False, vocab_type="gpt2")(
        folder
    )


def esm(folder: Path) -> None:
    """Write a vocabulary with a line for each amino acid."""
    names = [*("<cls>", "<pad>", "<eos>", "<unk>"), *"LAGVSERTIDPKQNFYMHWCXBUZO.-", "<null_1>", "<mask>"]
    (folder / "vocab.txt").write_text("\n".join(names), encoding="utf-8")
    said = {"unk_token": "<unk>", "pad_token": "<pad>", "mask_token": "<mask>", "cls_token": "<cls>"}
    dump(folder / "tokenizer_config.json", said | {"eos_token": "<eos>", "tokenizer_class": "EsmTokenizer"})


def nucleotides(folder: Path) -> None:
    """Nucleotide Transformer's, under ESM's name: six letters are a token, or one; nothing ends a text."""
    sixes = [f"{first}{second}GTA{last}" for first in "ATCG" for second in "ATCG" for last in "ATCG"]
    names = ["<unk>", "<pad>", "<mask>", "<cls>", "<eos>", "<bos>", *sixes, *"ATCGN"]
    (folder / "vocab.txt").write_text("\n".join(names), encoding="utf-8")
    said = {"unk_token": "<unk>", "pad_token": "<pad>", "mask_token": "<mask>", "cls_token": "<cls>"}
    dump(folder / "tokenizer_config.json", said | {"eos_token": None, "tokenizer_class": "EsmTokenizer"})


def added_tokens(names: Iterable[str], *, first: int, **flags: bool) -> dict[str, Any]:
    """`added_tokens_decoder` of a `tokenizer_config.json`: ids from `first` on and what stands there."""
    plain = {"lstrip": False, "normalized": False, "rstrip": False, "single_word": False, "special": True}
    return {str(first + at): {"content": name} | plain | flags for at, name in enumerate(names)}


def learned_words(*, lower: bool = True) -> tuple[list[str], Merges]:
    """Word pieces as BERT has them."""
    return tokenizers_made.learned_words(150, lower=lower), []


def learned_bytes(size: int = 360) -> tuple[list[str], Merges]:
    """Every byte, and merges of them."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=size, initial_alphabet=alphabet, show_progress=False)
    tokenizer.train_from_iterator(SENTENCES, trainer)
    return sorted_vocabulary(tokenizer), _merges(tokenizer)


def learned_pieces() -> tuple[list[str], Merges]:
    """Pieces that keep their space as Llama's do, after the bytes that stand for what is in no piece."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.train_from_iterator(SENTENCES, trainers.BpeTrainer(vocab_size=110, show_progress=False))
    return [*(f"<0x{byte:02X}>" for byte in range(256)), *sorted_vocabulary(tokenizer)], _merges(tokenizer)


_LEARNED: dict[str, Callable[[], tuple[list[str], Merges]]] = {
    "Mixtral-8x7B": learned_pieces,
    "bert-base-uncased": learned_words,
    "all-mpnet-base-v2": learned_words,
    "SmolLM2-135M": learned_bytes,
}


def dump(path: Path, content: Any) -> None:
    """Write JSON."""
    path.write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")


def _place(special: dict[int, str], learned: list[str]) -> list[str]:
    """Place special tokens at their ids, BERT's unused places between them, learned ones behind; one that stands far
    away, at the end of a large vocabulary, stands at the end of this one.
    """
    near = {id_: name for id_, name in special.items() if id_ < 1_000}
    places = [near.get(id_, f"[unused{id_ - 1}]") for id_ in range(max(near) + 1)]
    return list(dict.fromkeys([*places, *learned, *(special[id_] for id_ in sorted(special) if id_ not in near)]))


def _merges(tokenizer: Tokenizer) -> Merges:
    return [tuple(merge) for merge in json.loads(tokenizer.to_str())["model"]["merges"]]
