"""TransformerLens gives the same numbers for a GPT-2 where both can: attribution, patching, ablation, attention.

It is no requirement of the tests and is skipped where it is missing. To run it, install what the benchmarks compare
with, beside the rest: `pip install --group bench`, then `python -m pytest
tests/causes/numbers/test_against_lens.py`.

Its weights are processed as far as attribution asks for: the last norm's gain is folded into the vocabulary's map, as
`logit_attrs` takes it to be. Nothing is centred and no bias is moved, so that each part stays the same part.
"""

import copy

import pytest
import torch

import attnviz
from attnviz.analysis.attribution import LogitTarget, attribution
from attnviz.analysis.residual import ResidualMaps, residual_maps
from attnviz.causes.numbers.effects import head_effects
from attnviz.causes.numbers.pair import LogitDifference
from attnviz.causes.numbers.patching import patched_heads, patched_stream
from tests.models.huggingface.tokenizers_made import byte_prompts

pytestmark = pytest.mark.filterwarnings("ignore")  # the other library's own
lens_bridge = pytest.importorskip("transformer_lens.model_bridge", reason="pip install --group bench")
patching = pytest.importorskip("transformer_lens.patching", reason="pip install --group bench")

CLEAN, CHANGED = "A cat sat on it.", "A dog sat on it."
LAYERS, HEADS = 2, 3
A, B = 101, 211  # two ids
SAME = {"atol": 1e-5, "rtol": 1e-5}


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    """Make the same random weights in both programs, at a scale where attention is uneven and no logit small."""
    import transformers

    folder = tmp_path_factory.mktemp("tokenizer")
    byte_prompts().save_pretrained(folder)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)  # the other program asks where it is from
    config = transformers.GPT2Config(
        n_layer=LAYERS, n_head=HEADS, n_embd=39, n_inner=53, n_positions=37, vocab_size=len(tokenizer),
        bos_token_id=0, eos_token_id=0,
    )  # fmt: skip
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        model = transformers.GPT2LMHeadModel(config).eval().requires_grad_(False)
        for name, parameter in model.named_parameters():
            parameter.normal_(mean=float(name.endswith(("ln_1.weight", "ln_2.weight", "ln_f.weight"))), std=0.3)
    theirs = lens_bridge.TransformerBridge.boot_transformers("gpt2", hf_model=copy.deepcopy(model), tokenizer=tokenizer)
    theirs.enable_compatibility_mode(
        disable_warnings=True, fold_ln=True, center_writing_weights=False, center_unembed=False,
        fold_value_biases=False,
    )  # fmt: skip
    return attnviz.load(model, tokenizer), theirs


@pytest.fixture(scope="module")
def ours(both):
    return both[0]


@pytest.fixture(scope="module")
def lens(both):
    return both[1]


@pytest.fixture(scope="module")
def clean(ours):
    return ours.trace(CLEAN, new_tokens=0)


@pytest.fixture(scope="module")
def changed_trace(ours):
    return ours.trace(CHANGED, new_tokens=0)


def ids_of(trace):
    return torch.tensor([[token.id for token in trace.tokens("tgt")]])


@pytest.fixture(scope="module")
def cache(lens, clean):
    found = lens.run_with_cache(ids_of(clean))[1]
    found.compute_head_results()
    return found


def test_logits_and_attention_patterns(lens, clean, cache) -> None:
    torch.testing.assert_close(clean.logits, lens(ids_of(clean)).detach(), **SAME)
    for layer in range(LAYERS):
        theirs = cache[f"blocks.{layer}.attn.hook_pattern"][0]
        torch.testing.assert_close(clean.attn("decoder_self", layer=layer), theirs, **SAME)
        assert float((theirs[:, -1].amax(dim=-1) - theirs[:, -1].amin(dim=-1)).min()) > 0.05  # not even


@pytest.mark.parametrize("against", [None, B])
def test_attribution_by_head_and_by_layer(against, ours, clean, cache) -> None:
    maps = residual_maps(ours, clean)
    assert isinstance(maps, ResidualMaps)
    stacked, labels = cache.decompose_resid(return_labels=True)
    heads = cache.logit_attrs(cache.stack_head_results(), A, incorrect_tokens=against)[:, 0]
    layers = dict(zip(labels, cache.logit_attrs(stacked, A, incorrect_tokens=against)[:, 0], strict=True))
    for row in range(len(clean.tokens("tgt"))):
        found = attribution(maps, clean, LogitTarget(row, A, against))
        bars = torch.tensor([part.value for part in found.parts if part.part == "head"])
        torch.testing.assert_close(bars, heads[:, row], **SAME)

        def sum_parts(layer, *kinds, parts=found.parts):
            return sum(part.value for part in parts if part.layer == layer and part.part in kinds)

        embedded = float(layers["embed"][row] + layers["pos_embed"][row])
        assert sum_parts(None, "embedding") == pytest.approx(embedded, abs=1e-5)
        for layer in range(LAYERS):
            attended, fed = (float(layers[f"{layer}_{part}_out"][row]) for part in ("attn", "mlp"))
            assert sum_parts(layer, "head", "head bias") == pytest.approx(attended, abs=1e-5)
            assert sum_parts(layer, "feed-forward") == pytest.approx(fed, abs=1e-5)


def test_patching_the_residual_at_each_layer_and_position(ours, lens, clean, changed_trace, cache) -> None:
    metric = LogitDifference(len(clean.tokens("tgt")) - 2, A, B)
    found = patched_stream(ours, clean, changed_trace, metric, stack="decoder")

    def theirs(logits):
        return logits[0, metric.step, A] - logits[0, metric.step, B]

    before = patching.get_act_patch_resid_pre(lens, ids_of(changed_trace), cache, theirs)
    after = patching.generic_activation_patch(
        lens, ids_of(changed_trace), cache, theirs, patching.layer_pos_patch_setter, "resid_post", ("layer", "pos")
    )
    expected = torch.cat((before, after[-1:])).detach()
    torch.testing.assert_close(found.patched, expected, **SAME)
    assert float(found.patched.std()) > 0.1


def test_patching_what_each_head_gathers(ours, lens, clean, changed_trace, cache) -> None:
    metric = LogitDifference(len(clean.tokens("tgt")) - 1, A, B)
    found = patched_heads(ours, clean, changed_trace, metric)

    def theirs(logits):
        return logits[0, metric.step, A] - logits[0, metric.step, B]

    expected = patching.get_act_patch_attn_head_out_all_pos(lens, ids_of(changed_trace), cache, theirs).detach()
    torch.testing.assert_close(found.patched.reshape(LAYERS, HEADS), expected, **SAME)
    assert float(found.patched.std()) > 0.1


def test_logits_without_each_head(ours, lens, clean) -> None:
    effects = head_effects(ours, clean)
    targets = torch.tensor([[token.id] for token in effects.tokens])
    for place, after in zip(effects.places, effects.after, strict=True):
        kind, layer, head = place

        def zero_head(z, hook, head=head):
            z = z.clone()
            z[:, :, head] = 0
            return z

        hooks = [(f"blocks.{layer}.attn.hook_z", zero_head)]
        expected = lens.run_with_hooks(ids_of(clean), fwd_hooks=hooks).detach()
        without = ours.trace(CLEAN, new_tokens=0, interventions=[attnviz.ablate(kind, layer=layer, heads=[head])])
        torch.testing.assert_close(without.logits, expected, **SAME)
        likely = expected[0, : len(targets)].log_softmax(dim=-1).gather(1, targets)[:, 0]
        torch.testing.assert_close(after, likely, **SAME)
        assert float((expected - clean.logits).abs().max()) > 0.1
