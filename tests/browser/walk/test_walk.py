"""Every control that a page has, alone and at random, by several visitors at once: nothing breaks, and what is shown
belongs to what is in the bar. `make walk` runs these tests.
"""

import os
import random
from pathlib import Path

import pytest

from tests.browser.walk.acts import LONG, STRANGE, Act
from tests.browser.walk.conftest import SEED, Ground
from tests.browser.walk.routes import Alone, walk_at_random
from tests.browser.walk.sentences import TYPED
from tests.browser.walk.visitor import Visitor, together

STEPS = int(os.environ.get("ATTNVIZ_WALK_STEPS", "400"))
FEWER = 4  # steps by dice of the visitor who begins at Learning, where a step may train
SCRIPT = os.environ.get("ATTNVIZ_WALK_SCRIPT", "")
PAGES = ("", "heads", "masks", "decoding", "causes", "anatomy", "implementations")
LEARNING = "learning"
WITHOUT_MODEL = (LEARNING, "lessons")


def _alone(visitor: Visitor, addresses: list[str]) -> Alone:
    texts = (*TYPED[visitor.who][:1], STRANGE, LONG, "")
    return Alone(visitor, tuple(addresses), ("/implementations",), texts, most=6, compared=8)


def _walk_at_random(visitor: Visitor, start: str, *, steps: int):
    dice = random.Random(SEED + visitor.who)
    return walk_at_random(visitor, dice=dice, steps=steps, texts=(*TYPED[visitor.who], STRANGE, ""), start=start)


@pytest.mark.parametrize("model", ["translator", "encoder", "decoder"])
def test_every_control_works_on_every_model(ground: Ground, model: str) -> None:
    name = {"encoder": ground.encoder, "decoder": ground.decoder}.get(model, "")
    more = WITHOUT_MODEL if model == "translator" else ()  # they ask no model
    halves = (ground.visitor(), PAGES[:3]), (ground.visitor(), (*PAGES[3:], *more))
    walks = {}
    for visitor, pages in halves:
        walks[visitor] = visitor.walk(_alone(visitor, [ground.link_to(page, name) for page in pages]))
    together(walks)


def test_a_long_walk_at_random_by_a_visitor_of_each_kind_of_model(ground: Ground) -> None:
    links = (
        ground.link_to("heads"),
        ground.link_to("masks", ground.encoder),
        ground.link_to("decoding", ground.decoder),
    )
    starts = {ground.visitor(): (link, STEPS) for link in links}
    starts[ground.visitor()] = (ground.link_to(LEARNING), FEWER)
    together({one: one.walk(_walk_at_random(one, start, steps=steps)) for one, (start, steps) in starts.items()})


@pytest.mark.skipif(not SCRIPT, reason="a script of a walk before, ATTNVIZ_WALK_SCRIPT, is walked again")
def test_a_walk_again(ground: Ground) -> None:
    lines = [line.split(" ", 1) for line in Path(SCRIPT).read_text(encoding="utf-8").splitlines()]
    acts = [(who, Act.from_json(act)) for who, act in lines]
    visitors: dict[str, Visitor] = {}
    for who, act in acts:
        visitor = visitors.get(who) or visitors.setdefault(who, ground.visitor())
        together({visitor: visitor.walk([act])})
