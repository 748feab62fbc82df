"""One model serves every visitor: a thread gets the same result among others as alone."""

import logging
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
import torch
from transformers.utils.logging import is_progress_bar_enabled

from attnviz.models.huggingface import load
from attnviz.tracing.causes.edits import Edit, Edits
from attnviz.transformer.probe import Site
from tests.each_case import each_case
from tests.models.huggingface import architectures, checkpoints
from tests.models.huggingface.checkpoints import PAIRS, Recipe
from tests.models.huggingface.tokenizers_made import bos_pieces

TEXTS = ("A cat sat.", "The quick brown fox jumps over the lazy dog.", "Where is the station?", "It sleeps on. " * 3)
THREADS, ROUNDS = 4, 5
ABLATION = Edits(((Edit(Site("decoder_self", 0), "context", "zero", heads=(1,)),),))


def maps(trace):
    """Collect everything that could have been mixed up."""
    found = [trace.attn(kind) for kind in trace.kinds]
    return [*found, *(trace.layers[key] for key in sorted(trace.layers)), trace.logits]


def run(model, text):
    arguments = {"tgt_text": "I love you."} if model.name in PAIRS else {}
    return maps(model.trace(text, **arguments))


@pytest.fixture(scope="module")
def watched(tmp_path_factory):
    """Load BLOOM, whose softmax is watched in each pass."""
    folder = architectures.ALL["bloom"](tmp_path_factory.mktemp("threads") / "bloom")
    return load(folder, device=torch.device("cpu"), dtype=torch.float32)


@each_case("name", ["bert", "albert", "gpt2", "mistral", "marian", "t5", "bloom"])
def test_threads_with_sentences_of_their_own(name, model, watched):
    model = {"bloom": watched}.get if name == "bloom" else model
    alone = {text: run(model(name), text) for text in TEXTS}
    together = Barrier(THREADS)

    def visit(text):
        together.wait(10)
        return [(text, run(model(name), text)) for _ in range(ROUNDS)]

    with ThreadPoolExecutor(THREADS) as threads:
        runs = [each for visits in threads.map(visit, TEXTS) for each in visits]
    assert len(runs) == THREADS * ROUNDS
    for text, found in runs:
        for here, expected in zip(found, alone[text], strict=True):
            assert torch.equal(here, expected)


def test_a_pass_writes_no_frequencies_into_the_module_that_other_passes_share(tmp_path):
    """A Phi-3 made for longer texts has other frequencies for those: transformers writes them where all passes read."""
    model = load(_long_context_model(tmp_path), device=torch.device("cpu"), dtype=torch.float32)
    own = checkpoints.reference(tmp_path)  # fresh, and asked for one text only
    long, short = "The quick brown fox jumps over the lazy dog. " * 8, "It sleeps on."
    expected = own(_ids(model, short), output_attentions=True).attentions

    def maps():
        return model.trace(short, new_tokens=0, logits=False).attn("decoder_self")

    model.trace(long, new_tokens=0, logits=False)
    assert torch.allclose(maps(), torch.cat(expected), atol=1e-4)
    (rotary,) = (module for module in model.network.model.modules() if hasattr(module, "rope_type"))
    buffers = {name: buffer.clone() for name, buffer in rotary.named_buffers()}
    model.trace(long, new_tokens=0, logits=False)
    assert all(torch.equal(buffer, buffers[name]) for name, buffer in rotary.named_buffers())


def _long_context_model(folder):
    """Make a Phi-3 that was made for 16 tokens."""
    rope = {"rope_type": "longrope", "rope_theta": 10000.0, "original_max_position_embeddings": 16}
    rope |= {"short_factor": [1.0] * 7, "long_factor": [4.0] * 7}
    sizes = checkpoints.DECODERS["mistral"].sizes | {"hidden_size": 84, "head_dim": None, "sliding_window": None}
    sizes |= {"max_position_embeddings": 200, "original_max_position_embeddings": 16, "rope_parameters": rope}
    return checkpoints.save(folder, Recipe("Phi3ForCausalLM", "Phi3Config", sizes, bos_pieces))


def _ids(model, text):
    return torch.tensor([[token.id for token in model.text.encode(text).tokens]])


def test_one_visitor_ablates_and_another_sees_nothing_of_it(model):
    trace = model("gpt2").trace(TEXTS[1])
    ablated = model("gpt2").rerun(trace, ABLATION).logits
    assert not torch.equal(ablated, trace.logits)
    together = Barrier(2)

    def visit(probe):
        together.wait(10)
        return [model("gpt2").rerun(trace, probe).logits for _ in range(3 * ROUNDS)]

    with ThreadPoolExecutor(2) as threads:
        changed, plain = threads.map(visit, (ABLATION, None))
    assert all(torch.equal(logits, ablated) for logits in changed)
    assert all(torch.equal(logits, trace.logits) for logits in plain)


def test_two_who_step_side_by_side_have_caches_of_their_own(model):
    def written_ids(text):
        return [step.token.id for step in model("llama").stepwise(text, new_tokens=5)]

    alone = list(map(written_ids, TEXTS[:2]))
    pairs = zip(*(model("llama").stepwise(text, new_tokens=5) for text in TEXTS[:1] * 2), strict=True)
    assert [(one.token.id, other.token.id) for one, other in pairs] == list(zip(alone[0], alone[0], strict=True))
    with ThreadPoolExecutor(2) as threads:
        assert list(threads.map(written_ids, TEXTS[:2])) == alone


def test_models_asked_for_at_once_are_loaded_and_the_messages_of_transformers_left_as_they_were(checkpoint):
    logger = logging.getLogger("transformers")
    before = logger.level, is_progress_bar_enabled()  # transformers itself cannot load two at once

    def read(name):
        return load(checkpoint(name), device=torch.device("cpu"), dtype=torch.float32)

    names = ["gpt2", "bert", "albert"]
    list(map(checkpoint, names))
    with ThreadPoolExecutor(3) as threads:
        assert len(list(threads.map(read, names))) == 3
    assert (logger.level, is_progress_bar_enabled()) == before
