"""What a GPU gives is what the CPU gives, wherever a model runs: on two devices that are not there (`fake_device`)."""

from functools import cache

import pytest
import torch
import transformers

import attnviz
from attnviz.analysis.attribution import explained_weights
from attnviz.analysis.inputs import observed_inputs
from attnviz.analysis.metric_table import metric_columns
from attnviz.analysis.output_maps import output_maps
from attnviz.analysis.projections import NotPlain, projections
from attnviz.analysis.residual import ResidualMaps, residual_maps
from attnviz.decoding.numbers.verdict import judge
from attnviz.implementations.weights import SiteWeights
from attnviz.maps.lazy import maps_overview
from attnviz.maps.options import MapOptions
from attnviz.maps.selection import EVERY_TOKEN
from attnviz.models.decoding_record import decoding_record
from attnviz.models.huggingface import load
from attnviz.models.translator.stepwise import teacher_forced
from attnviz.tracing import trace as traces
from attnviz.transformer.device import OutOfDeviceMemoryError
from attnviz.transformer.probe import Site
from tests import fake_device as fake
from tests.device_scenarios import CPU, PROMPT, SCENARIOS, TEXT, assert_same, checkpoint, target, translator, whole
from tests.fake_device import OnDevice, _Move, counts, fake_device, memory
from tests.models.huggingface import checkpoints

GPUS = pytest.mark.parametrize("kind", ["cuda", "mps"])
GPU = "mps"  # refuses what "cuda" refuses, and float64; of "cuda" there are its own products, below
CHECKPOINTS = pytest.mark.parametrize("name", ["bert", "gpt2", "llama", "t5"])


@pytest.mark.parametrize(("name", "kind"), [*((name, GPU) for name in SCENARIOS), ("trace_and_save", "cuda")])
def test_a_translator_computes_on_a_gpu_what_it_computes_on_the_cpu(name, kind, tmp_path):
    expected = SCENARIOS[name](translator(CPU), tmp_path)
    with fake_device(kind) as device:
        assert_same(SCENARIOS[name](translator(device), tmp_path), expected)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return cache(lambda name: checkpoints.save(tmp_path_factory.mktemp("gpu") / name, checkpoints.ALL[name]))


@pytest.fixture(scope="module")
def cpu_results(folder, tmp_path_factory):
    """Compute on the CPU what a checkpoint gives."""

    def run(name):
        return checkpoint(load(folder(name), device=CPU, dtype=torch.float32), tmp_path_factory.mktemp("cpu"))

    return cache(run)


def load_in_memory(folder, device):
    return checkpoints.reference(folder).to(device), transformers.AutoTokenizer.from_pretrained(folder)


@CHECKPOINTS
def test_a_checkpoint_computes_on_a_gpu_what_it_computes_on_the_cpu(name, folder, cpu_results, tmp_path):
    expected = cpu_results(name)
    with fake_device(GPU) as device:
        assert_same(checkpoint(load(folder(name), device=device, dtype=torch.float32), tmp_path), expected)
        own, tokenizer = load_in_memory(folder(name), device)
        held = attnviz.load(own, tokenizer, device=GPU)
        assert_same(whole(held.trace(PROMPT, **target(held))), expected[0])
        first = own.get_input_embeddings().weight
        assert held.torch_module.get_input_embeddings().weight is first, "the weights are there once"


def test_half_precision_on_a_gpu_keeps_what_transformers_keeps_in_float32(folder):
    expected = load(folder("llama"), device=CPU, dtype=torch.bfloat16).trace(PROMPT)
    with fake_device("cuda") as device:
        found = load(folder("llama"), device=device, dtype=torch.bfloat16).trace(PROMPT)
    assert found.info.dtype == "bfloat16"
    assert_same(found.attn("decoder_self", layer=0), expected.attn("decoder_self", layer=0))


@pytest.fixture
def tf32():
    torch.set_float32_matmul_precision("high")
    yield
    torch.set_float32_matmul_precision("highest")


@CHECKPOINTS
def test_products_in_tf32_are_no_fault_of_a_model(name, folder, cpu_results, tf32):
    """Where somebody's own process multiplies so: there the comparison allows for eleven bits."""
    expected = cpu_results(name)
    with fake_device("cuda") as device:
        held = attnviz.load(*load_in_memory(folder(name), device))
        assert 1e-5 < max_apart(held.trace(PROMPT, **target(held)), expected) < 0.2  # rounded, and no more


@CHECKPOINTS
def test_what_is_taken_apart_fits_a_run_whose_products_were_in_tf32(name, folder, tf32):
    """The parts are computed on the CPU, in float32: heads through W_o, projections, contexts beside an ablation."""
    with fake_device("cuda") as device:
        model = attnviz.load(*load_in_memory(folder(name), device))
        trace, site = model.trace(PROMPT, **target(model)), Site(model.kinds[-1], 0)
        assert not [one for one in output_maps(model, trace).values() if isinstance(one, NotPlain)]
        found = projections(model, trace, [site])[site]
        assert isinstance(found, SiteWeights)
        observed_inputs(found, trace, site.kind, site.layer)
        if name != "bert":  # whose norms come after its sums
            assert isinstance(residual_maps(model, trace), ResidualMaps)
        ablated = [attnviz.ablate(site.kind, layer=0, heads=[1])]
        changed = model.trace(PROMPT, **target(model), interventions=ablated)
        gone = explained_weights(changed, site).sum(dim=(1, 2)) == 0
        assert gone.tolist() == [head == 1 for head in range(len(gone))]


def test_products_in_tf32_break_no_verdict(tf32):
    with fake_device("cuda") as device:
        model = translator(device)
        made = decoding_record(model.stepwise(TEXT, to="fr", max_tokens=8))
        verdict = judge(made, lambda probe: teacher_forced(model, TEXT, made.ids, to="fr", probe=probe))
    assert verdict.largest_place.delta > 1e-5, "products were rounded"
    assert verdict.holds


def test_a_token_costs_one_wait_and_no_copy():
    with fake_device(GPU) as device:
        model, spent = translator(device), []
        for most in (3, 8):
            counts.clear()
            model.trace(TEXT, to="fr", max_tokens=most, interventions=[attnviz.ablate("cross", heads=[1, 3])])
            spent.append((counts["waits"], counts["copies"]))
    assert (spent[1][0] - spent[0][0], spent[1][1] - spent[0][1]) == (5, 0)


def test_a_gpu_is_given_no_causal_mask_and_a_trace_keeps_its_mask_once(folder):
    expected = load(folder("llama"), device=CPU, dtype=torch.float32).trace(PROMPT)
    with fake_device("cuda") as device:
        model = load(folder("llama"), device=device, dtype=torch.float32)
        model.trace(PROMPT)  # the first of its length is also compared with the model as it was given
        counts.clear()
        found = model.trace(PROMPT)
        assert (counts["causal"], counts["masked"]) == (model.n_layers, 0)
        assert found.nbytes() == expected.nbytes()
        window = load(checkpoints.save(folder("llama").parent / "mistral", checkpoints.ALL["mistral"]), device=device,
                      dtype=torch.float32)  # fmt: skip
        window.trace(PROMPT)
        counts.clear()
        window.trace(PROMPT)
        assert (counts["causal"], counts["masked"]) == (0, window.n_layers), "a window hides more than later keys"


@CHECKPOINTS
def test_every_head_of_a_long_text_is_computed_on_the_gpu_that_the_model_ran_on(name, folder, monkeypatch):
    """Its results are the CPU's, and so are those beside a GPU without memory."""
    with fake_device("cuda") as device:
        model = load(folder(name), device=device, dtype=torch.float32)
        trace = model.trace(PROMPT, **target(model))
        kind = trace.kinds[0]

        def look() -> list:
            options = (EVERY_TOKEN, MapOptions("hide", words=True))
            overviews = [maps_overview(trace, kind, one, side=3) for one in options]
            shown = [part for one in overviews for part in (one.thumbnails, one.labels.mask)]
            mean = overviews[0].maps(trace, EVERY_TOKEN).weights("mean", "mean")
            columns = metric_columns(trace, kind).items()
            return [
                trace.thumbnails(kind, side=3),
                *shown,
                mean,
                {name: one for name, one in columns if name != "kind"},
            ]

        expected, where = look(), set()
        monkeypatch.setattr(traces, "_LONG", 1)
        seen = traces.row_blocks

        def watch(call, *rest, **how):
            where.add(call.query.device.type)
            yield from seen(call, *rest, **how)

        monkeypatch.setattr(traces, "row_blocks", watch)
        assert_same(look(), expected)
        assert where == {"cuda"}

        def fill_up(call, *rest, **how):
            if call.query.device.type == "cuda":
                raise torch.OutOfMemoryError("CUDA out of memory.")
            yield from seen(call, *rest, **how)

        monkeypatch.setattr(traces, "row_blocks", fill_up)
        assert_same(look(), expected)


@pytest.mark.parametrize("name", ["translator", "llama", "t5"])
def test_a_gpu_without_room_is_one_sentence(name, folder, monkeypatch):
    """Also in a notebook, where no page or command catches torch's own error."""
    with fake_device("cuda") as device:
        model = translator(device) if name == "translator" else load(folder(name), device=device, dtype=torch.float32)
        given = {"to": "fr", "tgt_text": "je t'aime"} if name == "translator" else target(model)
        memory.update(taken=1_000_000_000, room=2_000_000_000)

        def refuse(*_: object, **__: object) -> None:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 3.00 GiB. GPU 0 has a total capacity")

        monkeypatch.setitem(fake._OWN, torch.nn.functional.scaled_dot_product_attention, refuse)
        runs = [lambda: model.trace(PROMPT, **given)]
        runs += [lambda: list(model.stepwise(PROMPT))] if name == "llama" else []
        for run in runs:
            with pytest.raises(
                OutOfDeviceMemoryError, match=r"needs about 3\.2 GB .* cuda:0, which has 2\.0 GB for it"
            ):
                run()


def test_a_model_is_moved_in_the_type_that_it_runs_in(folder, monkeypatch):
    moved, move = [], _Move.apply
    monkeypatch.setattr(_Move, "apply", lambda tensor, place: moved.append(tensor.dtype) or move(tensor, place))
    with fake_device("cuda") as device:
        load(folder("llama"), device=device, dtype=torch.bfloat16)
    assert moved.count(torch.float32) < moved.count(torch.bfloat16) / 5, "rotary frequencies alone stay float32"


@GPUS
def test_seconds_of_a_step_are_those_of_the_device(kind, folder):
    with fake_device(kind) as device:
        for steps in (
            translator(device).stepwise(TEXT, to="fr", max_tokens=3),
            load(folder("gpt2"), device=device, dtype=torch.float32).stepwise(PROMPT, new_tokens=3),
        ):
            counts.clear()
            assert len(list(steps)) <= counts["synchronized"]


def test_thumbnails_of_a_model_on_two_devices():
    with fake_device("cuda") as device:
        trace = next(translator(device).stepwise(TEXT, to="fr")).trace
        expected, calls = trace.thumbnails("cross"), dict(trace.calls)
        calls[Site("cross", 0)] = calls[Site("cross", 0)].map_tensors(lambda tensor: tensor.cpu())
        assert isinstance(calls[Site("cross", 1)].query, OnDevice)
        assert torch.equal(attnviz.Trace(calls, {}, {}, trace.sentences).thumbnails("cross"), expected)


def max_apart(trace, expected):
    pairs = zip(whole(trace)[1:], expected[0][1:], strict=True)
    return max(float((one - other).abs().max() / other.abs().max()) for one, other in pairs)
