"""The top bar's input for a model that reads images: one of our examples, or an image of the visitor's.

A visitor's image stays in the server's memory for the visit. An address names it by its digest, which no other visitor
can open.
"""

import hashlib
from collections import OrderedDict
from itertools import count
from threading import Lock
from typing import Any

import streamlit as st

from attnviz.app import mount
from attnviz.app.address import persistent, widgets
from attnviz.app.frame.page import current_page
from attnviz.models.example_images import ALL_TITLES, offered_titles

NAME = "image"  # of the text in an address
_OWN = "own:"  # before the digest of a visitor's image
_MEGABYTES = 10  # of one file
_MOST_BYTES = 64_000_000  # of all visitors' files
_KINDS = ("png", "jpg", "jpeg", "webp", "gif", "bmp", "tif", "tiff")
_SESSION = "own-images"  # digest -> title of this visitor's files
_TAKEN = "own-image-taken"  # Streamlit's id of the upload that was taken last
_files: "OrderedDict[str, bytes]" = OrderedDict()
_lock = Lock()


def image_field(model: str) -> str:
    """Draw the list of images for a model, and the upload, and return the name of the chosen image."""
    left, right = st.columns([60, 24], vertical_alignment="bottom", gap="small")
    icon = ":material/add_photo_alternate:"
    with right, st.popover("Your own image", icon=icon, width="stretch", key="own-image-opener"):
        _take_upload()
    mount.given_image()
    linked = persistent.text(NAME)
    titles = {**offered_titles(model), **_own_titles()}
    if linked in ALL_TITLES:
        titles.setdefault(linked, ALL_TITLES[linked])
    if linked and linked not in titles:
        current_page().add(
            "The link shows an uploaded image, which only its visitor has for the visit. An example is shown instead."
            if linked.startswith(_OWN)
            else f"There is no example image “{linked[:40]}”. Another example is shown instead."
        )
    chosen = linked if linked in titles else next(iter(titles))
    with left:
        widgets.select(NAME, "Image", list(titles), chosen, titles.__getitem__)
    return chosen


def _own_titles() -> dict[str, str]:
    """Return the titles of this visitor's images, by name."""
    return {_OWN + digest: title for digest, title in _own().items() if _held(digest)}


def image_names(model: str) -> list[str]:
    """Return the names of the images for a model that this visitor can choose from."""
    return [*offered_titles(model), *_own_titles()]


def image_title(name: str) -> str:
    """Return the title of an example image, or the file name of this visitor's image."""
    return {**ALL_TITLES, **_own_titles()}.get(name, "An image")


def read_named_image(name: str) -> Any:
    """Return an example's pixels or the content of an uploaded file. Raises ValueError for an unknown name."""
    from attnviz.models.example_images import draw_example

    if not name.startswith(_OWN):
        return draw_example(name)
    with _lock:
        content = _files.get(name.removeprefix(_OWN))
    if content is None:
        raise ValueError("The uploaded image is no longer in memory. Please upload it again.")
    return content


def _own() -> dict[str, str]:
    return st.session_state.setdefault(_SESSION, {})


def _held(digest: str) -> bool:
    with _lock:
        return digest in _files


def _take_upload() -> None:
    """Draw the upload; keep a readable file, and choose it when it has just come."""
    file = st.file_uploader(
        "An image from a file", type=list(_KINDS), max_upload_size=_MEGABYTES, key="own-image",
        help="Choose a file here. Or drop an image anywhere on the page, or paste one with Ctrl+V. It stays in memory "
            "for your visit only. Links do not contain the file.",
    )  # fmt: skip
    if file is None or st.session_state.get(_TAKEN) == file.file_id:
        return
    if why := _keep(file.getvalue(), file.name):
        st.error(why, icon=":material/error:")
    else:
        st.session_state[_TAKEN] = file.file_id


def _keep(content: bytes, name: str) -> str:
    """Keep the content of an image file for the visit, and choose the image. Return why that is impossible, or ""."""
    from attnviz.guards.images import ImageError, read_image

    if len(content) > _MEGABYTES * 1_000_000:  # the browser checks this too, but a client can send anything
        return f"The file is larger than {_MEGABYTES} MB. Please choose a smaller one."
    try:
        read_image(content)
    except ImageError as why:
        return str(why)
    digest = hashlib.blake2b(content, digest_size=12).hexdigest()
    with _lock:
        _files[digest] = content
        _files.move_to_end(digest)
        while sum(map(len, _files.values())) > _MOST_BYTES and len(_files) > 1:
            _files.popitem(last=False)
    if digest not in _own():
        _own()[digest] = _new_title(name)
    persistent.write({NAME: _OWN + digest})
    return ""


def _new_title(name: str) -> str:
    """Return a file's name, with a number if the list has that title: Streamlit identifies a choice by its title."""
    taken, title = {*ALL_TITLES.values(), *_own().values()}, name[:60]
    numbered = (f"{title} ({number})" for number in count(2))
    return title if title not in taken else next(one for one in numbered if one not in taken)
