"""The toy that reads digits: its data, its network against PyTorch's, and its scores against counts by hand."""

from dataclasses import replace

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

import attnviz
from attnviz.models.toy.image_toy import prepare
from attnviz.toys import shipped
from attnviz.toys.experiment import Experiment
from attnviz.toys.image_run import ImageRun, confusion, pixels_of, share_right, shuffle_patches, training_images
from attnviz.toys.network import PatchClassifier, classifier_of, cut_patches, join_patches
from attnviz.toys.recording import record
from attnviz.toys.storage import load_recording, save, toy_recording
from attnviz.toys.tasks.catalogue import TASKS
from attnviz.toys.tasks.digits import digit_images, drawn_pixels
from attnviz.transformer.config import ModelConfig
from attnviz.transformer.from_torch import from_torch
from tests.each_case import each_case

pytestmark = pytest.mark.computes

SHORT = {"task": "digits", "steps": 4, "pairs": 50}
SHIPPED = Experiment("digits")


def test_the_images_are_those_of_the_published_test_set():
    """Counts and ranges are those in the description of the data set (optdigits.names, and scikit-learn's)."""
    images, digits = digit_images()
    assert images.shape == (1797, 8, 8)
    assert (images.min(), images.max()) == (0, 16)
    assert np.bincount(digits).tolist() == [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]


def test_no_image_that_is_scored_was_trained_on():
    seen = {line.src for line in training_images(SHIPPED)}
    scored = ImageRun(Experiment(**SHORT)).held_out
    assert (len(seen), len(scored)) == (1437, 360)
    assert not seen & {line.src for line in scored}
    assert {line.src for line in TASKS["digits"].watched()} <= {line.src for line in scored}


@pytest.mark.filterwarnings("ignore:enable_nested_tensor")  # PyTorch's advice about its own speed
def test_the_network_computes_what_pytorchs_layers_compute():
    """Patches are a convolution, the layers PyTorch's encoder, and the weights those of PyTorch's attention module."""
    theirs = nn.Transformer(15, 3, 2, 2, 13, dropout=0, batch_first=True, norm_first=True).eval()
    config = ModelConfig(10, d_model=15, n_heads=3, n_layers=2, d_ff=13, positions=False)
    ours = PatchClassifier(config, has_positions=True)
    for parameter in (ours.cls, ours.positions):
        nn.init.normal_(parameter)
    ours.encoder.load_state_dict(from_torch(theirs, vocab_size=11).encoder.state_dict())
    images = torch.rand(5, 8, 8)
    with torch.inference_mode():
        kernel = ours.W_patch.weight.view(15, 1, 2, 2)
        patches = F.conv2d(images.unsqueeze(1), kernel, ours.W_patch.bias, stride=2).flatten(2).transpose(1, 2)
        x = torch.cat((ours.cls.expand(5, 1, -1), patches), dim=1) + ours.positions
        torch.testing.assert_close(ours(images), ours.W_class(theirs.encoder(x)[:, 0]), atol=1e-5, rtol=1e-4)
        first = theirs.encoder.layers[0]
        normed = first.norm1(x)
        _, expected = first.self_attn(normed, normed, normed, average_attn_weights=False)
        recorded = ImageRun._look(replace_network(ours), images)
    torch.testing.assert_close(attention(recorded, 0), expected, atol=1e-5, rtol=1e-4)


def replace_network(network: PatchClassifier) -> ImageRun:
    """Return a run with another network."""
    run = ImageRun(Experiment(**SHORT))
    run.network = network
    return run


def attention(recorder, layer: int) -> torch.Tensor:
    """Compute softmax(q k / sqrt(d_k)) from the recorded queries and keys of a layer."""
    call = recorder.calls[sorted(recorder.calls)[layer]]
    return (call.query @ call.key.transpose(-2, -1) / call.query.shape[-1] ** 0.5).softmax(-1)


def test_patches_are_cut_row_by_row_and_joined_again():
    images = torch.arange(3 * 64.0).view(3, 8, 8)
    torch.testing.assert_close(cut_patches(images), F.unfold(images.unsqueeze(1), 2, stride=2).transpose(1, 2))
    torch.testing.assert_close(join_patches(cut_patches(images)), images)
    shuffled = shuffle_patches(images)
    assert not torch.equal(shuffled, images)
    torch.testing.assert_close(cut_patches(shuffled).sum(-1).sort().values, cut_patches(images).sum(-1).sort().values)


@torch.inference_mode()
def test_without_positions_shuffled_patches_change_nothing():
    images = pixels_of(TASKS["digits"].watched())
    blind, seeing = (classifier_of(Experiment("digits", without=without)) for without in ((), ("positions",)))
    torch.testing.assert_close(seeing(shuffle_patches(images)), seeing(images), atol=1e-5, rtol=1e-4)
    assert not torch.allclose(blind(shuffle_patches(images)), blind(images), atol=1e-3)


def test_accuracy_and_confusion_are_counted_by_the_right_digit():
    right, said = torch.tensor([3, 3, 3, 8, 9]), torch.tensor([3, 8, 8, 8, 4])
    counts = confusion(said, right)
    assert share_right(said, right) == pytest.approx(2 / 5)
    assert {(row, column): count for (row, column), count in np.ndenumerate(counts) if count} == {
        (3, 3): 1, (3, 8): 2, (8, 8): 1, (9, 4): 1,
    }  # fmt: skip


def test_a_run_is_scored_kept_and_opened_as_it_ended(tmp_path):
    recording = record(Experiment(**SHORT))
    save(recording, tmp_path / "run.npz")
    found = load_recording(tmp_path / "run.npz")
    right = found.confusion.trace(axis1=1, axis2=2) / 360
    np.testing.assert_allclose(found.own_prefix, right, rtol=1e-6)
    np.testing.assert_array_equal(found.own_prefix, found.teacher_prefix)
    assert found.scores["accuracy"] == pytest.approx(right[-1])
    assert found.guess == pytest.approx(np.log(10))
    model, first = attnviz.load(found), found.watched[0]
    trace = model.trace(drawn_pixels(first.src))
    assert trace.sentences[0] == found.sentence
    torch.testing.assert_close(
        trace.attn("encoder_self"),
        torch.from_numpy(found.maps["encoder_self"][-1] / np.float32(255)),
        atol=0.0025,
        rtol=0,
    )
    assert f"reads the digit {found.answers_at(-1)[0][0]} " in trace.info.notes[0]


@pytest.mark.parametrize(
    "wrong",
    [
        {"confusion": None},
        {"confusion": np.zeros((5, 10, 9), dtype=np.uint16)},
        {"confusion": np.arange(500).reshape(5, 10, 10).astype(np.uint16)},
    ],
    ids=["missing", "of another size", "of different sums"],
)
def test_a_damaged_recording_of_digits_is_refused(wrong, tmp_path):
    save(replace(record_short(), **wrong), tmp_path / "run.npz")
    with pytest.raises(ValueError, match="is not a recording of attnviz \\(its counts of digits"):
        load_recording(tmp_path / "run.npz")


_made = []


def record_short():
    """Return a short run, trained once for this file."""
    if not _made:
        _made.append(record(Experiment(**SHORT)))
    return _made[0]


@each_case(
    ("choices", "said"),
    [
        ({"without": "causal-mask"}, "an encoder of images, which has no causal-mask."),
        ({"without": "cross-attention"}, "which has no cross-attention."),
        ({"leak": "one-head", "heads": 1}, "which has no causal-mask."),
        ({"pairs": 2_000}, "digits has fewer than 2,000 different lines"),
    ],
)
def test_switches_that_images_lack_are_refused(choices, said):
    with pytest.raises(ValueError, match=said):
        training_images(Experiment("digits", **choices))


def test_the_toy_reads_any_image_as_the_task_does():
    images, digits = digit_images()
    for image in images[:50]:
        np.testing.assert_array_equal(prepare(drawn_pixels(image))[0], image)
    large = np.kron(drawn_pixels(images[7]), np.ones((30, 30, 1), dtype=np.uint8))
    wide = np.pad(large, ((0, 0), (40, 40), (0, 0)), constant_values=255)
    values, notes = prepare(wide)
    np.testing.assert_array_equal(values, images[7])
    assert notes == ("The image of 320 × 240 pixels was cut to the middle 240 × 240, made grey, and resized to 8 × 8.",)
    model = attnviz.load("toy:digits")
    chances = model.classify(wide)
    assert sum(chances.values()) == pytest.approx(1)
    assert max(chances, key=chances.__getitem__) == str(digits[7])


def test_the_shipped_runs_are_scored_on_what_their_weights_read():
    for experiment in (SHIPPED, Experiment("digits", without=("positions",))):
        recording = toy_recording(shipped.path(experiment))
        held_out = TASKS["digits"].examples(held_out=True)
        with torch.inference_mode():
            said = recording.network()(pixels_of(held_out)).argmax(-1).tolist()
        right = [str(digit) == line.tgt[0] for digit, line in zip(said, held_out, strict=True)]
        assert abs(sum(right) / 360 - recording.scores["accuracy"]) <= 1 / 360  # a tie may be rounded otherwise
