"""The catalogue of families: for each a small checkpoint in a folder as its authors publish it.

    FAMILIES["Llama 1-2"](folder)     # writes config, weights, and the tokenizer's files as on the hub

Tests and `docs/reference/models.md` go through whatever stands here: an architecture is added by an entry. Weights are
random, and large enough for attention to be far from even.
"""

import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import transformers

from tests.models.huggingface import checkpoints
from tests.models.huggingface.checkpoints import POSITIONS, random_model
from tests.models.huggingface.published import decoders, files, pieces
from tests.models.huggingface.published.files import Write, word_pieces, write_byte_merges, write_published
from tests.models.huggingface.published.pieces import piece_file

Builder = Callable[[Path], Path]


def checkpoint(folder: Path, *, model: str, sizes: dict[str, Any], tokenizer: Write, start: str | None) -> Path:
    """Write a checkpoint: the tokenizer's files, and a model with a place for each of its ids. `start` is the token
    that a target begins with; None: padding.
    """
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer(folder)
    kind = getattr(transformers, model).config_class
    sizes = {name: value for name, value in sizes.items() if value is not None}
    kind(**sizes).save_pretrained(folder)  # tells transformers which tokenizer to read the files with
    made = tokenizer_of(folder)
    said = {f"{name}_token_id": getattr(made, f"{name}_token_id") for name in ("pad", "bos", "eos")}
    # Published tables of embeddings are longer than the vocabulary: their length goes by eight, at the least.
    languages = getattr(made, "lang_code_to_id", {})  # M2M100's are in no vocabulary
    said["vocab_size"] = (max(len(made), *made.get_vocab().values(), *languages.values()) // 8 + 1) * 8
    if kind().is_encoder_decoder:
        begin = made.convert_tokens_to_ids(start) if start else made.pad_token_id
        said |= {"decoder_start_token_id": begin, "forced_eos_token_id": None}
    random_model(model, kind(**(said | sizes))).save_pretrained(folder)
    return folder


def tokenizer_of(folder: Path) -> Any:
    """Load the tokenizer by transformers, which recommends a package for Marian that no text needs."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Recommended: pip install sacremoses")
        return transformers.AutoTokenizer.from_pretrained(folder)


def _family(model: str, sizes: dict[str, Any], tokenizer: Write, *, start: str | None = None) -> Builder:
    return partial(checkpoint, model=model, sizes=sizes, tokenizer=tokenizer, start=start)


_FIRST = ("<s>", "<pad>", "</s>", "<unk>")  # RoBERTa's, and of all that fairseq trained
_BERT, _ROBERTA, _ALBERT, _DISTIL = (
    checkpoints.ENCODERS[name].sizes for name in ("bert", "roberta", "albert", "distilbert")
)
_LLAMA, _MISTRAL, _GEMMA = (checkpoints.DECODERS[name].sizes for name in ("llama", "mistral", "gemma"))
_BART, _T5 = (checkpoints.PAIRS[name].sizes for name in ("bart", "t5"))
_DEBERTA = _BERT | {"type_vocab_size": 0, "relative_attention": True, "pos_att_type": ["c2p", "p2c"]}
_DEBERTA_3 = _DEBERTA | {"position_buckets": 8, "share_att_key": True, "norm_rel_ebd": "layer_norm"}
_WINDOWED = _GEMMA | {"hidden_size": 96, "sliding_window": 7}
_EXPERTS = {"hidden_size": 96, "intermediate_size": 32, "num_local_experts": 2, "num_experts_per_tok": 1}
_ESM = _BERT | {
    "hidden_size": 40, "token_dropout": True, "position_embedding_type": "rotary", "mask_token_id": 32,
}  # fmt: skip
_XGLM = {"d_model": 30, "num_layers": 3, "attention_heads": 5, "ffn_dim": 23, "max_position_embeddings": POSITIONS}
_OPT = {
    "hidden_size": 30, "num_hidden_layers": 3, "num_attention_heads": 5, "ffn_dim": 23, "word_embed_proj_dim": 30,
    "max_position_embeddings": POSITIONS,
}  # fmt: skip

ENCODERS: dict[str, Builder] = {
    "BERT": _family("BertForMaskedLM", _BERT, write_published("bert-base-uncased")),
    "BERT, cased": _family("BertForMaskedLM", _BERT, word_pieces(do_lower_case=False)),
    "MiniLM, BGE, E5": _family("BertModel", _BERT, files.sentence_transformer),
    "RoBERTa": _family("RobertaForMaskedLM", _ROBERTA, write_byte_merges(*_FIRST, last=["<mask>"])),
    "XLM-R": _family("XLMRobertaForMaskedLM", _ROBERTA, piece_file("sentencepiece.bpe.model", pieces.UNIGRAM)),
    "CamemBERT": _family("CamembertForMaskedLM", _ROBERTA, piece_file("sentencepiece.bpe.model", pieces.CAMEMBERT)),
    "DistilBERT": _family(
        "DistilBertForMaskedLM", checkpoints.ENCODERS["distilbert"].sizes, word_pieces(do_lower_case=True)
    ),
    "ELECTRA": _family("ElectraModel", checkpoints.ENCODERS["electra"].sizes, word_pieces(do_lower_case=True)),
    "ALBERT": _family("AlbertForMaskedLM", _ALBERT, piece_file("spiece.model", pieces.ALBERT)),
    "MPNet": _family("MPNetForMaskedLM", _BERT, write_published("all-mpnet-base-v2")),
    "ModernBERT": _family("ModernBertForMaskedLM", _BERT | {"hidden_size": 40}, files.modern_bert),
    "DeBERTa": _family("DebertaForMaskedLM", _DEBERTA, files.deberta),
    "DeBERTa 2-3": _family("DebertaV2ForMaskedLM", _DEBERTA_3, pieces.deberta_3),
    "RemBERT": _family("RemBertForMaskedLM", _BERT | {"input_embedding_size": 13}, pieces.rem_bert),
    "BertGeneration": _family("BertGenerationEncoder", _BERT, piece_file("spiece.model", pieces.BERT_GENERATION)),
    "ESM-2": _family("EsmForMaskedLM", _ESM, files.esm),
    "Nucleotide Transformer": _family("EsmForMaskedLM", _ESM | {"mask_token_id": 2}, files.nucleotides),
}
DECODERS: dict[str, Builder] = {
    "GPT-2": _family("GPT2LMHeadModel", checkpoints.DECODERS["gpt2"].sizes, write_byte_merges(last=["<|endoftext|>"])),
    "SmolLM2": _family("LlamaForCausalLM", _LLAMA, write_published("SmolLM2-135M")),
    "Llama 1-2": _family("LlamaForCausalLM", _LLAMA, decoders.llama_2),
    "Llama 3": _family("LlamaForCausalLM", _LLAMA, decoders.llama_3),
    "Mistral": _family("MistralForCausalLM", _MISTRAL, decoders.llama_2),
    "Mixtral": _family("MixtralForCausalLM", _MISTRAL | _EXPERTS, write_published("Mixtral-8x7B")),
    "Gemma": _family("GemmaForCausalLM", _GEMMA, decoders.gemma),
    "Gemma 2": _family("Gemma2ForCausalLM", _WINDOWED, decoders.gemma),
    "Gemma 3": _family("Gemma3ForCausalLM", _WINDOWED, decoders.gemma),
    "Qwen 2": _family("Qwen2ForCausalLM", checkpoints.DECODERS["qwen2"].sizes, decoders.qwen),
    "Qwen 3": _family("Qwen3ForCausalLM", checkpoints.DECODERS["qwen3"].sizes, decoders.qwen),
    "gpt-oss": _family("GptOssForCausalLM", _WINDOWED | _EXPERTS, decoders.gpt_oss),
    "OPT": _family("OPTForCausalLM", _OPT, decoders.opt),
    "XGLM": _family("XGLMForCausalLM", _XGLM, piece_file("sentencepiece.bpe.model", pieces.UNIGRAM)),
    "Phi": _family("PhiForCausalLM", checkpoints.DECODERS["phi"].sizes, decoders.phi),
    "Pythia": _family("GPTNeoXForCausalLM", checkpoints.DECODERS["gpt_neox"].sizes, decoders.pythia),
}
ENCODER_DECODERS: dict[str, Builder] = {
    "T5, Flan-T5": _family("T5ForConditionalGeneration", _T5, pieces.t5),
    "mT5": _family("MT5ForConditionalGeneration", _T5, pieces.mt5),
    "ByT5": _family("T5ForConditionalGeneration", _T5, decoders.byt5),
    "BART": _family("BartForConditionalGeneration", _BART, write_byte_merges(*_FIRST, last=["<mask>"]), start="</s>"),
    "mBART": _family("MBartForConditionalGeneration", _BART, pieces.mbart, start="ro_RO"),
    "mBART-50": _family("MBartForConditionalGeneration", _BART, pieces.mbart_50, start="</s>"),
    "Pegasus": _family("PegasusForConditionalGeneration", _BART, pieces.pegasus),
    "Marian": _family("MarianMTModel", checkpoints.PAIRS["marian"].sizes, pieces.marian),
    "M2M100": _family("M2M100ForConditionalGeneration", _BART, pieces.m2m_100, start="</s>"),
    "NLLB": _family("M2M100ForConditionalGeneration", _BART, pieces.nllb, start="</s>"),
}
FAMILIES = ENCODERS | DECODERS | ENCODER_DECODERS
