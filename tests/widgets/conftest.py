"""What a joined script gives, in a browser."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

_RUN = """async ([text, act]) => {
  const script = await import(URL.createObjectURL(new Blob([text], { type: "text/javascript" })));
  return eval(act)(script);
}"""


@pytest.fixture
def run(browser) -> Iterator[Callable[[str, str], Any]]:
    """`run(script, act)`: what the function `act` gives for the module whose text is `script`."""
    page = browser.new_page()
    page.goto("about:blank")
    yield lambda script, act: page.evaluate(_RUN, [script, act])
    page.close()
