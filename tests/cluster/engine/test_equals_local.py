"""Answers of an engine on a real Ray cluster equal those of the same models here, alone and in batches."""

from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest
import torch

from attnviz.analysis.mask_spec import MaskSpec
from attnviz.analysis.rerun import write_again
from attnviz.decoding.numbers.tolerance import tolerance
from attnviz.engine.client import Engine
from attnviz.engine.remote import RemoteModel
from attnviz.models.catalogue import DEFAULT
from attnviz.models.decoding_record import decoding_record
from attnviz.tracing.causes.making import ablate
from attnviz.tracing.interventions import MaskOverride
from attnviz.transformer.probe import Site
from tests.cluster.engine.conftest import KINDS
from tests.engine.alike import assert_alike

MODELS, REPLICAS = (DEFAULT, *KINDS), 1
TEXT = "I love you very much."
WITHIN = 1e-6


@pytest.mark.parametrize("name", [DEFAULT, *KINDS])
def test_traces_masks_interventions_and_steps_equal_the_local_models(engine: Engine, local: dict, name: str) -> None:
    here, there = local[name], RemoteModel(engine, name)
    to = {"to": "de"} if here.inputs.has_language else {}
    kind = here.kinds[-1]
    done = {**to, "interventions": [ablate(kind, layer=0, heads=[1])]}
    for how in (to, done):
        assert_alike(here.trace(TEXT, **how), there.trace(TEXT, **how), within=WITHIN)
    trace = here.trace(TEXT, **to)
    mask = MaskOverride([Site(kind, 0)], MaskSpec({"window": (1,)}).build)
    assert_alike(here.rerun(trace, mask), there.rerun(trace, mask), within=WITHIN)
    if here.writes:
        assert write_again(here, trace, mask) == write_again(there, trace, mask)
        records = [decoding_record(one.stepwise(TEXT, **to)) for one in (here, there)]
        assert records[0].chosen == records[1].chosen
        torch.testing.assert_close(records[0].logits, records[1].logits, atol=1e-5, rtol=1e-5)
        for each, attn in records[0].attn.items():
            torch.testing.assert_close(attn, records[1].attn[each], atol=WITHIN, rtol=0)


def test_what_runs_together_equals_what_runs_alone_but_for_rounding(engine: Engine, local: dict) -> None:
    texts = [f"{TEXT} {'I like it. ' * (count % 5)}{count}" for count in range(24)]
    here, there = local[DEFAULT], RemoteModel(engine, DEFAULT)
    with ThreadPoolExecutor(12) as pool:
        together = list(pool.map(lambda text: there.trace(text, to="es"), texts))
    for text, made in zip(texts, together, strict=True):
        alone = here.trace(text, to="es")
        assert made.sentences == alone.sentences
        allowed = tolerance(alone, partial(here.rerun, alone))
        for site in allowed.scores:
            one, other = (trace.attn(site.kind, layer=site.layer) for trace in (alone, made))
            assert ((one - other).abs().amax(-1) <= allowed.weight_tolerance(site, one)).all(), site
