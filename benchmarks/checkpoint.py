"""A checkpoint of 135 million parameters (SmolLM2-135M's shape, random weights): opened, its first map, a long text,
and what memory that takes; each in a process of its own, which has torch and transformers loaded already.

`python -m benchmarks.checkpoint 16384 [rounds]` measures a text of that many tokens against transformers' own pass with
PyTorch's attention, in turn in one process, in processor time.
"""

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from resource import RUSAGE_SELF, getrusage

from benchmarks.report import Row

TOKENS = 4096
SENTENCE = "the old man who lives in this small house has a big red dog "
NAME = "decoder of 135 M parameters"


def rows() -> Iterator[Row]:
    """Measure the wait for the model and for the map of one head, and the same for a text that fills the window."""
    with tempfile.TemporaryDirectory() as folder:
        _save(Path(folder))
        opened = _measure(folder, SENTENCE)
        yield Row(f"{NAME}: opened from disk, first check included", opened["opened"], "s", 3)
        yield Row(f"{NAME}: then the first map", opened["mapped"], "s", 2)
        long = _measure(folder, (SENTENCE * TOKENS)[:TOKENS])  # a byte a token
        yield Row(f"{NAME}, {TOKENS} tokens: the first map", long["mapped"], "s", 20)
        yield Row(f"{NAME}, {TOKENS} tokens: then every head's small map and numbers", long["overview"], "s")
        yield Row(f"{NAME}, {TOKENS} tokens: the process at its peak", long["peak"], "GB", 2.5)


def _measure(folder: str, text: str) -> dict[str, float]:
    command = (sys.executable, "-m", "benchmarks.checkpoint", folder, text)
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[-1])


def _save(folder: Path, tokens: int = 8192) -> None:
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    alphabet = {character: index + 1 for index, character in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}
    tokenizer = Tokenizer(models.BPE(vocab={"<|endoftext|>": 0} | alphabet, merges=[]))
    tokenizer.pre_tokenizer, tokenizer.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    shape = LlamaConfig(
        hidden_size=576, intermediate_size=1536, num_hidden_layers=30, vocab_size=49_152, num_attention_heads=9,
        num_key_value_heads=3, max_position_embeddings=tokens, tie_word_embeddings=True, bos_token_id=0, eos_token_id=0,
    )  # fmt: skip
    torch.manual_seed(0)
    LlamaForCausalLM(shape).save_pretrained(folder)
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<|endoftext|>").save_pretrained(folder)


def _measure_here(folder: str, text: str) -> dict[str, float]:
    """Measure the seconds of each step, and the process's largest size in gigabytes."""
    import transformers.models.llama.modeling_llama  # noqa: F401  what a server has loaded long before

    from attnviz.analysis.metric_table import HeadMetrics
    from attnviz.app.cache import threads
    from attnviz.maps.blocks import ShownMaps
    from attnviz.maps.lazy import Overview
    from attnviz.models.catalogue import load
    from attnviz.models.huggingface import HuggingFaceModel

    threads.prepare()
    started = time.perf_counter()
    model = load(folder)
    assert isinstance(model, HuggingFaceModel)
    opened = time.perf_counter()
    with threads.enough_for(len(text)):
        trace = model.trace(text, new_tokens=0, logits=False, hidden=False, max_tokens=TOKENS)
        (kind,) = trace.kinds
        trace.attn(kind, layer=0, head=0)
        mapped = time.perf_counter()
        shown = ShownMaps.of_trace(trace, kind)
        overview = Overview(shown, 64)
        HeadMetrics(shown).of_trace(overview.begin_layer)
        overview.made()
    done = time.perf_counter()
    peak = getrusage(RUSAGE_SELF).ru_maxrss / 1e6
    return {"opened": opened - started, "mapped": mapped - opened, "overview": done - mapped, "peak": peak}


def _compare_with_own(folder: str, tokens: int, rounds: int) -> Iterator[dict[str, float]]:
    """Yield, for each round, the processor seconds of transformers' own pass and of each step of attnviz.

    The first round's trace includes the check against the model as it was given, which a longer text runs once.
    """
    import torch
    from transformers import AutoModel

    from attnviz.app.cache import threads
    from attnviz.models.catalogue import load
    from attnviz.models.huggingface import HuggingFaceModel

    threads.prepare()
    text, own, model = (SENTENCE * tokens)[:tokens], AutoModel.from_pretrained(folder), load(folder)
    assert isinstance(model, HuggingFaceModel)
    ids, kind = torch.tensor([[token.id for token in model.encode_target(text[:64])]]), "decoder_self"
    own.eval()(ids)
    model.trace(text[:64], new_tokens=0)
    ids = torch.tensor([model.text.encode(text, limit=tokens).ids])
    for _ in range(rounds):
        clock = [time.process_time()]
        with threads.enough_for(len(text)):
            with torch.inference_mode():
                own(ids, use_cache=False)
            clock.append(time.process_time())
            trace = model.trace(text, new_tokens=0, logits=False, hidden=False, max_tokens=tokens)
            trace.attn(kind, layer=0, head=0)
            clock.append(time.process_time())
            trace.thumbnails(kind)
            clock.append(time.process_time())
        bare, mapped, small = (after - before for before, after in pairwise(clock))
        peak, kept = getrusage(RUSAGE_SELF).ru_maxrss / 1e6, trace.nbytes() / 1e9
        yield {"own": bare, "first map": mapped, "ratio": mapped / bare, "small": small, "GB": kept, "peak GB": peak}


def _print_comparison(tokens: int, rounds: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        _save(Path(folder), tokens)
        for row in _compare_with_own(folder, tokens, rounds):
            print(json.dumps({name: round(value, 2) for name, value in row.items()}), flush=True)


if __name__ == "__main__":
    if sys.argv[1].isdecimal():
        _print_comparison(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1)
    else:
        print(json.dumps(_measure_here(*sys.argv[1:])))
