"""In which floating-point type the products of training are made."""

import torch


def product_dtype(device: torch.device) -> torch.dtype:
    """bfloat16 where the device multiplies in it; float32 where it would only emulate that, ten times as slowly."""
    if device.type == "cpu":
        fast = any(has for name, has in torch.cpu.get_capabilities().items() if "bf16" in name)
    elif device.type == "cuda":
        fast = torch.cuda.is_bf16_supported(including_emulation=False)
    else:
        fast = True
    return torch.bfloat16 if fast else torch.float32
