"""Pointer gestures on a picture; places are shares of its width and height."""

from playwright.sync_api import ElementHandle, Page


def spot(node: ElementHandle, share: tuple[float, float]) -> tuple[float, float]:
    """Return the place at these shares of its width and height. Raises LookupError for a node off the screen."""
    box = node.bounding_box()
    if not box:
        raise LookupError("it has no place on the screen")
    return box["x"] + share[0] * box["width"], box["y"] + share[1] * box["height"]


def point(page: Page, node: ElementHandle, share: tuple[float, float]) -> None:
    """Move there, and click."""
    page.mouse.move(*spot(node, share), steps=3)
    page.mouse.click(*spot(node, share))


def double(page: Page, node: ElementHandle, share: tuple[float, float]) -> None:
    """Click twice."""
    page.mouse.dblclick(*spot(node, share))


def drag(page: Page, node: ElementHandle, shares: tuple) -> None:
    """Drag from one place to the other, with the button held."""
    page.mouse.move(*spot(node, shares[0]))
    page.mouse.down()
    page.mouse.move(*spot(node, shares[1]), steps=4)
    page.mouse.up()


def wheel(page: Page, node: ElementHandle, share: tuple[float, float]) -> None:
    """Turn the wheel there, by a notch."""
    page.mouse.move(*spot(node, share))
    page.mouse.wheel(0, 120)
