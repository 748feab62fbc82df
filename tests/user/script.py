"""Thirty lines of a user."""

from pathlib import Path

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


if __name__ == "__main__":
    main(Path("out"))
