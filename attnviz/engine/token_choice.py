"""The choice of a next token as a message to the engine carries it: the likeliest, a beam, or a random one."""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from attnviz.engine.probes import CannotTravelError
from attnviz.transformer.beam import Beam
from attnviz.transformer.decoding import Choose, Sampling, likeliest_ids

STATE = "choose.state"  # of the generator, before a run and after it


def describe(choose: Choose | Beam, tensors: dict[str, Tensor]) -> dict[str, Any]:
    """Encode a choice as JSON types; a generator's state goes into `tensors`. Raises CannotTravelError for any
    other.
    """
    if choose is likeliest_ids:
        return {"type": "likeliest"}
    if isinstance(choose, Beam):
        return {"type": "beam", "size": choose.size, "length_penalty": choose.length_penalty}
    if isinstance(choose, Sampling):
        tensors[STATE] = choose.generator.get_state()
        return {"type": "sampling", "seed": choose.generator.initial_seed(), "temperature": choose.temperature,
                "top_k": choose.top_k, "top_p": choose.top_p}  # fmt: skip
    raise CannotTravelError("The engine chooses the likeliest token, samples, or keeps a beam, and nothing else.")


def read(said: Mapping[str, Any], tensors: Mapping[str, Tensor], device: torch.device) -> Choose | Beam:
    """Decode what `describe` wrote. A generator on another device than the CPU restarts from its seed."""
    rest = {name: value for name, value in said.items() if name not in ("type", "seed")}
    if said["type"] == "likeliest":
        return likeliest_ids
    if said["type"] == "beam":
        return Beam(**rest)
    generator = torch.Generator(device)
    if device.type == "cpu":
        generator.set_state(tensors[STATE])
    else:
        generator.manual_seed(int(said["seed"]))
    return Sampling(generator, **rest)
