"""Documented calls, as a user writes them: an editor in strict mode finds no error."""

from pathlib import Path

import torch
import transformers

import attnviz


def main(folder: Path) -> None:
    model = attnviz.load()
    trace = model.trace("I love you.", to="fr")
    weights = trace.attn("cross", layer=2, head=5)
    rows = weights.shape[0]
    print(trace.kinds, rows, trace.tgt_text)
    for token in trace.query_tokens("cross"):
        print(token)
    table = trace.metrics("cross")
    print(table.shape)
    off = attnviz.ablate("cross", layer=1, heads=[2, 5])
    print(model.translate("I love you.", to="fr", interventions=[off]))
    trace.to_html(folder / "love.html", layer=2, head=5)
    links = attnviz.picture("links").of(trace, kind="cross")
    attnviz.page(["# Love", trace, links], folder / "page.html")
    attnviz.save(trace, folder / "love.npz")
    again = attnviz.load_trace(folder / "love.npz")
    print(again.kinds)
    widget = attnviz.show(trace, kind="cross")
    widget.head = ("cross", 1, 3)
    for step in model.stepwise("I love you.", to="fr"):
        print(step.attn("cross").shape)
    with attnviz.open(model, text="I love you.") as session:
        print(session.address)


def measure(trace: attnviz.Trace) -> None:
    subject, verb = attnviz.Span("subject", 1, 2), attnviz.Span("verb", 4, 5)
    shares = attnviz.span_shares(trace, [subject, verb])
    print(shares.names, shares.shares.shape, trace.mask("cross").shape, trace.scores("cross", layer=2).shape)
    print([token.text for token in trace.output_tokens("cross") or ()], trace.thumbnails("cross").dtype)
    print(trace.call("cross", 2).query.shape, trace.context("cross", 2).shape, trace.info.notes)
    trace.one_layer("cross", 2, 5).to_html("one.html")


def intervene(donor: attnviz.Trace) -> None:
    model = attnviz.load()
    means = attnviz.mean_contexts(model, [donor])
    done = [
        attnviz.patch(donor, "encoder", layer=2, what="layer"),
        attnviz.edit("encoder_self", [[0, 0, 1, 0, 0]], layer=0, rows=[1]),
        attnviz.exchange("cross", ["I", "you"], layer=2),
        attnviz.ablate("cross", layer=1, to=means),
    ]
    trace = model.trace("I love you.", to="fr", tgt_text="Je t'aime.", max_tokens=64, interventions=done)
    texts: list[str] = model.translate(["I love you.", "I hate you."], to="fr", batch=2)
    print(trace.tgt_text, texts, attnviz.Site("cross", 2) in trace.calls)


def talk(name: str) -> None:
    model = attnviz.load(name, device="cpu", dtype="float32")
    asked = [{"role": "user", "content": "What is the capital of France?"}]
    if model.has_chat:
        trace = model.trace(messages=asked, new_tokens=20, max_tokens=2_048, logits=False, hidden=False)
        print([(span.name, len(span)) for span in trace.sentences[0].spans])
        for step in model.reply(asked, new_tokens=20, temperature=0.7, top_p=0.9, seed=1):
            print(step.token.text, step.logits.shape)
        print(list(model.stepwise(messages=asked)))
    answer, question = attnviz.Span("answer", 8, 9), attnviz.Span("question", 1, 3)
    print(attnviz.hide_spans(model, model.trace("A text of your own.", new_tokens=3), answer, [question]))


def own(network: transformers.PreTrainedModel, tokenizer: transformers.PreTrainedTokenizerBase) -> None:
    model = attnviz.load(network, tokenizer)
    trace = model.trace("The cat sat.", "It was tired.")
    print(trace.attn("encoder_self", layer=0).shape, model.has_chat)
    weights = torch.rand(2, 3, 4, 4).softmax(-1)
    bare = attnviz.from_tensors(weights, ["a", "b", "c", "d"], attention_mask=[1, 1, 1, 1])
    print(bare.kinds, bare.shape("encoder_self"))
    attnviz.show.whole_model(bare, theme="dark").to_html("whole.html")


def learn(folder: Path) -> None:
    run = attnviz.learn("reverse", steps=60)
    attnviz.save(run, folder / "run.npz")
    toy = attnviz.load(run)
    print(attnviz.load_recording(folder / "run.npz").steps, toy.kinds, toy.trace("a b c").tgt_text)


if __name__ == "__main__":
    main(Path("out"))
