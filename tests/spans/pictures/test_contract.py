"""Every picture whose axes are tokens shows who speaks, on a page without Streamlit."""

import re
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, expect

from attnviz.causes.compared.compared import Side
from attnviz.hosts.registry import picture
from attnviz.kit.bundle import source
from attnviz.tracing.trace import Trace
from tests.each_case import each_case
from tests.heads.component.heads_page import NEEDS_A_BROWSER
from tests.kit.bare_page import BarePage
from tests.spans.pictures.conftest import MESSAGES

pytestmark = NEEDS_A_BROWSER
KIND = {"kind": "decoder_self"}
SHOWN = {
    "heads": KIND,
    "links": KIND | {"heads": ((0, 1),)},
    "one_row": KIND | {"row": 30},
    "whole_model": KIND,
    "mask_lab": {"rules": (("causal", ()),), **KIND},
    "stepper": {},
    "attribution": {},
    "patching": {},
    "compared": KIND,
}
OF_RUNS = ("mask_lab", "attribution")
USER = "rgb(12,122,112)"  # the line of a user's band, as spans.css has it
# Names that have room: where several small maps are beside each other, and in a file's logit lens, none.
NAMED = {"stepper": set(), "compared": set(), "attribution": set()}
UNNAMED_TOKENS = ("whole_model", "patching")  # too small for the tokens' names, and so for italics
ROLES = {"system", "user", "assistant"}


def subject_of(name: str, model: Any, trace: Trace) -> tuple:
    if name == "stepper":
        return (model,)
    if name == "patching":
        return (model, trace, trace_other(model))
    if name == "compared":
        return (Side("one", model, trace), Side("other", model, trace_other(model)))
    return (model, trace) if name in OF_RUNS else (trace,)


def trace_other(model: Any) -> Trace:
    return model.trace(messages=[*MESSAGES[:3], {"role": "user", "content": "a dog"}], new_tokens=3)


def attach(page: Page, name: str, subject: tuple, asked: dict) -> BarePage:
    shown = picture(name).of(*subject, **asked)
    bare = BarePage(page, source(shown.picture.drawn_by), shown.payload())
    bare.attach()
    return bare


def saved_svg(bare: BarePage) -> str:
    bare.page.locator("#place summary", has_text="Export").click()
    with bare.page.expect_download() as saved:
        bare.page.locator("#place").get_by_role("menuitem", name="SVG picture").click()
    return Path(saved.value.path()).read_text(encoding="utf-8")


@each_case("name", SHOWN)
def test_a_conversation_has_its_roles_written_and_its_template_in_italics(
    empty_page: Page, chat_model, conversation, name: str
) -> None:
    asked = SHOWN[name] | ({"messages": MESSAGES, "new_tokens": 3} if name == "stepper" else {})
    svg = saved_svg(attach(empty_page, name, subject_of(name, chat_model, conversation), asked))
    assert name == "attribution" or USER in svg
    written = re.findall(r">(\w{3,})[…]?</text>", svg)  # a name is cut where its band is short
    named = {role for role in ROLES for text in written if role.startswith(text)}
    if name == "whole_model":  # whose bands are too small for names
        assert "bands along both sides, in order: system, user, assistant, user 2, assistant 2" in svg
    else:
        assert named >= NAMED.get(name, ROLES)
        assert name in UNNAMED_TOKENS or 'font-style="italic"' in svg


def test_a_logit_lens_names_the_turns_above_its_tokens(empty_page: Page, chat_model, conversation) -> None:
    bare = attach(empty_page, "attribution", (chat_model, conversation), {})
    names = bare.page.locator("#place .lens th .span-name")
    assert names.all_text_contents() == [span.name for span in conversation.sentences[0].spans]


def test_a_row_and_its_keys_are_read_out_with_their_roles(empty_page: Page, conversation) -> None:
    user = next(span for span in conversation.sentences[0].spans if span.name == "user 2")
    bare = attach(empty_page, "heads", (conversation,), {**KIND, "row": user.start})
    said = bare.page.locator("#place canvas.map").get_attribute("aria-label")
    assert said
    assert re.search(r"Row .* \(user 2\) looks at .*\((system|user|assistant|chat template)\) \d", said)


def test_fold_is_offered_for_a_conversation_and_told_to_the_host(empty_page: Page, conversation) -> None:
    bare = attach(empty_page, "heads", (conversation,), KIND)
    bare.page.locator("#place summary", has_text="Options").click()
    fold = bare.page.locator("#place").get_by_role("button", name="Fold")
    expect(fold).to_have_attribute("aria-pressed", "false")
    fold.click()
    assert bare.reports()[-1][1]["words"] == "spans"
    expect(fold).to_have_attribute("aria-pressed", "true")
    fold.click()
    assert bare.reports()[-1][1]["words"] is False


def test_a_text_without_turns_has_no_fold_and_no_bands(empty_page: Page, chat_model) -> None:
    bare = attach(empty_page, "heads", (chat_model.trace("the cat sat"),), KIND)
    expect(bare.page.locator("#place .span-name")).to_have_count(0)
    svg = saved_svg(bare)
    assert 'font-style="italic"' not in svg
    assert "who speaks" not in svg
    bare.page.locator("#place summary", has_text="Options").click()
    expect(bare.page.locator("#place").get_by_role("button", name="Fold")).to_have_count(0)
