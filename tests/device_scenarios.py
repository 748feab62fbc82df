"""What a model computes on a device, each scenario by the name of its function, and how two results are compared."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch

import attnviz
from attnviz.analysis.attribution import LogitTarget, attribution, key_attribution
from attnviz.analysis.cancellable import TO_THE_END
from attnviz.analysis.corpus.lines import lines_of
from attnviz.analysis.inputs import site_inputs
from attnviz.analysis.mixing import alti_mixes, mean_residual, norms
from attnviz.analysis.projections import projections
from attnviz.analysis.rerun import write_again
from attnviz.analysis.residual import ResidualMaps, residual_maps
from attnviz.anatomy.implementations.numbers.bug_in_model import bug_in_model
from attnviz.causes.corpus.numbers.studies import run_stages
from attnviz.causes.numbers.effects import head_effects, translations_without
from attnviz.causes.numbers.last_layer import LastLayer, last_layer
from attnviz.causes.numbers.lens import logit_lens
from attnviz.causes.numbers.pair import LogitDifference
from attnviz.causes.numbers.patching import patched_heads, patched_stream
from attnviz.decoding.numbers.verdict import judge
from attnviz.implementations.bugs.cabinet import BUGS
from attnviz.implementations.weights import SiteWeights
from attnviz.masks.numbers.effect import effect
from attnviz.models.decoding_record import decoding_record
from attnviz.models.huggingface.parts import checkpoint_structure
from attnviz.models.translator.faults import Faults
from attnviz.models.translator.stepwise import teacher_forced
from attnviz.models.translator.tiny import tiny_translator
from attnviz.models.translator.together import traces
from attnviz.tracing.interventions import MaskOverride
from attnviz.transformer.beam import Beam
from attnviz.transformer.decoding import Sampling
from attnviz.transformer.probe import Site

TEXT, OTHER, PROMPT = "I love you.", "I love machine learning.", "The quick brown fox jumps."

CPU = torch.device("cpu")


def trace_and_save(model, tmp_path):
    trace = model.trace(TEXT, to="fr", max_tokens=8)
    assert all(call.query.device == CPU for call in trace.calls.values())
    attnviz.save(trace, tmp_path / "trace.npz")
    batch = traces(model, [TEXT, OTHER], to="fr")
    return [whole(trace), whole(attnviz.load_trace(tmp_path / "trace.npz")), [whole(one) for one in batch],
            trace.thumbnails("cross", side=3), model.translate([TEXT, OTHER], to="fr")]  # fmt: skip


def step_and_judge(model, _):
    def record(**how):
        return decoding_record(model.stepwise(TEXT, to="fr", **({"max_tokens": 5} | how)))

    made = record()
    assert judge(made, lambda probe: teacher_forced(model, TEXT, made.ids, to="fr", probe=probe)).holds
    beam = list(model.stepwise(TEXT, to="fr", choose=Beam(3), max_tokens=5))
    drawn = Sampling(torch.Generator(model.device).manual_seed(3), top_k=20, top_p=0.9)
    return [numbers(made), numbers(record(cached=False)), [step.best for step in beam], beam[-1].attn("cross"),
            beam[-1].trace.thumbnails("cross", side=3), record(choose=drawn).ids, record(tgt_text="je t'aime").chosen,
            numbers(record(faults=Faults(dropout=0.2, seed=5, mask="none")))]  # fmt: skip


def mask_effects(model, _):
    trace = model.trace(TEXT, to="fr", max_tokens=8)

    def blind_row(q_len, k_len):
        mask = torch.ones(1, q_len, k_len, dtype=torch.bool)
        mask[:, min(1, q_len - 1)] = False
        return mask

    probes = [MaskOverride([Site("cross", 0), Site("encoder_self", 1)], blind_row, head) for head in (None, 2)]
    return [[whole(effect(model, trace, probe).after) for probe in probes],
            write_again(model, trace, probes[1], cached=False)]  # fmt: skip


def intervene(model, _):
    trace, donor = (model.trace(text, to="fr", max_tokens=5) for text in (TEXT, OTHER))
    done = [
        attnviz.ablate("encoder_self", heads=[0, 2, 3]), attnviz.ablate("decoder_self", to="uniform"),
        attnviz.ablate("cross", heads=[1], to=attnviz.mean_contexts(model, [trace, donor])),
        attnviz.ablate("decoder_self", to="diagonal", positions=[1, 3]), attnviz.patch(donor, "cross", what="query"),
        attnviz.patch(donor, "encoder", layer=0, what="layer"), attnviz.exchange("encoder_self", [0, 2]),
        attnviz.edit("cross", [[0.5, 0.5, 0, 0, 0]], layer=0, heads=[1, 4], rows=[2]),
    ]  # fmt: skip
    under = [model.trace(TEXT, to="fr", max_tokens=5, interventions=[one]) for one in done]
    steps = model.stepwise(TEXT, to="fr", max_tokens=4, interventions=done)
    return [[whole(one) for one in under], numbers(decoding_record(steps))]


def causes(model, _):
    trace, donor = (model.trace(text, to="fr", max_tokens=6) for text in (TEXT, OTHER))
    maps, metric = residual_maps(model, trace), LogitDifference(2, 20, 30)
    return [attribution(maps, trace, LogitTarget(1, 20, 30)),
            key_attribution(maps, trace, LogitTarget(1, 20), Site("cross", 0)),
            [mix.read for mix in alti_mixes(maps, trace)], mean_residual(maps, trace), logit_lens(model, trace).rank,
            norms(maps.output("cross", 1), trace, Site("cross", 1)), head_effects(model, trace).after,
            translations_without(model, trace), patched_heads(model, donor, trace, metric).patched,
            patched_stream(model, donor, trace, metric, stack="decoder").patched]  # fmt: skip


def count_study(model, _):
    study = [*run_stages(model, lines_of([TEXT, OTHER]), to="fr", listen=lambda stage: TO_THE_END)][-1]
    return [study.heads, study.sentence_table()]


def run_bugs(model, _):
    trace = model.trace(TEXT, to="fr", max_tokens=4)
    weights = {site: site_inputs(model, trace, site.kind, site.layer).weights for site in trace.calls}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("attnviz.anatomy.implementations.numbers.bug_in_model.MOST", 5)  # tokens of each
        return [bug_in_model(model, trace, BUGS[name].steps, weights) for name in ("no_scale", "float_head_size")]


def toys(_, __):
    toy, line = attnviz.load("toy:french-without-causal-mask"), "the black dogs see my small car"
    return [whole(toy.trace(line)), numbers(decoding_record(toy.stepwise(line)))]


def target(model, count=1):
    """Give a short target to a model that would write a long one."""
    return {"tgt_text": ["A dog."] * count} if model.inputs.takes_target else {}


def checkpoint(model, tmp_path):
    trace = model.trace(PROMPT, **target(model))
    assert all(call.query.device == CPU for call in trace.calls.values())
    attnviz.save(trace, tmp_path / "trace.npz")
    ahead = MaskOverride([Site(trace.kinds[0], 0)], lambda q, k: torch.ones(1, q, k, dtype=torch.bool).tril())
    maps, last, asked = residual_maps(model, trace), last_layer(model, trace), LogitTarget(1, 20)
    found = projections(model, trace, trace.calls).items()
    weights = {site: one for site, one in found if isinstance(one, SiteWeights)}
    steps = decoding_record(model.stepwise(PROMPT, new_tokens=3)) if model.writes else None
    return [
        whole(trace), checkpoint_structure(trace, model), whole(effect(model, trace, ahead).after),
        model.trace([PROMPT, "A dog."], **target(model, 2)).attn(trace.kinds[0], item=1),
        head_effects(model, trace).after,
        attribution(maps, trace, asked) if isinstance(maps, ResidualMaps) else maps,
        last.attribution(trace, asked) if isinstance(last, LastLayer) else last,
        bug_in_model(model, trace, BUGS["mask_transposed"].steps, weights),
        steps and numbers(steps),
    ]  # fmt: skip


SCENARIOS: dict[str, Callable] = {
    one.__name__: one
    for one in (trace_and_save, step_and_judge, mask_effects, intervene, causes, count_study, run_bugs, toys)
}


def translator(device):
    made = tiny_translator(3)
    made.model.to(device)
    return made


def whole(trace):
    """Collect all numbers of a trace, in float32 on the CPU."""
    layers = [trace.layer_output(*place) for place in getattr(trace, "layers", ())]
    return [trace.tgt_text, *(trace.attn(kind) for kind in trace.kinds), *layers, getattr(trace, "logits", None)]


def numbers(made):
    return [made.attn, made.hidden, made.logits, made.ids]


def assert_same(found: Any, expected: Any, where: str = "") -> None:
    """Compare two results; numbers may differ by rounding."""
    if is_dataclass(expected):
        found, expected = ({each.name: getattr(one, each.name) for each in fields(one)} for one in (found, expected))
    if isinstance(expected, torch.Tensor | np.ndarray | float):
        np.testing.assert_allclose(found, expected, rtol=1e-3, atol=2e-5, err_msg=where)
    elif isinstance(expected, pd.DataFrame):
        pd.testing.assert_frame_equal(found, expected, rtol=1e-3, atol=2e-5)
    elif isinstance(expected, Mapping):
        assert found.keys() == expected.keys(), where
        for key, one in expected.items():
            assert_same(found[key], one, f"{where}/{key}")
    elif isinstance(expected, Sequence) and not isinstance(expected, str):
        assert len(found) == len(expected), where
        for nth, (one, other) in enumerate(zip(found, expected, strict=True)):
            assert_same(one, other, f"{where}/{nth}")
    else:
        assert found == expected, where
