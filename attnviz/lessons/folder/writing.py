"""Write a folder of lessons to the disk or into a zip file, and check the arguments before any model runs."""

import io
import re
import zipfile
from pathlib import Path
from urllib.parse import urlsplit

from attnviz.lessons.folder.files import Files


def require_empty(folder: Path) -> None:
    """Raise ValueError if a path is a file, or a folder that is not empty."""
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"{folder} is a file: name a folder that is new or empty.")
    if folder.is_dir() and any(folder.iterdir()):
        raise ValueError(f"{folder} is not empty: name a folder that is new or empty.")


def instance_address(said: str) -> str:
    """Return the address of an attnviz server without a slash at its end; "" for "".

    Raises ValueError for a text that is not a web address.
    """
    if not said:
        return ""
    try:
        parts = urlsplit(said)
        is_address = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        is_address = is_address and not parts.query and not parts.fragment
    except ValueError:
        is_address = False
    if not is_address or re.search(r"[\"'<>\\]|[^\x21-\x7e]", said):
        raise ValueError(
            f"“{said[:60]}” is not the address of an instance: write one such as https://attnviz.example.org."
        )
    return said.rstrip("/")


def write_folder(files: Files, folder: Path) -> None:
    """Write the files. Raises ValueError for a folder that is not empty, and OSError if it cannot be written."""
    require_empty(folder)
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")


def zip_folder(files: Files, folder: str) -> bytes:
    """Return the bytes of a zip file that unpacks to a folder with this name."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(f"{folder}/{name}", text)
    return made.getvalue()
