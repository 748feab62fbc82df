"""The cost of an answer to the server, page by page: processor time, bytes, and the wait of a lone visitor."""

import json
import time
from collections.abc import Iterator
from itertools import islice
from statistics import median

from attnviz.kit.wire import unpack
from benchmarks import visitors
from benchmarks.instance import instance
from benchmarks.model import sentences_of, translator
from benchmarks.report import Row
from benchmarks.timing import processor_seconds
from tests.websocket.visitor import Shown, Visitor

PAGES = {
    "Heads": ("heads", {}),
    "Heads, links": ("heads", {"tab": "links"}),
    "Heads, whole model": ("heads", {"tab": "model"}),
    "Heads, neuron": ("heads", {"tab": "neuron"}),
    "Welcome": ("", {}),
    "Masks": ("masks", {}),
    "Decoding": ("decoding", {}),
    "Anatomy": ("anatomy", {}),
    "Implementations": ("implementations", {}),
}
SENTENCES, WARM_UP, HEADS, TOGETHER, SECONDS = 24, 4, 120, 8, 10
# Of Heads alone; the other pages are told for information.
_AIMS = {"new": 24.0, "cached": 12.0, "head": 5.0, "p50": 40.0, "received": 110.0}


def rows() -> Iterator[Row]:
    """Measure each page of a warm `attnviz serve` with sentences of 16 tokens in and out, then several visitors."""
    sentences = list(islice(sentences_of(16, to="fr"), SENTENCES + WARM_UP))
    yield Row("the model's own of a new sentence", _models_own(sentences), "ms")
    with instance(is_fair=False) as served:
        for name in PAGES:
            yield from _page(served.address, served.process, name, sentences)
        load = visitors.Load(TOGETHER, SECONDS)
        tally = visitors.run(served.address, load)
        yield Row(f"answers, {TOGETHER} visitors who do not think", len(tally.seconds) / SECONDS, "/s", 34, "at least")
        yield Row("of these another's, or errors", len(tally.foreign) + len(tally.errors), "", 0)


def _models_own(sentences: list[str]) -> float:
    """Measure the milliseconds of processor time in which the model alone translates and traces a sentence."""
    model, spent = translator(), []
    for sentence in sentences:
        before = time.process_time()
        model.trace(sentence, to="fr")
        spent.append(time.process_time() - before)
    return median(spent[WARM_UP:]) * 1e3


def _page(address: str, pid: int, name: str, sentences: list[str]) -> Iterator[Row]:
    page, query = PAGES[name]
    aims = _AIMS if name == "Heads" else {}
    marked = [f"{sentence[:-1]}, {len(name)}." for sentence in sentences]  # new on each page
    with Visitor(address) as visitor:
        visitor.open(page, {"src": "I love you.", "to": "fr", **query})
        for sentence in marked[:WARM_UP]:
            _type(visitor, sentence)
        new, cost = _type_all(visitor, pid, marked[WARM_UP:])
        yield Row(f"{name}: processor, a new sentence", cost, "ms", aims.get("new"))
        yield Row(f"{name}: a new sentence, p50", median(one.seconds for one in new) * 1e3, "ms", aims.get("p50"))
        received = median(one.received for one in new) / 1e3
        yield Row(f"{name}: an answer's size, p50", received, "kB", aims.get("received"))
        _, cost = _type_all(visitor, pid, marked[WARM_UP:])
        yield Row(f"{name}: processor, a sentence in the cache", cost, "ms", aims.get("cached"))
        if name == "Heads":
            yield Row(f"{name}: processor, another head", _choose_heads(visitor, pid), "ms", aims["head"])


def _type_all(visitor: Visitor, pid: int, sentences: list[str]) -> tuple[list[Shown], float]:
    """Type sentences; return their answers and the milliseconds of processor time that one took the server."""
    before = processor_seconds(pid)
    shown = [_type(visitor, sentence) for sentence in sentences]
    time.sleep(0.05)
    return shown, (processor_seconds(pid) - before) * 1e3 / len(sentences)


def _choose_heads(visitor: Visitor, pid: int) -> float:
    """Choose one head after another; return the milliseconds of processor time that one took the server."""
    view = unpack(visitor.shown.widgets["heads"][1].bytes).header["view"]
    before = processor_seconds(pid)
    for at in range(HEADS):
        chosen = view | {"layer": at // 4 % 3, "head": at % 4, "seq": view["seq"] + 1 + at}
        visitor.choose("heads", json_value=json.dumps({"view": chosen}))
    time.sleep(0.05)
    return (processor_seconds(pid) - before) * 1e3 / HEADS


def _type(visitor: Visitor, sentence: str) -> Shown:
    shown = visitor.send(visitor.state("src-shown", string_value=sentence))
    if shown.exceptions or shown.widgets["src-shown"][1].default == "":
        raise RuntimeError(f"“{sentence}” got no answer: {shown.exceptions}")
    return shown
