"""Alignment and Flow as a visitor has them: ways that are chosen, files to take along, a row followed back."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from attnviz.analysis.contributions import alti, rollout
from attnviz.analysis.residual import residual_maps
from attnviz.heads.alignment.numbers.gold import gold_pairs
from attnviz.heads.alignment.numbers.word_alignment import alignment_error, attribution_scores, word_links
from attnviz.models import catalogue
from tests.browser.heads.tabs import LINK, chosen_view, open_tab

SHARES = "(nodes) => nodes.map(({ dataset }) => [dataset.text, Number(dataset.at), Number(dataset.share)])"
GOLD = gold_pairs("fr")[3]


@pytest.fixture(scope="module")
def model():
    return catalogue.translator()


def test_a_sentence_with_links_by_hand_is_aligned_as_python_aligns_it(
    page: Page, settle, model, tmp_path: Path
) -> None:
    trace = model.trace(GOLD.src_text, to="fr", tgt_text=GOLD.tgt_text)
    links = word_links(attribution_scores(residual_maps(model, trace), trace, layer=1), trace)
    gold = GOLD.links(trace)
    picture = open_tab(page, settle, f"/heads?src={GOLD.src_text}&to=fr&tgt={GOLD.tgt_text}&tab=alignment")
    assert chosen_view(picture)["way"] == "attribution.1.all.out", "the best that is known"
    error = alignment_error(links, gold.sure, gold.possible)
    expect(picture).to_contain_text(f"alignment error of this sentence {error:.3f}")
    picture.locator("summary", has_text="Export").click()
    with page.expect_download() as download:
        picture.get_by_role("menuitem", name="Pharaoh links").click()
    download.value.save_as(tmp_path / "links.pharaoh")
    pairs = (tmp_path / "links.pharaoh").read_text().split()
    assert {tuple(map(int, pair.split("-"))) for pair in pairs} == links
    picture.get_by_role("button", name="Here").click()
    expect(picture.get_by_role("columnheader", name="Here")).to_have_attribute("aria-sort", "ascending")
    ways = picture.locator("[data-way]")
    expect(ways).to_have_count(7)  # the first six, and the one that is drawn
    picture.get_by_role("button", name=re.compile("All .* ways")).click()
    assert ways.count() > 40
    picture.locator("[data-way='head.0.0.in']").click()
    expect(picture.locator("h2").first).to_have_text("Words by one head L0 H0, word in")
    expect(page).to_have_url(re.compile("aligner=head.0.0.in"))
    settle(page)
    picture.locator(".align-body").focus()
    page.keyboard.press("ArrowRight")
    assert picture.evaluate("(root) => root.attnviz.active") == ["tgt", 0]
    picture.get_by_role("button", name="Matrix").click()
    expect(page).to_have_url(re.compile("drawn=matrix"))


def test_a_row_that_is_clicked_is_followed_back_to_rollouts_shares(page: Page, settle, model) -> None:
    trace = model.trace("I love you.", to="fr", tgt_text="Je t'aime.")
    picture = open_tab(page, settle, f"{LINK}&tab=flow")
    assert chosen_view(picture)["by"] == "alti", "the lowest error of its ways"
    expect(picture).to_contain_text("Flow starts with ALTI")
    picture.get_by_role("button", name="Rollout").click()
    expect(page).to_have_url(re.compile("by=rollout"))
    settle(page)

    def token_shares() -> dict[tuple[str, int], float]:
        return {(text, at): share for text, at, share in picture.locator(".share-list li").evaluate_all(SHARES)}

    picture.locator("[data-row='1']").click()
    expected = rollout(trace)
    for (text, at), share in token_shares().items():
        assert share == pytest.approx(float(getattr(expected, text)[1, at]), abs=1e-6)
    page.keyboard.press("ArrowDown")
    assert chosen_view(picture)["row"] == 2
    picture.locator(".residual .link").click()
    measured = chosen_view(picture)["residual"]
    assert measured > 60, "rollout's half is not what is measured"
    expected = rollout(trace, residual=measured / 100)
    for (text, at), share in token_shares().items():
        assert share == pytest.approx(float(getattr(expected, text)[2, at]), abs=1e-6)
    expect(page).to_have_url(re.compile(f"residual={measured}"))
    picture.get_by_role("button", name="ALTI").click()
    expect(picture.locator("h2").nth(1)).to_contain_text("ALTI")
    expected = alti(residual_maps(model, trace), trace)
    for (text, at), share in token_shares().items():
        assert share == pytest.approx(float(getattr(expected, text)[2, at]), abs=1e-5)
    picture.get_by_role("button", name="Max flow").click()
    expect(picture).to_contain_text("These are not shares: they sum to")


def test_flow_and_the_other_tabs_have_one_pinned_row(page: Page, settle) -> None:
    picture = open_tab(page, settle, f"{LINK}&tab=flow&followed=3&row=1")
    assert chosen_view(picture)["row"] == 3, "a link that names it"
    picture.locator("[data-row='2']").click()
    page.wait_for_url("**row=2**")
    settle(page)
    page.get_by_role("radio", name="Heads", exact=True).or_(
        page.get_by_role("button", name="Heads", exact=True)
    ).first.click()
    expect(page.locator(".bars-row")).to_contain_text("looks at")
    heads = page.locator("[data-attnviz-painted]")
    assert chosen_view(heads)["row"] == 2
    page.locator(".bars-row").click()  # the keys are the picture's, and no longer the tab's
    page.keyboard.press("k")
    page.wait_for_url("**row=1**")
    settle(page)
    page.get_by_role("radio", name="Flow", exact=True).or_(
        page.get_by_role("button", name="Flow", exact=True)
    ).first.click()
    expect(page.locator(".flow-row[aria-selected=true]")).to_have_attribute("data-row", "1")
