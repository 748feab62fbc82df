"""What the pen writes is XML, and says the texts as they are."""

from xml.etree import ElementTree

import pytest

from tests.heads.component.heads_page import NEEDS_A_BROWSER

pytestmark = NEEDS_A_BROWSER

SVG = "{http://www.w3.org/2000/svg}"
THEME = {"font": 'Fira "Code", <b>', "ink": "rgb(1,2,3)", "hatch": "#999", "paper": "#fff"}
HOSTILE = [
    "<script>alert(1)</script>",
    "a & b &amp; c",
    "\"quoted' text",
    "]]>",
    "<!--",
    "\x00\x07\x0b\x1f",
    "\ufffe\uffff",
    "שלום",
    "🧑‍🚀",
    "tab\there",
    "  two  spaces ",
]


@pytest.fixture(scope="module")
def pen(module):
    return module("kit/js/pens/svg_pen.js")


def test_any_text_is_written_and_read_back(pen) -> None:
    act = """({ svgPen }, [theme, texts]) => {
      const pen = svgPen(theme);
      texts.forEach((text, i) => pen.text(text, 1.23456, 20 * i, { angle: i ? 0 : Math.PI / 2, align: "right" }));
      return pen.document(300, 200);
    }"""
    root = ElementTree.fromstring(pen(act, [THEME, HOSTILE]))
    texts = list(root.iter(f"{SVG}text"))
    assert [node.text for node in texts] == ["".join(readable(sign) for sign in text) for text in HOSTILE]
    assert root.get("font-family") == f"{THEME['font']}, sans-serif"
    assert texts[0].get("transform") == "translate(1.23,0) rotate(90)"
    assert texts[0].get("text-anchor") == "end"
    assert not list(root.iter(f"{SVG}script"))


def readable(sign: str) -> str:
    """XML has no way to write some signs."""
    return "\ufffd" if (ord(sign) < 32 and sign not in "\t\n\r") or sign in "\ufffe\uffff" else sign


def test_every_stroke_is_there(pen) -> None:
    act = """({ svgPen }, theme) => {
      const pen = svgPen(theme);
      pen.box(1, 2, 3, 4, { fill: "red", radius: 2 });
      pen.line(0, 0.333333, 10, 20, { stroke: "blue" });
      pen.image(new ImageData(2, 1), 5, 6, 7, 8);
      pen.hatch([[0, 0, 4, 2], [1, 1, 1, 1]]);
      return pen.document(30, 20, "<g/>");
    }"""
    root = ElementTree.fromstring(pen(act, THEME))
    paper, box = root.findall(f"{SVG}rect")
    assert paper.get("fill") == "#fff"
    assert [box.get(name) for name in ("x", "y", "width", "height", "fill", "stroke", "rx")] == [
        "1",
        "2",
        "3",
        "4",
        "red",
        "none",
        "2",
    ]
    line, hatch = root.findall(f"{SVG}path")
    assert line.get("d") == "M0 0.33L10 20"
    assert hatch.get("fill") == "url(#hatch)"
    assert root.find(f"{SVG}image").get("href").startswith("data:image/png;base64,")
    assert root.find(f"{SVG}g") is not None
    assert root.get("viewBox") == "0 0 30 20"
