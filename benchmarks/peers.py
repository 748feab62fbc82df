"""A GPT-2-small of random weights traced by attnviz, by transformers itself and, if it is installed
(the group `bench` of pyproject.toml), by TransformerLens.

All compute the same function. Part of what attnviz saves is not attention: GPT-2's activation runs in one kernel
(`attnviz/models/huggingface/network/patches.py`), some 3 % of a pass.
"""

import importlib
import importlib.util
import tempfile
from collections.abc import Callable, Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import Any

import torch

from attnviz.analysis.peak_memory import peak_memory, warm_up
from attnviz.models import huggingface
from attnviz.tracing.thumbnails import thumbnail
from attnviz.tracing.trace import Trace
from benchmarks.report import Row
from benchmarks.timing import median, ratio, time_in_turn

LENGTHS = {64: 30, 512: 7, 1024: 5}  # runs of each: shorter passes scatter more
MEMORY_LENGTH = 1024
_CPU = torch.device("cpu")


def rows() -> Iterator[Row]:
    """Measure the median ratio within a round. The trace includes cutting the text into tokens; the others get ids."""
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        save_gpt2_small(Path(folder))
        peers = _Peers(Path(folder))
    for length, runs in LENGTHS.items():
        yield from _times(peers, length, runs)
    yield from _memory(peers, MEMORY_LENGTH)


def save_gpt2_small(folder: Path) -> None:
    """Save a checkpoint of GPT-2-small's shape with random weights and a tokenizer of bytes."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

    alphabet = {character: index + 1 for index, character in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}
    tokenizer = Tokenizer(models.BPE(vocab={"<|endoftext|>": 0} | alphabet, merges=[]))
    tokenizer.pre_tokenizer, tokenizer.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    end = {"eos_token": "<|endoftext|>", "bos_token": "<|endoftext|>", "unk_token": "<|endoftext|>"}
    torch.manual_seed(0)
    GPT2LMHeadModel(GPT2Config(bos_token_id=0, eos_token_id=0)).save_pretrained(folder)
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=1024, **end).save_pretrained(folder)


class _Peers:
    """The same weights in each program."""

    def __init__(self, folder: Path) -> None:
        from transformers import AutoModel, AutoModelForCausalLM

        ours = {dtype: huggingface.load(folder, device=_CPU, dtype=dtype) for dtype in (torch.float32, torch.bfloat16)}
        self.ours, self.ours_bfloat16 = ours[torch.float32], ours[torch.bfloat16]
        self.eager = AutoModel.from_pretrained(folder, attn_implementation="eager").eval()
        self.lens = None
        if importlib.util.find_spec("transformer_lens"):
            from transformers import AutoTokenizer

            whole = AutoModelForCausalLM.from_pretrained(folder, attn_implementation="eager").eval()
            tokenizer = AutoTokenizer.from_pretrained(folder)
            self.lens = importlib.import_module("transformer_lens.model_bridge").TransformerBridge.boot_transformers(
                "gpt2", hf_model=whole, tokenizer=tokenizer
            )

    def tasks(self, length: int) -> Mapping[str, Callable[[], Any]]:
        """Prepare the tasks that are timed; each sees the same tokens."""
        text = ("the old man who lives in this small house has a big red dog " * length)[:length]
        ids = torch.tensor([[token.id for token in self.trace(text).tokens("tgt")]])
        tasks: dict[str, Callable[[], Any]] = {
            "traced": lambda: self.trace(text),
            "drawn": lambda: _thumbnails(self.trace(text)),
            "eager": lambda: _eager(self.eager, ids),
            "traced, bfloat16": lambda: self.trace(text, bfloat16=True),
        }
        return tasks | ({"lens": lambda: _lens(self.lens, ids)} if self.lens is not None else {})

    def trace(self, text: str, *, bfloat16: bool = False) -> Trace:
        """Trace the attention of every site of the prompt, as the others keep it, without logits, hidden states or
        continuation.
        """
        model = self.ours_bfloat16 if bfloat16 else self.ours
        return model.trace(text, new_tokens=0, logits=False, hidden=False, max_tokens=MEMORY_LENGTH)


def _times(peers: _Peers, length: int, runs: int) -> Iterator[Row]:
    seconds = time_in_turn(peers.tasks(length), runs=runs, warm_up=1)
    eager, at = seconds["eager"], f"GPT-2-small shape, {length} tokens"
    yield Row(f"{at}: transformers, eager, output_attentions", 1e3 * median(eager), "ms")
    yield Row(f"{at}: tracing", ratio(seconds["traced"], eager), "x eager", 1.0)
    yield Row(f"{at}: tracing, every head's 8-bit map", ratio(seconds["drawn"], eager), "x eager", 1.15)
    yield Row(f"{at}: tracing in bfloat16", ratio(seconds["traced, bfloat16"], eager), "x eager", 0.6)
    if "lens" in seconds:
        yield Row(f"{at}: tracing", ratio(seconds["traced"], seconds["lens"]), "x TransformerLens", 0.65)


def _memory(peers: _Peers, length: int) -> Iterator[Row]:
    tasks = peers.tasks(length)
    warm_up()
    ours, eager = peak_memory(tasks["traced"]).peak, peak_memory(tasks["eager"]).peak
    at = f"GPT-2-small shape, {length} tokens: peak memory above the weights"
    yield Row(f"{at}, transformers, eager", eager / 1e6, "MB")
    yield Row(f"{at}, tracing", ours / eager, "x eager", 1 / 3)


@torch.inference_mode()
def _eager(model: Any, ids: torch.Tensor) -> Any:
    return model(input_ids=ids, output_attentions=True, use_cache=False).attentions


@torch.inference_mode()
def _lens(model: Any, ids: torch.Tensor) -> Any:
    return model.run_with_cache(ids, names_filter=lambda name: name.endswith("hook_pattern"), return_type=None)


def _thumbnails(trace: Trace) -> list[torch.Tensor]:
    return [thumbnail(trace.attn(kind, layer=layer), 64) for kind, layer in product(trace.kinds, range(trace.n_layers))]
