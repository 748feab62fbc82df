"""Whole model, Neuron and a visitor's own tensors in a browser; no tab's panes overlap."""

import re
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from attnviz.models import catalogue
from tests.browser.heads.tabs import LINK, chosen_view, open_tab

STEPS = "(nodes) => Object.fromEntries(nodes.map((node) => [node.dataset.step, Number(node.dataset.value)]))"


@pytest.fixture(scope="module")
def trace():
    return catalogue.translator().trace("I love you.", to="fr", tgt_text="Je t'aime.")


def test_a_click_in_the_whole_model_opens_that_head(page: Page, settle) -> None:
    picture = open_tab(page, settle, f"{LINK}&tab=model")
    expect(picture.get_by_role("gridcell")).to_have_count(24)
    picture.get_by_role("button", name="Lines").click()
    assert chosen_view(picture)["mini"] == "lines"
    picture.get_by_role("gridcell", name="L2 H4").click()
    expect(page.locator("[data-attnviz-painted]")).to_contain_text("Cross-attention, L2 H4")
    expect(page).to_have_url(re.compile("tab=heads|^(?!.*tab=)"))
    assert "layer=2" in page.url


def test_the_neuron_numbers_are_those_of_the_trace(page: Page, settle, trace) -> None:
    picture = open_tab(page, settle, f"{LINK}&tab=neuron&row=2&key=1&order=contribution")
    call = trace.call("cross", 1)
    query, key = call.query[0, 3, 2].double().numpy(), call.key[0, 3, 1].double().numpy()
    steps = picture.locator("[data-step]").evaluate_all(STEPS)
    assert steps["dot"] == pytest.approx(float(query @ key), abs=1e-5)
    assert steps["scaled"] == pytest.approx(float(trace.scores("cross", layer=1, head=3)[2, 1]), abs=1e-5)
    assert steps["weight"] == pytest.approx(float(trace.attn("cross", layer=1, head=3)[2, 1]), abs=1e-6)
    order = picture.evaluate("(root) => [...root.attnviz.pair.order]")
    assert order == np.argsort(-(query * key), kind="stable").tolist()
    texts = picture.locator(".option-weight").all_inner_texts()
    row = [0.0 if text == "<0.0001" else float(text) for text in texts]
    assert row == pytest.approx(trace.attn("cross", layer=1, head=3)[2].tolist(), abs=6e-5)
    picture.get_by_role("option").filter(has_text="love").click()
    picture.get_by_label("Head").select_option("5")
    expect(picture.locator("h2").nth(1)).to_contain_text("L1 H5")
    expect(page).to_have_url(re.compile("head=5"))


def test_a_file_of_ones_own_is_drawn_and_its_flaws_are_said(page: Page, settle, tmp_path: Path) -> None:
    open_tab(page, settle, f"{LINK}&tab=links")
    attn = np.full((2, 3, 4, 4), 0.25, np.float32)
    attn[1, 2, 3] = 0.5
    tokens = ["<img src=x onerror='window.hacked=1'>", "$x$", "مرحبا", "爱"]
    np.savez(tmp_path / "own.npz", attn=attn, tokens=np.array(tokens))
    page.get_by_role("button", name="Your own tensors").click()
    page.locator("input[type=file]").set_input_files(tmp_path / "own.npz")
    picture = page.locator("[data-attnviz-painted]")
    expect(picture.locator(".keys .link-token")).to_have_text(tokens)
    expect(page.get_by_text("1 of 24 rows of encoder_self do not sum to 1")).to_be_visible()
    assert page.evaluate("window.hacked") is None
    expect(page.locator(".status-bar")).to_contain_text("2 layers × 3 heads")


def test_the_whole_models_last_layer_is_not_cut_off(page: Page, settle) -> None:
    picture = open_tab(page, settle, f"{LINK}&tab=model")
    cut = picture.locator(".heads-body").evaluate(
        "(body) => body.querySelector('canvas').offsetHeight - body.clientHeight"
    )
    assert cut <= 0
