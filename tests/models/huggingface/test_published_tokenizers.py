"""Tokenizers in the form in which decoders publish them: written by transformers' own classes, and built from
parts of a published file that are not vocabulary.
"""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import transformers
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import PreTrainedTokenizerBase, PreTrainedTokenizerFast

import attnviz
from tests.models.huggingface import checkpoints
from tests.models.huggingface.tokenizers_made import SENTENCES

_BYTES = [f"<0x{byte:02X}>" for byte in range(256)]
_METASPACE = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])


def _learn_pieces(tokenizer: Tokenizer, size: int = 101) -> tuple[list[str], list[tuple[str, str]]]:
    """Pieces and merges of a small byte-pair encoding."""
    is_bytes = tokenizer.pre_tokenizer is not None
    alphabet = pre_tokenizers.ByteLevel.alphabet() if is_bytes else []
    trainer = trainers.BpeTrainer(vocab_size=size + len(alphabet), initial_alphabet=alphabet)
    tokenizer.train_from_iterator(SENTENCES, trainer)
    model = json.loads(tokenizer.to_str())["model"]
    return list(model["vocab"]), [tuple(merge) for merge in model["merges"]]


def _pieces() -> tuple[list[str], list[tuple[str, str]]]:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.normalizer = _METASPACE
    return _learn_pieces(tokenizer)


def _byte_pieces() -> tuple[list[str], list[tuple[str, str]]]:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    return _learn_pieces(tokenizer)


def _class_tokenizer(
    name: str, *special: str, begin: str, on_bytes: bool = False, **options
) -> PreTrainedTokenizerBase:
    """Write a tokenizer by transformers' own class of that name, over a small vocabulary."""
    learned, merges = _byte_pieces() if on_bytes else _pieces()
    vocabulary = {piece: id_ for id_, piece in enumerate(dict.fromkeys([*special, *_BYTES, *learned]))}
    return getattr(transformers, name)(vocab=vocabulary, merges=merges, bos_token=begin, **options)


def _mixtral() -> PreTrainedTokenizerFast:
    """Mixtral's tokenizer.json, all but its vocabulary: the second sentence's `<s>` has type 1."""
    learned, merges = _pieces()
    vocabulary = {piece: id_ for id_, piece in enumerate(dict.fromkeys(["<unk>", "<s>", "</s>", *_BYTES, *learned]))}
    tokenizer = Tokenizer(models.BPE(vocabulary, merges, unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    tokenizer.normalizer = _METASPACE
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s>:0 $A:0", pair="<s>:0 $A:0 <s>:1 $B:1", special_tokens=[("<s>", 1)]
    )
    tokenizer.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="<unk>", bos_token="<s>", eos_token="</s>")


def _llama_3() -> PreTrainedTokenizerFast:
    """Llama 3's form: bytes, and a `<|begin_of_text|>` before each sentence, the second with type 1."""
    learned, merges = _byte_pieces()
    begin, end = "<|begin_of_text|>", "<|end_of_text|>"
    vocabulary = {piece: id_ for id_, piece in enumerate([*learned, begin, end])}
    tokenizer = Tokenizer(models.BPE(vocabulary, merges))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    template = processors.TemplateProcessing(
        single=f"{begin}:0 $A:0", pair=f"{begin}:0 $A:0 {begin}:1 $B:1", special_tokens=[(begin, vocabulary[begin])]
    )
    tokenizer.post_processor = processors.Sequence([processors.ByteLevel(trim_offsets=False), template])
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token=begin, eos_token=end)


_LLAMA = ("<unk>", "<s>", "</s>")
_FILL = ("▁<PRE>", "▁<MID>", "▁<SUF>", "▁<EOT>")
_GEMMA = ("<pad>", "<eos>", "<bos>", "<unk>", "<mask>")
_COHERE = ("<PAD>", "<UNK>", "<CLS>", "<SEP>", "<MASK_TOKEN>", "<BOS_TOKEN>", "<|END_OF_TURN_TOKEN|>")
PUBLISHED: dict[str, tuple[Callable[[], PreTrainedTokenizerBase], str, str]] = {
    "Llama 2": (lambda: _class_tokenizer("LlamaTokenizer", *_LLAMA, begin="<s>", add_bos_token=True), "<s>", "llama"),
    "Mixtral": (_mixtral, "<s>", "mistral"),
    "Llama 3": (_llama_3, "<|begin_of_text|>", "llama"),
    "CodeLlama": (lambda: _class_tokenizer("CodeLlamaTokenizer", *_LLAMA, *_FILL, begin="<s>"), "<s>", "llama"),
    "Gemma": (lambda: _class_tokenizer("GemmaTokenizer", *_GEMMA, begin="<bos>", add_bos_token=True), "<bos>", "gemma"),
    "Cohere": (
        lambda: _class_tokenizer("CohereTokenizer", *_COHERE, begin="<BOS_TOKEN>", on_bytes=True, add_bos_token=True),
        "<BOS_TOKEN>",
        "llama",
    ),
    "OPT": (
        lambda: _class_tokenizer(
            "GPT2Tokenizer", "<pad>", "</s>", begin="</s>", on_bytes=True, add_bos_token=True,
            eos_token="</s>", unk_token="</s>", pad_token="<pad>",
        ),
        "</s>",
        "llama",
    ),
}  # fmt: skip


@pytest.fixture(params=PUBLISHED)
def published_tokenizer(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, str]:
    """Make a small decoder's folder with a tokenizer of that form, and what its texts begin with."""
    make, begin, network = PUBLISHED[request.param]
    tokenizer = make()
    recipe = replace(checkpoints.DECODERS[network], tokenizer=lambda: tokenizer)
    return checkpoints.save(tmp_path / "model", recipe), begin


def test_a_decoder_whose_texts_begin_with_a_token_loads_as_published(published_tokenizer: tuple[Path, str]) -> None:
    folder, begin = published_tokenizer
    saved = transformers.AutoTokenizer.from_pretrained(folder)
    trace = attnviz.load(folder).trace("A cat sat on the mat.", new_tokens=0)
    tokens = trace.tokens("tgt")
    assert [token.id for token in tokens] == saved("A cat sat on the mat.")["input_ids"]
    assert tokens[0].text == begin
    assert tokens[0].is_special
    assert "".join(token.text for token in tokens[1:]).replace(" ", "") == "Acatsatonthemat."


def test_a_published_pair_marks_the_second_beginning_with_the_second_sentence(
    published_tokenizer: tuple[Path, str],
) -> None:
    """What made every such decoder be refused: a test of a form that is no longer published would prove nothing."""
    folder, begin = published_tokenizer
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    pair = tokenizer.backend_tokenizer.encode("A cat sat.", "It sleeps on.")
    begins = [type_id for piece, type_id in zip(pair.tokens, pair.type_ids, strict=True) if piece == begin]
    assert begins == [0, 1]
