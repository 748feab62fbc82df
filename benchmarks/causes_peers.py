"""The cost of Causes beside TransformerLens (the group `bench`): GPT-2-small's shape, 13 tokens, one thread."""

import importlib
import importlib.util
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import torch

from attnviz.causes.numbers.effects import head_effects
from attnviz.causes.numbers.pair import LogitDifference
from attnviz.causes.numbers.patching import patched_heads
from attnviz.models import huggingface
from attnviz.tracing.trace import Trace
from benchmarks.peers import save_gpt2_small
from benchmarks.report import Row
from benchmarks.timing import median, ratio, time_in_turn

CLEAN, CHANGED = "A cat sat on.", "A dog sat on."
A, B = 101, 211  # two ids
RUNS, AIM = 3, 0.7
Tasks = Mapping[str, tuple[Callable[[], Any], Callable[[], Any]]]


def rows() -> Iterator[Row]:
    """Measure the median ratio within a round; yield nothing without TransformerLens."""
    if importlib.util.find_spec("transformer_lens") is None:
        return
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:  # TransformerLens reads its tokenizer again
        save_gpt2_small(Path(folder))
        for name, (ours, theirs) in _tasks(Path(folder)).items():
            seconds = time_in_turn({"ours": ours, "theirs": theirs}, runs=RUNS, warm_up=1)
            yield Row(f"GPT-2-small shape, {name}", 1e3 * median(seconds["ours"]), "ms")
            yield Row(f"GPT-2-small shape, {name}", ratio(seconds["ours"], seconds["theirs"]), "x TransformerLens", AIM)


def _tasks(folder: Path) -> Tasks:
    """Prepare the tasks that both can do, by name, with the checkpoint in `folder`."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    model = huggingface.load(folder, device=torch.device("cpu"), dtype=torch.float32)
    whole = AutoModelForCausalLM.from_pretrained(folder, attn_implementation="eager").eval()
    tokenizer = AutoTokenizer.from_pretrained(folder)
    lens = importlib.import_module("transformer_lens.model_bridge").TransformerBridge.boot_transformers(
        "gpt2", hf_model=whole.requires_grad_(False), tokenizer=tokenizer
    )
    lens.enable_compatibility_mode(
        disable_warnings=True, fold_ln=True, center_writing_weights=False, center_unembed=False, fold_value_biases=False
    )
    patching = importlib.import_module("transformer_lens.patching")
    clean, changed = (model.trace(text, new_tokens=0) for text in (CLEAN, CHANGED))
    ids, other = (torch.tensor([[token.id for token in trace.tokens("tgt")]]) for trace in (clean, changed))
    metric = LogitDifference(ids.shape[1] - 1, A, B)
    cache = lens.run_with_cache(ids)[1]

    def lead(logits: torch.Tensor) -> torch.Tensor:
        return logits[0, metric.step, A] - logits[0, metric.step, B]

    return {
        "every single head ablated": (lambda: head_effects(model, clean), lambda: _ablate_each(lens, ids, clean)),
        "a patching matrix of every head": (
            lambda: patched_heads(model, clean, changed, metric),
            lambda: patching.get_act_patch_attn_head_out_all_pos(lens, other, cache, lead),
        ),
    }


@torch.inference_mode()
def _ablate_each(lens: Any, ids: torch.Tensor, clean: Trace) -> list[torch.Tensor]:
    """Compute the logits without each head, in a run each, as its tutorials do."""
    layers, heads = clean.shape("decoder_self")
    found = []
    for layer in range(layers):
        for head in range(heads):

            def off(z: torch.Tensor, hook: Any, head: int = head) -> torch.Tensor:
                z = z.clone()
                z[:, :, head] = 0
                return z

            found.append(lens.run_with_hooks(ids, fwd_hooks=[(f"blocks.{layer}.attn.hook_z", off)]))
    return found
