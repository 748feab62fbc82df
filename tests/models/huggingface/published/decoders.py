"""The tokenizers' files of families that write texts, each as its authors publish it."""

import json
from pathlib import Path
from typing import Any

from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

from tests.models.huggingface.published.files import added_tokens, dump, learned_bytes, write_byte_merges
from tests.models.huggingface.published.pieces import BYTE_FALLBACK, piece_file

# As openlm-research/open_llama and mistralai/Mistral-7B-v0.1 say it.
_LLAMA_2 = {
    "add_bos_token": True, "add_eos_token": False, "bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>",
    "pad_token": None, "legacy": False, "model_max_length": 10**30, "tokenizer_class": "LlamaTokenizer",
    "clean_up_tokenization_spaces": False, "added_tokens_decoder": added_tokens(["<unk>", "<s>", "</s>"], first=0),
}  # fmt: skip
_GEMMA_PIECES = BYTE_FALLBACK | {
    "pad_id": 0, "eos_id": 1, "bos_id": 2, "unk_id": 3, "bos_piece": "<bos>", "eos_piece": "<eos>",
    "add_dummy_prefix": False, "user_defined_symbols": "<mask>,<start_of_turn>,<end_of_turn>,\n\n",
}  # fmt: skip
_GEMMA = {
    "add_bos_token": True, "add_eos_token": False, "bos_token": "<bos>", "eos_token": "<eos>", "unk_token": "<unk>",
    "pad_token": "<pad>", "model_max_length": 10**30, "tokenizer_class": "GemmaTokenizer",
    "clean_up_tokenization_spaces": False,
    "added_tokens_decoder": added_tokens(["<pad>", "<eos>", "<bos>", "<unk>"], first=0),
}  # fmt: skip
_SPLIT_4 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)

_SPLIT_O200K = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)


def llama_2(folder: Path) -> None:
    """`tokenizer.model`, as Llama 1 and 2 and Mistral have it."""
    piece_file("tokenizer.model", BYTE_FALLBACK, _LLAMA_2)(folder)


def gemma(folder: Path) -> None:
    """`tokenizer.model`, whose texts get no space before them."""
    piece_file("tokenizer.model", _GEMMA_PIECES, _GEMMA)(folder)


def llama_3(folder: Path) -> None:
    """`tokenizer.json` alone: bytes, and `<|begin_of_text|>` before each sentence, the second with type 1."""
    begin, end = "<|begin_of_text|>", "<|end_of_text|>"
    tokenizer = _byte_tokenizer(_SPLIT_4, begin, end, "<|eot_id|>")
    template = processors.TemplateProcessing(
        single=f"{begin}:0 $A:0",
        pair=f"{begin}:0 $A:0 {begin}:1 $B:1",
        special_tokens=[(begin, tokenizer.token_to_id(begin))],
    )
    tokenizer.post_processor = processors.Sequence([processors.ByteLevel(trim_offsets=False), template])
    tokenizer.save(str(folder / "tokenizer.json"))
    _write_config(folder, tokenizer_class="PreTrainedTokenizerFast", bos_token=begin, eos_token=end)


def gpt_oss(folder: Path) -> None:
    """`tokenizer.json` alone: bytes, nothing around a text."""
    special = ["<|startoftext|>", "<|endoftext|>", "<|return|>", "<|channel|>", "<|message|>"]
    _byte_tokenizer(_SPLIT_O200K, *special).save(str(folder / "tokenizer.json"))
    _write_config(
        folder, tokenizer_class="PreTrainedTokenizerFast", bos_token=special[0], eos_token=special[2],
        pad_token=special[1],
    )  # fmt: skip


def qwen(folder: Path) -> None:
    """`vocab.json` and `merges.txt`; special tokens behind them are in `tokenizer_config.json` alone."""
    last = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
    write_byte_merges(
        add_prefix_space=False, added_tokens_decoder=added_tokens(last, first=len(learned_bytes()[0])),
        additional_special_tokens=last[1:], bos_token=None, eos_token="<|endoftext|>", pad_token="<|endoftext|>",
        unk_token=None, errors="replace", model_max_length=32768, split_special_tokens=False,
        clean_up_tokenization_spaces=False, tokenizer_class="Qwen2Tokenizer",
    )(folder)  # fmt: skip


def opt(folder: Path) -> None:
    """GPT-2's files, with `</s>` before each text."""
    write_byte_merges(
        "<s>", "<pad>", "</s>", "<unk>", errors="replace", unk_token="</s>", bos_token="</s>", eos_token="</s>",
        pad_token="<pad>", add_prefix_space=False, add_bos_token=True, tokenizer_class="GPT2Tokenizer",
    )(folder)  # fmt: skip


def phi(folder: Path) -> None:
    """GPT-2's files under CodeGen's name, and runs of spaces as tokens of their own in `added_tokens.json`."""
    spaces = [" " * count for count in range(31, 1, -1)]
    write_byte_merges(
        last=["<|endoftext|>"], add_prefix_space=False, bos_token="<|endoftext|>", eos_token="<|endoftext|>",
        unk_token="<|endoftext|>", model_max_length=2048, tokenizer_class="CodeGenTokenizer",
        added_tokens_decoder=added_tokens(spaces, first=len(learned_bytes()[0]) + 1, special=False, normalized=True),
    )(folder)  # fmt: skip
    dump(folder / "added_tokens.json", {run: len(learned_bytes()[0]) + 1 + at for at, run in enumerate(spaces)})


def pythia(folder: Path) -> None:
    """`tokenizer.json` alone: bytes of composed text, and runs of spaces as tokens of their own."""
    tokenizer = _byte_tokenizer(None, "<|endoftext|>", "<|padding|>")
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.add_tokens([" " * count for count in range(24, 1, -1)])
    tokenizer.save(str(folder / "tokenizer.json"))
    end = "<|endoftext|>"
    _write_config(
        folder, unk_token=end, bos_token=end, eos_token=end, add_prefix_space=False, tokenizer_class="GPTNeoXTokenizer"
    )


def byt5(folder: Path) -> None:
    """No vocabulary: bytes, and `tokenizer_config.json`."""
    extra = [f"<extra_id_{at}>" for at in range(125)]
    names = {"eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>"}
    _write_config(folder, **names, extra_ids=125, additional_special_tokens=extra, tokenizer_class="ByT5Tokenizer")
    dump(folder / "special_tokens_map.json", names | {"additional_special_tokens": extra})


def _byte_tokenizer(split: str | None, *special: str) -> Tokenizer:
    learned, merges = learned_bytes()
    tokenizer = Tokenizer(models.BPE({piece: id_ for id_, piece in enumerate([*learned, *special])}, merges))
    plain = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=split is None)
    tokenizer.pre_tokenizer = (
        pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(split), "isolated"), plain]) if split else plain
    )
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(list(special))
    return tokenizer


def _write_config(folder: Path, **said: Any) -> None:
    (folder / "tokenizer_config.json").write_text(json.dumps(said), encoding="utf-8")
