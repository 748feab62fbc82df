"""Vision models: maps equal transformers' eager attention, and each token stands for the patch that its place says."""

import inspect
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from PIL import Image

import attnviz
from attnviz.analysis.runs import rows_of_edits
from attnviz.guards.images import ImageError
from attnviz.models.huggingface.images import image_model
from attnviz.models.huggingface.images.grid import measure_order
from attnviz.models.huggingface.images.image_model import ImageModel
from attnviz.models.huggingface.images.reader import ImageReader
from tests.each_case import each_case
from tests.models.huggingface.images.vision import (
    CLASSIFIERS,
    FAMILIES,
    broken_files,
    classifier,
    encoded,
    files,
    photo,
    processor,
    two_towers,
    vision_model,
)
from tests.models.huggingface.tokenizers_made import word_pieces

pytestmark = pytest.mark.computes
SHOWN = [name for name in FAMILIES if name != "vit mae"]
BEFORE = {
    "deit": ["[CLS]", "[DIST]"], "dinov2 with registers": ["[CLS]", "[REG 0]", "[REG 1]", "[REG 2]"],
    "dinov3": ["[CLS]", "[REG 0]", "[REG 1]"], "siglip": [], "siglip 2": [],
}  # fmt: skip


def load(name: str) -> ImageModel:
    made = attnviz.load(vision_model(name), processor(name))
    assert isinstance(made, ImageModel)
    return made


def eager(model: Any, prepare: Any, image: np.ndarray) -> Any:
    """Run transformers alone: its processor on the image, and its eager attention."""
    fields = dict(prepare(images=Image.fromarray(image), return_tensors="pt"))
    model.set_attn_implementation("eager")
    if (
        "interpolate_pos_encoding" in inspect.signature(model.forward).parameters
        and fields["pixel_values"].shape[-1] != 32
    ):
        fields["interpolate_pos_encoding"] = True
    with torch.inference_mode():
        return model(**fields, output_attentions=True, output_hidden_states=True)


@each_case("name", SHOWN)
def test_every_map_equals_the_eager_attention_of_transformers(name):
    own, image = eager(vision_model(name), processor(name), photo()), photo()
    trace = load(name).trace(image)
    count = len(trace.query_tokens("encoder_self"))
    expected = torch.stack(own.attentions)[:, 0]
    assert trace.attn("encoder_self").std() > 0.01
    torch.testing.assert_close(trace.attn("encoder_self"), expected[..., :count, :count], atol=2e-5, rtol=1e-4)
    torch.testing.assert_close(trace.layer_output("encoder", -1), own.hidden_states[0][0, :count], atol=1e-4, rtol=1e-4)


@each_case("name", SHOWN)
def test_special_tokens_have_names_and_patches_have_places(name):
    trace = load(name).trace(photo())
    tokens, (image,) = trace.sentences[0].src, trace.sentences[0].images
    rows, columns = image.grid
    before = BEFORE.get(name, ["[CLS]"])
    assert [token.text for token in tokens[: len(before)]] == before
    patches = tokens[len(before) : len(before) + rows * columns]
    cells = [(row, column) for row in range(rows) for column in range(columns)]
    assert [token.place for token in patches] == [(0, *cell) for cell in cells]
    assert [token.text for token in patches] == [f"r{row}c{column}" for row, column in cells]
    assert [token.text for token in tokens[len(before) + rows * columns :]] == (
        ["[DET 0]", "[DET 1]", "[DET 2]"] if name == "yolos" else []
    )
    assert image.grid == {"vit of another size": (3, 5), "vit of oblong patches": (4, 8), "dinov2": (3, 5),
                          "dinov2 with registers": (3, 5), "siglip 2": (3, 5)}.get(name, (4, 4))  # fmt: skip


# Where a family's processor puts a point of the image: its size before the crop, and what the crop cuts off. Written
# out here from the settings, for an image of 50 x 83 pixels.
RESIZED = {
    "vit of another size": ((24, 43), (0, 0)), "deit": ((40, 40), (4, 4)), "dinov2": ((32, 53), (4, 6)),
    "dinov2 with registers": ((32, 53), (4, 6)), "clip": ((32, 53), (0, 10)), "siglip 2": ((24, 40), (0, 0)),
}  # fmt: skip


@each_case("name", SHOWN)
def test_one_bright_patch_in_a_black_image_is_the_token_of_its_cell(name):
    (height, width), (top, left) = RESIZED.get(name, ((32, 32), (0, 0)))
    model, black = load(name), np.zeros((50, 83, 3), dtype=np.uint8)
    dark = model.trace(black).layer_output("encoder", -1)
    image = model.trace(black).sentences[0].images[0]
    high, wide = image.patch
    for row, column in [(0, 1), (1, 0), (image.grid[0] - 1, image.grid[1] - 1), (1, 2)]:
        bright = black.copy()
        y, x = ((row + 0.5) * high + top) * 50 / height, ((column + 0.5) * wide + left) * 83 / width
        bright[int(y - 2) : int(y + 2), int(x - 2) : int(x + 2)] = 255
        trace = model.trace(bright)
        changed = (trace.layer_output("encoder", -1) - dark).norm(dim=-1).argmax()
        assert trace.sentences[0].src[int(changed)].place == (0, row, column), (row, column)
        seen = trace.sentences[0].images[0].array.sum(-1)
        middle = seen[row * high : (row + 1) * high, column * wide : (column + 1) * wide]
        assert middle.sum() > 0.5 * seen.sum(), (row, column)


COLUMN_BY_COLUMN = torch.tensor([0, *(torch.arange(16).reshape(4, 4).T.flatten() + 1).tolist()])


def doubled(out: Any) -> Any:
    """Return a model's output with rows of weights that sum to 2."""
    out.attentions = tuple(2 * layer for layer in out.attentions)
    return out


@each_case("name, module, change, said", [
    ("column by column", "embeddings", lambda tokens: tokens[:, COLUMN_BY_COLUMN], "are not the patches row by row"),
    ("two patches in a token", "embeddings", lambda tokens: tokens + tokens.roll(1, 1), "its tokens overlap"),
    ("fewer than patches", "embeddings", lambda tokens: tokens[:, :-2], "drops or shuffles patches"),
    ("another order each time", "embeddings", lambda tokens: tokens[:, torch.randperm(17)], "drops or shuffles"),
    ("no weights", "", doubled, "transformers returns no attention weights"),
])  # fmt: skip
def test_a_model_whose_weights_belong_to_no_patch_is_refused(name, module, change, said):
    model = vision_model("vit")
    model.set_attn_implementation("eager")
    model.get_submodule(module).register_forward_hook(lambda module, given, out: change(out))
    with pytest.raises(ValueError, match=said):
        measure_order(model, ImageReader(processor("vit")), {})


def bit(short: int, crop: int) -> Any:
    sizes = {"size": {"shortest_edge": short}, "crop_size": {"height": crop, "width": crop}}
    return transformers.BitImageProcessorPil(**sizes)


@each_case("prepare, image, said", [
    (processor("vit"), photo(), "of 83 × 50 pixels was resized to 32 × 32 by .*, bilinear. The proportions .* changed"),
    (processor("vit"), photo(50, 50), "of 50 × 50 pixels was resized to 32 × 32 by .*, bilinear.$"),
    (processor("vit of another size"), photo(), "was resized to 43 × 24 by"),
    (processor("siglip 2"), photo(), "was resized to 40 × 24 by .*, bilinear.$"),
    (processor("deit"), photo(), "was resized to 40 × 40, .*cut to the middle 32 × 32 by .*: 36% of it has no patch"),
    (bit(32, 24), photo(50, 84), "was resized to 53 × 32, bicubic, and cut to the middle 24 × 24 by .*: 66% of it"),
    (bit(16, 24), photo(50, 50), "was resized to 16 × 16, bicubic, and cut to the middle 24 × 24 by .*: its edges are"),
], ids=["square", "square as before", "sizes", "proportions kept", "cut", "rounded down", "enlarged"])  # fmt: skip
def test_a_note_says_how_the_processor_changed_the_image(prepare, image, said):
    (note,) = ImageReader(prepare).read(image).notes
    assert re.search(said, note), note


def test_an_image_of_too_many_patches_is_refused(monkeypatch):
    monkeypatch.setattr(image_model, "MOST_PATCHES", 15)
    with pytest.raises(ValueError, match="divides the image into 4 × 4 patches, but attnviz shows at most 15 patches"):
        load("vit").trace(photo())


def test_the_trace_keeps_the_pixels_that_the_processor_hands_to_the_model():
    image, prepare = photo(), processor("dinov2")
    trace = load("dinov2").trace(image)
    values = prepare(images=Image.fromarray(image), return_tensors="pt")["pixel_values"][0].permute(1, 2, 0)
    seen = torch.from_numpy(trace.sentences[0].images[0].array.copy()) * prepare.rescale_factor
    normal = (seen - torch.tensor(prepare.image_mean)) / torch.tensor(prepare.image_std)
    torch.testing.assert_close(normal, values, atol=1e-4, rtol=0, check_dtype=False)
    assert trace.info.notes == (
        "The image of 83 × 50 pixels was resized to 53 × 32, bicubic, and cut to the middle 40 × 24 by "
        "BitImageProcessorPil (pil): 43% of it has no patch.",
    )


def test_padding_of_naflex_is_no_token():
    trace = load("siglip 2").trace(photo())
    assert len(trace.sentences[0].src) == 15  # of 19 that the processor pads to
    torch.testing.assert_close(trace.attn("encoder_self").sum(-1), torch.ones(3, 5, 15))


def test_an_image_is_run_again_and_changed_like_a_text():
    model = load("dinov2 with registers")
    trace = model.trace(photo())
    assert torch.equal(model.rerun(trace).attn("encoder_self"), trace.attn("encoder_self"))
    changed = model.trace(photo(), interventions=[attnviz.ablate("encoder_self", layer=1, heads=[2])])
    assert torch.equal(changed.context("encoder_self", 1)[2], torch.zeros(19, 6))
    assert not torch.equal(changed.attn("encoder_self", layer=2), trace.attn("encoder_self", layer=2))


def test_a_saved_trace_keeps_image_and_places(tmp_path: Path):
    trace = load("dinov3").trace(photo())
    attnviz.save(trace, tmp_path / "trace.npz")
    again = attnviz.load_trace(tmp_path / "trace.npz")
    assert again.sentences == trace.sentences
    assert torch.equal(again.attn("encoder_self"), trace.attn("encoder_self"))


def test_a_folder_of_two_towers_or_with_a_classifier_is_its_vision_model(tmp_path: Path):

    clip = two_towers("CLIPModel", "CLIPConfig", "clip")
    head = transformers.ViTForImageClassification(vision_model("vit").config).eval()
    for name, model, prepare in (("clip", clip, processor("clip")), ("head", head, processor("vit"))):
        model.save_pretrained(tmp_path / name)
        prepare.save_pretrained(tmp_path / name)
        tower = model.vision_model if name == "clip" else model.vit
        own = eager(tower, prepare, photo())
        for made in (attnviz.load(tmp_path / name), attnviz.load(model, prepare)):
            found = made.trace(photo()).attn("encoder_self")
            torch.testing.assert_close(found, torch.stack(own.attentions)[:, 0], atol=2e-5, rtol=1e-4)


@pytest.mark.parametrize(("name", "config", "tower"), [
    ("CLIPModel", "CLIPConfig", "clip"), ("SiglipModel", "SiglipConfig", "siglip"),
    ("Siglip2Model", "Siglip2Config", "siglip 2"),
])  # fmt: skip
def test_a_text_tower_is_opened_by_its_name_or_with_a_tokenizer(tmp_path: Path, name, config, tower):
    model, tokenizer, text = two_towers(name, config, tower), word_pieces(), "A cat sat on the mat."
    for part in (model, tokenizer, processor(tower)):
        part.save_pretrained(tmp_path / "both")
    model.set_attn_implementation("eager")
    with torch.inference_mode():
        own = model.text_model(**tokenizer(text, return_tensors="pt"), output_attentions=True).attentions
    opened = attnviz.load(f"{tmp_path}/both#text")
    assert (opened.name, opened.inputs.is_image) == ("both (text)", False)
    for made in (opened, attnviz.load(model, tokenizer)):
        trace = made.trace(text)
        (kind,) = trace.kinds
        torch.testing.assert_close(trace.attn(kind), torch.stack(own)[:, 0], atol=2e-5, rtol=1e-4)
    assert attnviz.load(tmp_path / "both").has_text_tower
    vision_model("vit").save_pretrained(tmp_path / "one")
    with pytest.raises(ValueError, match="The model in 'one' has no text tower beside a vision tower"):
        attnviz.load(f"{tmp_path}/one#text")


def test_a_folder_whose_own_name_ends_like_a_text_tower_is_that_folder(tmp_path: Path):
    vision_model("vit").save_pretrained(tmp_path / "vit#text")
    processor("vit").save_pretrained(tmp_path / "vit#text")
    assert attnviz.load(tmp_path / "vit#text").inputs.is_image


@each_case("name, said", [
    ("vit mae", "attnviz cannot show ViTMAEModel on images, because it drops or shuffles patches"),
    ("swin", "attnviz cannot show SwinModel on images, because each of its maps covers a window"),
    ("hiera", "attnviz cannot show HieraModel on images, because each of its maps covers a window"),
    ("pvt", "'pvt' does not divide images into patches of equal size"),
    ("sam", "attnviz cannot show SamVisionModel on images, because transformers returns no attention weights"),
])  # fmt: skip
def test_a_model_without_a_map_of_all_patches_is_refused_with_the_reason(name, said):
    with pytest.raises(ValueError, match=said.replace("(", r"\(")):
        attnviz.load(vision_model(name), processor(name))


class Rolled:
    """A processor that moves all pixels one row down, whatever it is asked for."""

    def __init__(self) -> None:
        self.own = processor("vit")

    def __getattr__(self, name: str) -> Any:
        return getattr(self.own, name)

    def preprocess(self) -> None: ...

    def __call__(self, images: Any, **how: Any) -> Any:
        made = self.own(images=images, **how)
        return {"pixel_values": made["pixel_values"].roll(1, 2)}


def test_a_processor_that_attnviz_does_not_follow_is_refused():
    with pytest.raises(ValueError, match="changes pixels in a way that attnviz does not follow"):
        attnviz.load(vision_model("vit"), Rolled())


def test_what_a_vision_model_lacks_is_said_in_one_sentence(tmp_path: Path):
    model = vision_model("vit")
    model.save_pretrained(tmp_path / "bare")
    (tmp_path / "torchvision").mkdir()
    model.save_pretrained(tmp_path / "torchvision")
    (tmp_path / "torchvision" / "preprocessor_config.json").write_text(
        '{"image_processor_type": "DINOv3ViTImageProcessorFast"}'
    )
    shown = load("vit")
    for act, said in (
        (lambda: attnviz.load(model, None), "needs its image processor"),
        (lambda: attnviz.load(classifier("clip"), word_pieces()), "reads images and not text"),
        (lambda: attnviz.load(tmp_path / "bare"), "There is no preprocessor_config.json in 'bare'"),
        (lambda: attnviz.load(tmp_path / "torchvision"), r"library that is not installed here \(such as torchvision\)"),
        (
            lambda: attnviz.load(tmp_path / "bare", "a text"),
            "reads images and not text. Please pass its image processor",
        ),
        (lambda: shown.trace("I love you."), "There is no image file 'I love you.'.* reads images and no text"),
        (lambda: shown.trace(photo(), to="fr"), "takes an image alone, without to"),
        (lambda: next(shown.stepwise("x")), "writes no text"),
    ):
        with pytest.raises(ValueError, match=said):
            act()
    assert attnviz.load(tmp_path / "torchvision", processor("vit")).shapes == {"encoder_self": (3, 5)}


def test_every_kind_of_image_is_traced_or_refused_in_one_sentence(tmp_path: Path):
    model = load("dinov2")
    for name, (content, note) in files().items():
        (tmp_path / name).write_bytes(content)
        trace = model.trace(tmp_path / name)
        assert trace.sentences[0].images[0].grid == (3, 5), name
        assert trace.info.notes[0].startswith(note), name
    for name, (content, said) in broken_files().items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(ImageError, match=re.escape(said)):
            model.trace(str(tmp_path / name))
    (tmp_path / "long.png").write_bytes(b"\0" * 50_000_001)
    with pytest.raises(ImageError, match=r"The image file 'long\.png' cannot be read"):
        model.trace(tmp_path / "long.png")


def test_an_image_of_any_mode_is_what_the_processor_gets_as_rgb():
    """Pillow's own conversion is the independent source; transformers' ViT processor refuses a grey image."""
    model, image = load("vit"), Image.fromarray(photo())
    for mode in ("L", "P", "CMYK", "YCbCr", "1"):
        given = image.convert(mode)
        own = eager(vision_model("vit"), processor("vit"), np.asarray(given.convert("RGB"))).attentions
        for found in (model.trace(given), model.trace(encoded(given, "TIFF"))):
            torch.testing.assert_close(found.attn("encoder_self"), torch.stack(own)[:, 0], atol=2e-5, rtol=1e-4)


def test_a_text_model_given_an_image_is_refused_in_one_sentence(folder):
    model = attnviz.load(folder("bert"))
    for given, kind in ((photo(), "a ndarray"), (Image.fromarray(photo()), "an Image")):
        with pytest.raises(ValueError, match=f"^text is .* text.*, not {kind}. Only vision models, such as ViT, read"):
            model.trace(given)


def test_half_precision_is_compared_in_float32_and_shown_as_it_is():
    made = attnviz.load(vision_model("vit").bfloat16(), processor("vit"))
    assert made.dtype is torch.bfloat16
    own = eager(vision_model("vit"), processor("vit"), photo()).attentions
    torch.testing.assert_close(made.trace(photo()).attn("encoder_self"), torch.stack(own)[:, 0], atol=0.06, rtol=0.1)


def without_head(model: Any, layer: int, head: int, size: int) -> None:
    """Zero a head's part of what the output projection of a layer reads, in transformers' own model."""
    (joins,) = [module for name, module in model.named_modules() if f".{layer}." in name and name.endswith(
        ("o_proj", "out_proj")) and "vision_model.head" not in name and "text_model" not in name]  # fmt: skip

    def zero(module: Any, given: tuple) -> tuple:
        changed = given[0].clone()
        changed[..., head * size : (head + 1) * size] = 0
        return (changed, *given[1:])

    joins.register_forward_pre_hook(zero)


@each_case("name", list(CLASSIFIERS))
def test_scores_of_labels_without_a_head_equal_transformers_own_with_that_head_zeroed(name):
    own, prepare = classifier(name), processor(name)
    model = attnviz.load(own, prepare)
    done = attnviz.ablate("encoder_self", layer=1, heads=[3])
    plain, changed = model.trace(photo()), model.trace(photo(), interventions=[done])
    torch.testing.assert_close(plain.logits[:, 0], eager(own, prepare, photo()).logits, atol=1e-5, rtol=1e-5)
    without_head(own, 1, 3, 6)
    expected = eager(own, prepare, photo())
    torch.testing.assert_close(changed.logits[:, 0], expected.logits, atol=1e-5, rtol=1e-5)
    assert (changed.logits - plain.logits).abs().max() > 1e-3
    assert model.labels == tuple(f"thing {at}" for at in range(7))
    again = model.rerun(plain).logits
    torch.testing.assert_close(again, plain.logits, atol=1e-5, rtol=1e-5)


@each_case(
    "name, vector",
    [
        ("vit", lambda out: out.last_hidden_state[:, 0]),
        ("dinov2 with registers", lambda out: out.last_hidden_state[:, 0]),
        ("siglip", lambda out: out.pooler_output),
    ],
)
def test_the_vector_of_the_whole_image_without_a_head_equals_transformers_own(name, vector):
    own, prepare = vision_model(name), processor(name)
    model, size = attnviz.load(own, prepare), 6
    trace = model.trace(photo())
    edits = rows_of_edits(model, trace, [attnviz.ablate("encoder_self", layer=1, heads=[at]) for at in (3, 4)])
    found = model.summaries_under(trace, edits)
    assert model.summary == ("pooled" if name == "siglip" else "[CLS]")
    without_head(own, 1, 3, size)
    torch.testing.assert_close(found[:1], vector(eager(own, prepare, photo())), atol=1e-5, rtol=1e-4)
    assert not torch.allclose(found[0], found[1], atol=1e-3)


def test_labels_are_those_of_the_model_as_it_was_given(tmp_path: Path):
    own, prepare = classifier("vit"), processor("vit")
    own.save_pretrained(tmp_path)
    prepare.save_pretrained(tmp_path)
    model, opened = attnviz.load(own, prepare), attnviz.load(tmp_path)
    assert opened.model_id == model.model_id
    torch.testing.assert_close(opened.trace(photo()).logits, model.trace(photo()).logits, atol=1e-5, rtol=1e-5)
    with torch.no_grad():
        own.classifier.bias[2] += 1  # a model in memory may be trained on
    assert model.model_id != opened.model_id
    assert model.trace(photo()).logits[0, 0, 2] - opened.trace(photo()).logits[0, 0, 2] == pytest.approx(1, abs=1e-5)
    assert model.decode_ids([2])[0] == "thing 2"
    handle = own.classifier.register_forward_hook(lambda module, given, made: 2 * made)
    with pytest.raises(ValueError, match="does not reproduce the labels of this model as it was given"):
        attnviz.load(own, prepare)
    handle.remove()


def test_a_classifier_of_several_labels_at_once_has_no_probabilities():
    model = attnviz.load(classifier("vit", problem_type="multi_label_classification"), processor("vit"))
    trace = model.trace(photo())
    assert (model.labels, trace.logits) == ((), None)
    with pytest.raises(ValueError, match="has no classifier"):
        model.logits_under(trace, rows_of_edits(model, trace, [attnviz.ablate("encoder_self", layer=0, heads=[0])]))


@each_case("name", ["vit", "siglip 2"])
def test_two_images_in_a_batch_are_each_what_they_are_alone(name):
    model = load(name)
    trace = model.trace(photo())
    (image,) = trace.sentences[0].images
    mirrored = replace(image, pixels=image.array[:, ::-1].tobytes())
    both = model.rerun(replace(trace, sentences=(*trace.sentences, replace(trace.sentences[0], images=(mirrored,)))))
    alone = model.rerun(replace(trace, sentences=both.sentences[1:]))
    for item, one in enumerate((trace, alone)):
        found = both.attn("encoder_self", item=item)
        torch.testing.assert_close(found, one.attn("encoder_self"), atol=2e-5, rtol=1e-4)
    assert not torch.allclose(trace.attn("encoder_self"), alone.attn("encoder_self"), atol=1e-3)
    smaller = replace(image, pixels=image.array[:-8].tobytes(), size=(image.size[0] - 8, image.size[1]))
    with pytest.raises(ValueError, match="different sizes, so they cannot run as one batch"):
        model.rerun(replace(trace, sentences=(*trace.sentences, replace(trace.sentences[0], images=(smaller,)))))
