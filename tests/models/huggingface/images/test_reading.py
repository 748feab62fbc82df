"""What is read as an image: every mode as it looks, and one sentence for what cannot be read."""

from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from attnviz.guards.images import ImageError, read_image
from tests.each_case import each_case
from tests.models.huggingface.images.vision import bomb, clear, encoded, photo

GREY = np.arange(12, dtype=np.uint8).reshape(3, 4) * 20
COLOUR = np.stack([GREY, GREY + 5, 255 - GREY], axis=-1)
WHITE_LEFT = np.stack([np.where([True, True, False, False], 255, value) * np.ones((3, 1)) for value in (200, 0, 0)], -1)


@each_case("name, given, expected", [
    ("colours", COLOUR, COLOUR),
    ("a tensor", torch.from_numpy(COLOUR), COLOUR),
    ("grey", GREY, np.stack([GREY] * 3, -1)),
    ("one channel", GREY[..., None], np.stack([GREY] * 3, -1)),
    ("fractions", COLOUR / 255, COLOUR),
    ("whole numbers of 64 bits", COLOUR.astype(np.int64), COLOUR),
    ("16 bits", GREY.astype(np.uint16) * 257, np.stack([GREY] * 3, -1)),
    ("truth values", GREY > 100, np.stack([(GREY > 100) * 255] * 3, -1)),
    ("a grey file", encoded(Image.fromarray(GREY)), np.stack([GREY] * 3, -1)),
    ("a file of 16 bits", encoded(Image.fromarray(GREY.astype(np.uint16) * 257)), np.stack([GREY] * 3, -1)),
    ("a palette", encoded(Image.fromarray(COLOUR).quantize(64), "GIF"), COLOUR),
    ("clear pixels", encoded(clear()), WHITE_LEFT),
    ("a palette with clear pixels", encoded(clear().quantize(8)), WHITE_LEFT),
    ("clear pixels of an array", np.asarray(clear()), WHITE_LEFT),
    ("one pixel", np.full((1, 1, 3), 7, dtype=np.uint8), np.full((1, 1, 3), 7)),
    ("another mode", Image.fromarray(COLOUR).convert("CMYK"), COLOUR),
])  # fmt: skip
def test_an_image_is_read_as_it_looks(name, given, expected):
    found = read_image(given).pixels
    assert found.dtype == np.uint8
    np.testing.assert_allclose(found.astype(int), expected, atol=1 if "palette" not in name else 6)


def test_a_file_is_turned_as_its_exif_data_say(tmp_path: Path):
    exif = Image.Exif()
    exif[0x0112] = 6  # turn by a quarter
    (tmp_path / "turned.png").write_bytes(encoded(Image.fromarray(COLOUR), exif=exif))
    np.testing.assert_array_equal(read_image(tmp_path / "turned.png").pixels, np.rot90(COLOUR, -1))
    np.testing.assert_array_equal(read_image(Image.open(tmp_path / "turned.png")).pixels, COLOUR)


def test_what_was_changed_is_noted():
    frames = [Image.fromarray(COLOUR), Image.fromarray(255 - COLOUR)]
    animated = encoded(frames[0], "GIF", save_all=True, append_images=frames[1:])
    assert read_image(animated).notes == ("The file contains 2 images. Only the first image is used.",)
    assert read_image(encoded(clear())).notes == ("Transparent parts of the image were drawn on a white background.",)
    assert read_image(COLOUR).notes == ()


@each_case("name, given, said", [
    ("too many pixels", bomb(), "too many pixels|20,000 pixels, but attnviz reads images of at most 40 million"),
    ("too large an array", np.broadcast_to(np.uint8(0), (20_000, 20_000, 3)), "images of at most 40 million pixels"),
    ("too long", np.zeros((1, 101, 3), dtype=np.uint8), "longer side may be at most 100 times as long"),
    ("cut short", encoded(Image.fromarray(photo()))[:-4000], "damaged or incomplete"),
    ("a format of few", encoded(Image.fromarray(COLOUR), "PPM"), "is not an image in a format that attnviz can read"),
    ("a text", b"I love you.", "is not an image in a format that attnviz can read"),
    ("a missing file", "nowhere.png", "There is no image file 'nowhere.png'"),
    ("a folder", ".", "There is no image file '.'"),
    ("a long text", "word " * 2000, "image"),
    ("nothing", None, "not NoneType"),
    ("channels first", np.zeros((3, 5, 5)), r"not \(3, 5, 5\): put the channels last"),
    ("two channels", np.zeros((5, 5, 2)), r"the shape \(height, width, 3\), not \(5, 5, 2\)"),
    ("no pixels", np.zeros((0, 5, 3)), "no pixels"),
    ("numbers of no scale", np.full((5, 5, 3), 7.5), "pixels of the image are between 7.5 and 7.5"),
    ("negative numbers", np.full((5, 5, 3), -1), "pixels of the image are between -1 and -1"),
    ("not a number", np.full((5, 5, 3), np.nan), "NaN or infinite"),
    ("texts", np.full((5, 5, 3), "x"), "Pixels must be finite numbers"),
])  # fmt: skip
def test_what_cannot_be_read_gets_one_sentence(name, given, said):
    with pytest.raises(ImageError, match=said) as refused:
        read_image(given)
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 250
