"""GPT-2's activation in one kernel instead of eight: the same function, which transformers knows by another name.

transformers writes its "gelu_new" out in Python, a pass over the memory for every sign of the formula, and says of its
"gelu_pytorch_tanh" that it is equivalent but much faster. A checkpoint is compared with its own arithmetic afterwards.
"""

from torch import nn
from transformers.activations import ACT2FN

_WRITTEN_OUT, _FUSED = type(ACT2FN["gelu_new"]), "gelu_pytorch_tanh"


def fuse(model: nn.Module) -> None:
    """Put the fused kernel in the place of every activation that is written out."""
    for name in [name for name, module in model.named_modules() if type(module) is _WRITTEN_OUT]:
        model.set_submodule(name, ACT2FN[_FUSED])
