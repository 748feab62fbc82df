"""Wrong arguments of a model, a trace or a function of `attnviz`: accepted if the meaning is clear, else refused in one
sentence.
"""

import inspect
from pathlib import Path

import numpy as np
import pytest
import torch

import attnviz
from attnviz.models import catalogue
from attnviz.models.huggingface import load
from tests.each_case import each_case
from tests.models.huggingface import architectures
from tests.models.huggingface.refused import CPU

WRONG = [
    None, 3, -1, 1.0, float("nan"), 10**30, "0", "", True, b"abc", ["a", "b"], [], [None], {"a": 1}, (1, 2),
    torch.rand(3, 3), np.int64(1), object(), Path("x"), [[1, 2], [3]],
]  # fmt: skip
TEXTS = {"toy": "the dog sees my car"}
METHODS = (
    "trace",
    "stepwise",
    "translate",
    "write_target",
    "write",
    "rerun",
    "generator",
    "decode_ids",
    "encode_target",
    "padding",
)
KINDS = ("translator", "bert", "gpt2", "bart", "prophetnet", "toy")


@pytest.fixture(scope="module")
def models(tiny, model, tmp_path_factory):
    replayed = load(architectures.ALL["prophetnet"](tmp_path_factory.mktemp("replayed") / "prophetnet"), **CPU)
    toy = catalogue.load("toy:french-without-causal-mask")
    return {"translator": tiny, "prophetnet": replayed, "toy": toy} | {
        name: model(name) for name in ("bert", "gpt2", "bart")
    }


@pytest.fixture(scope="module")
def traces(models):
    to = {"translator": {"to": "fr"}}
    return {name: one.trace(TEXTS.get(name, "I love you."), **to.get(name, {})) for name, one in models.items()}


def must_say_it(function, good):
    """Replace each argument in turn by something else: the caller may see only a ValueError with one sentence."""
    for name in [each.name for each in inspect.signature(function).parameters.values() if each.kind not in (2, 4)]:
        for wrong in WRONG:
            try:
                found = function(**(good | {name: wrong}))
                next(found, None) if inspect.isgenerator(found) else None
            except ValueError as error:
                said = str(error)
                assert said.rstrip('”"').endswith("."), f"{name}={wrong!r}: {said}"
                assert "\n" not in said, f"{name}={wrong!r}: {said}"


@each_case("kind", KINDS)
def test_a_model_says_what_it_cannot_take(models, traces, kind):
    given = {"text": TEXTS.get(kind, "I love you."), "to": "fr", "ids": [1, 2], "trace": traces[kind]}
    for name in METHODS:
        if method := getattr(models[kind], name, None):
            known = inspect.signature(method).parameters
            to = {"to"} if kind == "translator" else set()
            must_say_it(method, {key: given[key] for key in known if key in {"text", "trace", "ids", *to}})


@pytest.mark.parametrize("kind", KINDS)
def test_a_trace_says_what_it_cannot_take(traces, kind, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    trace = traces[kind]
    given = {"kind": trace.kinds[-1], "layer": 0, "stack": "decoder", "side": "tgt", "head": 0}
    given["path"] = tmp_path / "page.html"
    for name in [each for each in dir(trace) if not each.startswith("_") and each != "from_recorder"]:
        if callable(method := getattr(trace, name)):
            needed = inspect.signature(method).parameters.values()
            must_say_it(
                method,
                {
                    one.name: given[one.name]
                    for one in needed
                    if one.default is one.empty and one.kind is not one.VAR_KEYWORD
                },
            )


def test_every_public_function_says_what_it_cannot_take(traces, models, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    trace = traces["translator"]
    for function, good in (
        (attnviz.ablate, {"kind": "cross"}),
        (attnviz.patch, {"donor": trace, "kind": "cross"}),
        (attnviz.edit, {"kind": "cross", "weights": [[0.5, 0.5]], "layer": 0}),
        (attnviz.exchange, {"kind": "cross", "columns": [0, 1]}),
        (attnviz.from_tensors, {"attn": torch.rand(2, 2).softmax(-1), "tokens": ["a", "b"]}),
        (attnviz.load_recording, {}), (attnviz.load_trace, {}), (attnviz.load, {"model": "x.npz"}),
        (attnviz.mean_contexts, {"model": models["translator"], "traces": [trace]}),
        (attnviz.save, {"made": trace, "path": "x.npz"}),
        (attnviz.views.heatmap, {"trace": trace, "kind": "cross"}),
        (attnviz.views.links, {"trace": trace, "kind": "cross"}),
        (attnviz.views.whole_model, {"trace": trace, "kind": "cross"}),
    ):  # fmt: skip
        must_say_it(function, good)


@each_case("kind", ["translator", "bert", "gpt2", "bart", "toy"])
def test_a_single_head_and_a_single_intervention_are_what_lists_of_one_are(models, traces, kind):
    place = traces[kind].kinds[-1]
    off = attnviz.ablate(place, layer=0, heads=1)
    assert off == attnviz.ablate(place, layer=0, heads=[1])
    arguments = {"text": TEXTS.get(kind, "I love you."), **({"to": "fr"} if kind == "translator" else {})}
    one, several = (models[kind].trace(**arguments, interventions=each) for each in (off, [off]))
    assert one.interventions == several.interventions == (off,)
    assert torch.equal(one.attn(place), several.attn(place))


def test_traces_and_steps_are_themselves_and_no_other(models, traces):
    for trace in (*traces.values(), attnviz.from_tensors(torch.eye(2), ["a", "b"])):
        others = [each for each in traces.values() if each is not trace]
        assert all(trace != each for each in others)
        assert trace in {trace, *others}
    one, other = (next(models["translator"].stepwise("I love you.", to="fr")) for _ in range(2))
    assert one != other
    assert len({one, one, other}) == 2
    assert len(repr(one)) < 200
    assert one.trace.call("cross", 0) != other.trace.call("cross", 0)


@pytest.mark.parametrize(("kind", "new_tokens"), [("gpt2", -1), ("toy", -1)])
def test_fewer_tokens_than_none_are_not_written(models, kind, new_tokens):
    for ask in (models[kind].trace, models[kind].stepwise):
        with pytest.raises(ValueError, match="new_tokens"):
            list(ask(TEXTS.get(kind, "I love you."), new_tokens=new_tokens))


def test_a_decoding_ends_at_max_tokens_whatever_writes(models):
    prompt = len(list(models["gpt2"].stepwise("I love you.", new_tokens=1)))
    assert len(list(models["gpt2"].stepwise("I love you.", max_tokens=2))) == prompt + 1
    assert len(list(models["bart"].stepwise("I love you.", max_tokens=2))) == 2
    with pytest.raises(ValueError, match="room for at least 1 token, not 0"):
        models["bart"].stepwise("I love you.", max_tokens=0)
