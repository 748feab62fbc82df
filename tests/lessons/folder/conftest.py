"""A folder of lessons on the disk, and a browser's visit to it."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from attnviz.lessons.folder.files import folder_files, write_folder
from attnviz.lessons.library import SHIPPED
from attnviz.lessons.picture import pictures
from attnviz.lessons.reading import read_file
from attnviz.toys import shipped
from attnviz.toys.experiment import Experiment

# A step for each kind of question that the shipped lessons do not have, without a picture, and one for each widget.
OWN = """---
title: Eigene
minutes: 3
for: alle
language: de
---
## Frei

```question
kind: text
ask: Warum?
why: "<b>Darum</b>, *eben*."
```

## Getippt

[Bild](/heads?src=The+red+dog+sleeps.&to=fr&kind=cross&layer=2&head=4)

```question
kind: translation
ask: Was schreibt das Modell?
```

## Zwei Zellen

```question
kind: cell
ask: Welche?
row: "2"
most: 2
```

## Masken

[Bild](/masks?src=I+love+you.&to=fr&kind=decoder_self&layer=1&head=0&masks=causal)

## Lernen

[Bild](/learning?task=french&first=plain&second=none)

## Schritte

[Bild](/decoding?src=I+love+you.&to=fr)

## Ursachen

[Bild](/causes?src=I+love+you.&to=fr&tab=attribute)

## Geändert

[Bild](/decoding?src=I+love+you.&to=fr&do=off.cross.0.1)

## Vertauscht

[Bild](/causes?src=I+love+you.&to=fr&tab=patch&changed=I+love+him.)

## Mit Maske

[Bild](/causes?src=I+love+you.&to=fr&tab=compare&by=mask)

## Eine Aufzeichnung

[Bild](/learning?recording=run.npz)

## Dichtheit

[Bild](/masks?src=I+love+you.&to=fr&tab=leak&at=2)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Provide a folder with the first shipped lesson, and one of our own in German."""
    made = tmp_path_factory.mktemp("site") / "lessons"
    own = tmp_path_factory.mktemp("own") / "eigene.md"
    own.write_text(OWN, encoding="utf-8")
    shutil.copy(shipped.path(Experiment("reverse")), own.with_name("run.npz"))
    lessons = [read_file(next(SHIPPED.glob("1-*.md"))), read_file(own)]
    write_folder(folder_files(lessons, pictures(), instance="https://attnviz.example.org"), made)
    return made


@pytest.fixture
def visit(browser: Browser, folder: Path) -> Iterator[Callable[..., Page]]:
    """`visit(page, **options)` opens a page of the folder from the disk, for a new visitor.

    Nothing outside the folder may be asked for, and no script may raise.
    """
    contexts, asked, raised = [], [], []

    def open_page(page: str, **options: Any) -> Page:
        settings = {"viewport": {"width": 1280, "height": 800}, "color_scheme": "light", "accept_downloads": True}
        contexts.append(context := browser.new_context(**settings | options))
        opened = context.new_page()
        opened.on("request", lambda request: asked.append(request.url))
        opened.on("pageerror", lambda error: raised.append(str(error)))
        opened.goto(f"{folder.as_uri()}/{page}")
        return opened

    yield open_page
    for context in contexts:
        context.close()
    assert raised == []
    assert [url for url in asked if not url.startswith((folder.as_uri(), "blob:", "data:"))] == []
