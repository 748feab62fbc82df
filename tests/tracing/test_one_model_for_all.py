"""Many sentences on one model: in one batch, in eight threads at once, and nothing left behind on it."""

from concurrent.futures import ThreadPoolExecutor

import torch

from attnviz.models.translator.generate import pad_ids
from attnviz.text.tokens import Token
from attnviz.tracing.record import Sentence
from attnviz.tracing.recorder import Recorder
from attnviz.tracing.trace import Trace
from attnviz.transformer.layers import ForwardContext
from attnviz.transformer.probe import Site


def test_a_batch_keeps_items_apart(model):
    texts = ("I love you", "A big red dog jumped")
    encoded = [model.codec.encode_source(text) for text in texts]
    src = pad_ids([e.ids for e in encoded], model.codec.pad_id)
    recorder = Recorder()
    memory = model.model.encode(src, model.model.src_mask(src), ForwardContext(recorder))
    tokens = [(*e.tokens, *(Token("<pad>", 0, 0, 0, True),) * (src.shape[1] - len(e.ids))) for e in encoded]
    batch = Trace.from_recorder(recorder, [Sentence(src=row) for row in tokens], memory=memory)
    for item, text in enumerate(texts):
        alone, n = model.trace(text, to="fr", tgt_text="un"), len(encoded[item].ids)
        torch.testing.assert_close(
            batch.attn("encoder_self", item=item)[..., :n, :n], alone.attn("encoder_self"), rtol=1e-5, atol=1e-6
        )
        assert (batch.attn("encoder_self", item=item)[..., n:] == 0).all()
        assert not batch.mask("encoder_self", item=item)[:, n:].any()


def test_eight_threads_on_one_model_get_what_each_gets_alone(model):
    texts = [" ".join(["dog", "love", "red", "pond"][i % 4] for i in range(n, 2 * n + 3)) for n in range(8)]
    alone = [model.trace(text, to="zh", tgt_text="我爱你" * (1 + n % 3)) for n, text in enumerate(texts)]

    def run(n: int) -> list[Trace]:
        return [model.trace(texts[n], to="zh", tgt_text="我爱你" * (1 + n % 3)) for _ in range(5)]

    with ThreadPoolExecutor(8) as pool:
        for expected, traces in zip(alone, pool.map(run, range(8)), strict=True):
            for trace in traces:
                assert trace.sentences == expected.sentences
                for kind in trace.kinds:
                    assert torch.equal(trace.attn(kind), expected.attn(kind))


def test_the_module_keeps_nothing_of_a_run(model, trace):
    assert not any(hasattr(module, "attn") for module in model.model.modules())
    assert not model.model.training
    assert Site("cross", 0) in trace.calls
