"""Each rule, fill, measure and word that stops a student, by name on its page: pointed at, it says what it means."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from attnviz.text.glossary import HEADS, MASKS, words_of

SRC = "src=I+love+you&to=fr"
# The page, what follows in its address, and the words that are asked there.
TOLD = (
    ("Masks", "&masks=causal", ("wait-k", "dilated", "prefix", "To paint", "Site", "Layer", "Head", "Fill")),
    ("Heads", "", ("Model", "To", "Target", "Heads", "Whole model", "Neuron")),
    ("Anatomy", "&layout=batch_first", ("contig.", "strides", "Shape walk", "Memory order", "Claims", "Layer", "Head")),
    ("Implementations", "", ("Agreement", "Time and memory", "Cabinet of bugs", "Site", "parameters")),
    ("", "", ("three kinds of attention", "attention map", "To", "forward")),
)


HOLD = """(node) => node.dispatchEvent(new PointerEvent("pointerdown",
  { bubbles: true, composed: true, pointerType: "touch" }))"""

# The corner of a term's first line: a term of several words may start at the end of one line and end on the next.
FIRST_LINE = "(node) => { const box = node.getClientRects()[0]; return [box.left, box.top]; }"


def bubble(page: Page) -> Locator:
    return page.locator(".definitions:popover-open")


def asked(page: Page, word: str) -> Locator:
    """Where a word stands: a marked term, a button, or a field's label."""
    label = page.locator("[data-testid=stWidgetLabel]:visible").filter(has_text=re.compile(rf"^{re.escape(word)}\b"))
    button = page.locator("button:visible").filter(has=page.get_by_text(word, exact=True))
    tool = page.get_by_role("button", name=word, exact=True)
    return page.locator(f'[data-term="{word}"]:visible').or_(button).or_(tool).or_(label).first


@pytest.mark.parametrize(("title", "link", "words"), TOLD, ids=[title or "welcome" for title, _, _ in TOLD])
def test_a_word_says_what_it_means(page: Page, settled, title: str, link: str, words: tuple[str, ...]) -> None:
    page.goto(f"/{title.lower()}?{SRC}{link}")
    settled(page)
    for word in words:
        where = asked(page, word)
        where.scroll_into_view_if_needed()
        x, y = where.evaluate(FIRST_LINE)
        page.mouse.move(x + 4, y + 4)
        expect(bubble(page).locator("p")).to_have_text(words_of(title)[word])
        page.mouse.move(700, 5)
        expect(bubble(page)).to_have_count(0)


def test_a_fill_in_the_open_list_says_what_it_means(page: Page, settled) -> None:
    page.goto(f"/masks?{SRC}")
    settled(page)
    page.locator(".st-key-pick-fill input").click()
    for fill in ("finfo.min", "−1e9 (masked_fill)"):
        page.get_by_role("option", name=fill, exact=True).hover()
        expect(bubble(page).locator("p")).to_have_text(MASKS[fill])


@pytest.mark.parametrize(
    ("tab", "words"),
    [
        ("heads", ("Sort", "Mask", "Switch off", "Options")),
        ("links", ("Read", "Fit")),
        ("model", ("Maps", "Lines")),
        ("alignment", ("AER", "No source", "By hand")),
        ("flow&by=rollout", ("ALTI", "Residual share", "Measured share")),
    ],
)
def test_a_control_of_the_heads_page_says_what_it_means(page: Page, settled, tab: str, words: tuple[str, ...]) -> None:
    page.goto(f"/heads?{SRC}&tab={tab}")
    settled(page)
    tip = page.locator(".avz .definition:popover-open")
    for word in words:
        page.locator(f'.avz [data-term="{word}"]').first.hover()
        expect(tip).to_contain_text(HEADS[word])
    expect(bubble(page)).to_have_count(0)


def test_what_is_chosen_in_a_list_is_explained_with_it(page: Page, settled) -> None:
    page.goto(f"/heads?{SRC}&sort=eos_mass&specials=renormalise")
    settled(page)
    tip = page.locator(".avz .definition:popover-open")
    page.locator('.avz [data-term="Sort"]').hover()
    expect(tip).to_contain_text(HEADS["<eos> mass"])
    page.locator("summary", has_text="Options").click()
    page.locator('.avz [data-term="Specials"]').hover()
    expect(tip).to_contain_text(HEADS["Renormalised"])


def test_a_field_is_explained_when_the_tab_key_comes_to_it_and_not_while_it_is_typed_into(page: Page, settled) -> None:
    page.goto(f"/heads?{SRC}")
    settled(page)
    page.get_by_label("Source sentence").click()
    expect(bubble(page)).to_have_count(0)
    page.keyboard.press("Tab")
    expect(bubble(page).locator("p")).to_have_text(words_of("Heads")["To"])
    page.keyboard.press("Tab")
    expect(bubble(page).locator("p")).to_have_text(words_of("Heads")["Target"])
    page.keyboard.type("je")
    expect(bubble(page)).to_have_count(0)


def test_on_another_page_a_word_has_that_pages_meaning_and_one_bubble(page: Page, settled) -> None:
    page.goto(f"/masks?{SRC}")
    settled(page)
    page.get_by_role("link", name="Anatomy").first.click()
    expect(page.get_by_text("Shape walk", exact=True)).to_be_visible()
    settled(page)
    page.get_by_text("Shape walk", exact=True).hover()
    expect(bubble(page).locator("p")).to_have_text(words_of("Anatomy")["Shape walk"])
    expect(page.locator(".definitions")).to_have_count(1)


def test_a_finger_that_rests_on_a_button_asks_and_one_that_taps_it_presses(visitor, settled) -> None:
    page = visitor(viewport={"width": 390, "height": 844}, has_touch=True).new_page()
    page.goto(f"/masks?{SRC}")
    settled(page)
    rule = page.get_by_test_id("stButtonGroup").get_by_text("wait-k", exact=True)
    rule.tap()
    page.wait_for_timeout(700)
    expect(bubble(page)).to_have_count(0)
    expect(page).to_have_url(re.compile("masks=[^&]*wait-k"))
    settled(page)
    rule.evaluate(HOLD)
    expect(bubble(page).locator("p")).to_have_text(MASKS["wait-k"])


def test_an_unchanged_answer_does_not_send_the_words_again(page: Page, settled) -> None:
    sent: list[bytes | str] = []
    page.on("websocket", lambda socket: socket.on("framereceived", lambda frame: sent.append(frame)))
    page.goto(f"/masks?{SRC}")
    settled(page)
    words = MASKS["dilated"].encode()
    assert any(words in _bytes(frame) for frame in sent)
    sent.clear()
    page.get_by_role("button", name="Run", exact=True).click()
    page.wait_for_timeout(500)
    settled(page)
    assert sent
    assert not any(words in _bytes(frame) for frame in sent)


def _bytes(frame: bytes | str) -> bytes:
    return frame if isinstance(frame, bytes) else frame.encode()
