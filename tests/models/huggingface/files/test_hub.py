"""The hub, simulated: the list of files is checked before anything is fetched."""

import shutil
import socket
from types import SimpleNamespace

import pytest

from attnviz.models.huggingface import load
from attnviz.models.huggingface.files import hub as hub_file
from tests.models.huggingface.refused import CPU, refusal


def hub(monkeypatch, *, listing=None, numbers=None, error=None):
    def model_info(self, name, **_):
        if error is not None:
            raise error
        files = [SimpleNamespace(rfilename=file, size=size) for file, size in listing.items()]
        return SimpleNamespace(siblings=files, sha="c0ffee", safetensors=SimpleNamespace(total=numbers))

    monkeypatch.setattr("huggingface_hub.HfApi.model_info", model_info)


def test_an_unreachable_hub_is_named_in_the_error(monkeypatch):
    hub(monkeypatch, error=ConnectionError("no route"))
    said = refusal("somebody/some-model")
    assert said.startswith("There is no folder 'somebody/some-model' on this machine, and the hub could not be reached")
    assert "check the network" in said


def test_the_hub_switched_off():
    assert "the hub could not be reached (OfflineModeIsEnabled)" in refusal("somebody/some-model")


def test_a_hub_id_that_cannot_be_one():
    assert "neither a folder nor a hub id" in refusal("what is this?")


@pytest.mark.parametrize(
    ("listing", "numbers", "says"),
    [
        (
            {"config.json": 1, "pytorch_model.bin": 5},
            None,
            "attnviz does not read such files, because they can run code",
        ),
        ({"config.json": 1, "model.safetensors": 9 * 10**9}, None, "take 9 GB in float32; up to 8 GB are loaded here"),
        # five gigabytes of bfloat16 are ten of float32, in which every model is compared
        ({"model.safetensors": 5 * 10**9}, 25 * 10**8, "take 10 GB in float32; up to 8 GB are loaded here"),
        ({"model.safetensors": 9, **{f"log-{n}.txt": 4 * 10**7 for n in range(6)}}, None, "take 240 MB on the hub"),
    ],
)
def test_a_model_that_will_be_refused_is_not_downloaded(listing, numbers, says, monkeypatch):
    hub(monkeypatch, listing=listing, numbers=numbers)
    monkeypatch.setattr("huggingface_hub.hf_hub_download", lambda *_, **__: pytest.fail("something was download"))
    assert says in refusal("somebody/some-model")


def test_one_set_of_weights_and_no_code_is_downloaded(checkpoint, monkeypatch):
    folder, asked, told = checkpoint("bert"), [], []
    listing = {path.name: path.stat().st_size for path in folder.iterdir()}
    hub(
        monkeypatch,
        listing=listing
        | {"consolidated.safetensors": 10**11, "modeling.py": 7, "onnx/model.json": 7, "log.txt": 10**11}
        | {"README.md": 7, "LICENSE": 7, "CHANGES.md": 7},
    )

    def download(name, file, revision):
        assert (name, revision) == ("somebody/some-model", "c0ffee")
        asked.append(file)
        return str(folder / file)

    monkeypatch.setattr("huggingface_hub.hf_hub_download", download)
    model = load("somebody/some-model", **CPU, progress=lambda *what: told.append(what))
    assert sorted(asked) == sorted([*listing, "README.md", "LICENSE"]), "and what says where it comes from"
    assert model.name == "somebody/some-model"
    assert [share for share, _ in told] == sorted(share for share, _ in told)
    assert any(what.startswith("Downloading model.safetensors (") for _, what in told)


def test_a_whole_copy_is_opened_without_asking(checkpoint, monkeypatch):
    hub(monkeypatch, error=AssertionError("the hub was asked"))
    monkeypatch.setattr("huggingface_hub.snapshot_download", lambda *_, **__: str(checkpoint("bert")))
    assert load("somebody/some-model", **CPU).name == "somebody/some-model"


def test_a_copy_that_was_cut_short_is_no_copy(checkpoint, monkeypatch, tmp_path):
    shutil.copytree(checkpoint("bert"), tmp_path / "cut")
    (tmp_path / "cut" / "model.safetensors").unlink()
    hub(monkeypatch, error=ConnectionError("no route"))
    monkeypatch.setattr("huggingface_hub.snapshot_download", lambda *_, **__: str(tmp_path / "cut"))
    assert "the hub could not be reached (ConnectionError)" in refusal("somebody/some-model")


def test_a_hub_that_says_nothing_is_not_waited_for(monkeypatch):
    """A server accepts the connection and never answers."""
    monkeypatch.setattr(hub_file, "PATIENCE", 0.3)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    with socket.create_server(("127.0.0.1", 0)) as server:
        monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", f"http://127.0.0.1:{server.getsockname()[1]}")
        said = refusal("somebody/some-model")
    assert "the hub could not be reached (" in said
    assert "Timeout" in said
