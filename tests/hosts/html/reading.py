"""Read the pictures of a file again, as a browser does."""

import base64
import json
import re
import zlib

import numpy as np

from attnviz.kit.wire import Payload, unpack


def payloads(file: str) -> list[Payload]:
    """Read the payloads of a file's pictures again."""
    found = re.findall(r'<script type="text/plain" data-planes="([^"]*)">([^<]*)</script>', file)
    return [unpack(_joined(_inflated(text), json.loads(spans))) for spans, text in found]


def _joined(packed: bytes, spans: list[list[int]]) -> bytes:
    """Put float32 numbers where planes of bytes stand."""
    for offset, count, width in spans:
        end = offset + width * count
        numbers = np.frombuffer(packed[offset:end], np.uint8).reshape(width, count).T.copy()
        weights = numbers.view("<f4") if width == 4 else numbers.view(">u2") / np.float32(65_535)
        packed = packed[:offset] + weights.astype("<f4").tobytes() + packed[end:]
    return packed


def _inflated(text: str) -> bytes:
    return zlib.decompress(base64.b64decode(text))
