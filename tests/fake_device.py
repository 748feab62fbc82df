"""A GPU that is not there: tensors that say they are on `cuda:0` or `mps:0`, and refuse what such a device refuses.

C++ takes them for the CPU's and Python for the device's, so that their numbers are real and can be held against the
CPU's. Refused are operands on two devices, generators of another device, `.numpy()`, and float64 on MPS. It counts
copies to the device and waits for it. It cannot show faults of kernels, speed, memory or errors that come late.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

aten = torch.ops.aten
_BY_INDEX = {aten.index.Tensor, aten.index_put_.default, aten._index_put_impl_.default}
_PRODUCTS = {
    aten.mm.default, aten.bmm.default, aten.addmm.default, aten.baddbmm.default,
    aten.matmul.default, aten.linear.default,  # as inference mode leaves them
}  # fmt: skip
_WAITS = {aten._local_scalar_dense.default, aten.nonzero.default, aten.masked_select.default, aten.equal.default}
_DRAWS = {aten.random_.default, aten.random_.to, getattr(aten.random_, "from")}
# "copies" to the device, "waits" for numbers, "synchronized", "emptied", and calls of the fused kernel: "causal",
# "masked" or "unmasked".
counts: Counter[str] = Counter()
memory = {"taken": 0, "room": 0}  # bytes that a test says are taken and left


def _each(change: Callable[[Tensor], Any], found: Any) -> Any:
    """Apply `found` to each tensor; a tensor that is written into is returned as it came."""
    if isinstance(found, Tensor):
        return change(found)
    return type(found)(_each(change, one) for one in found) if isinstance(found, list | tuple) else found


def _numbers(tensor: Tensor) -> Tensor:
    return tensor.elem if isinstance(tensor, OnDevice) else tensor


class OnDevice(Tensor):
    """A tensor on a device that is not there; `elem` holds its numbers."""

    elem: Tensor
    place: torch.device  # type: ignore[assignment]
    __torch_function__ = torch._C._disabled_torch_function_impl  # type: ignore[assignment]

    @staticmethod
    def __new__(cls, elem: Tensor, where: torch.device) -> "OnDevice":
        if where.type == "mps" and elem.dtype in (torch.float64, torch.complex128):
            raise TypeError("Cannot convert a MPS Tensor to float64 dtype: the MPS framework doesn't support float64.")
        how = {"strides": elem.stride(), "storage_offset": elem.storage_offset(), "dtype": elem.dtype}
        with torch.inference_mode(elem.is_inference()):  # a view of what is none is none
            made = Tensor._make_wrapper_subclass(cls, elem.shape, **how)
        made.elem, made.place = elem, where
        return made

    @property
    def device(self) -> torch.device:  # type: ignore[override]
        return self.place

    def __repr__(self) -> str:  # type: ignore[override]
        return f"OnDevice({self.elem}, {self.place})"

    def __deepcopy__(self, memo: dict[int, Any]) -> "OnDevice":
        if id(self) not in memo:
            memo[id(self)] = OnDevice(self.elem.clone(), self.place).requires_grad_(self.requires_grad)
        return memo[id(self)]

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: tuple = (), kwargs: Any = None) -> Any:
        tensors: list[Tensor] = []
        _each(tensors.append, (args, *(kwargs or {}).values()))
        here = [one for one in tensors if isinstance(one, OnDevice)]
        where, elsewhere = here[0].place, [one for one in tensors if one.device != here[0].place and one.dim()]
        mixed = [
            one for one in elsewhere if func not in _BY_INDEX or one is args[0] or any(one is put for put in args[2:3])
        ]
        if mixed and func is not aten.copy_.default:
            raise RuntimeError(
                f"Expected all tensors to be on the same device, but found at least two devices, {where} and "
                f"{mixed[0].device}! ({func})"
            )
        counts["copies"] += len(elsewhere)
        counts["waits"] += func in _WAITS or (func in _BY_INDEX and any(one.dtype is torch.bool for one in tensors))
        args = _each(_numbers, args)
        if func in _PRODUCTS and where.type == "cuda" and torch.backends.cuda.matmul.fp32_precision == "tf32":
            args = _each(_round_to_tf32, args)
        made = func(*args, **{name: _each(_numbers, one) for name, one in (kwargs or {}).items()})
        if func in _DRAWS and where.type == "mps" and made.dtype is torch.int64:
            made.bitwise_and_(0xFFFFFFFF)  # Metal fills 32 bits
        known = {id(one.elem): one for one in here} if func._schema.is_mutable else {}
        return _each(lambda one: known[id(one)] if id(one) in known else OnDevice(one, where), made)


class FakeDevice(TorchFunctionMode):
    """Makes and moves tensors as if there were a device of this kind."""

    def __init__(self, kind: str) -> None:
        super().__init__()
        self.where = torch.device(kind, 0)

    def __torch_function__(self, func: Any, types: Any, args: tuple = (), kwargs: Any = None) -> Any:
        kwargs = dict(kwargs or {})
        if func in (Tensor.to, Tensor.cpu, Tensor.cuda):
            return self._move(func, args, kwargs)
        if func in _OWN and isinstance(args[0], OnDevice):
            return _OWN[func](*args, **kwargs)
        is_made_here = kwargs.get("device") is not None and torch.device(kwargs["device"]).type == self.where.type
        if is_made_here:
            del kwargs["device"]
        if kwargs.get("generator") is not None:
            here = is_made_here or any(isinstance(one, OnDevice) for one in args)
            _check_generator(kwargs["generator"], self.where.type if here else "cpu")
        made = func(*args, **kwargs)
        if not is_made_here or isinstance(made, OnDevice):
            return made
        counts["copies"] += func in (torch.tensor, torch.as_tensor)
        return OnDevice(made.detach(), self.where).requires_grad_(made.requires_grad)

    def _move(self, func: Any, args: tuple, kwargs: dict[str, Any]) -> Tensor:
        tensor, device, dtype = args[0], "cpu" if func is Tensor.cpu else None, None
        for said in (*args[1:], *(kwargs.get(name) for name in ("device", "dtype", "other"))):
            if isinstance(said, Tensor):
                device, dtype = said.device, said.dtype
            elif isinstance(said, torch.dtype):
                dtype = said
            elif isinstance(said, str | torch.device):
                device = said
        tensor = tensor if dtype in (None, tensor.dtype) else Tensor.to(tensor, dtype=dtype)
        place = tensor.device if device is None else torch.device(device)
        if place.type == "meta" or place.type == tensor.device.type:
            return tensor if place.type != "meta" else Tensor.to(tensor, device="meta")
        return _Move.apply(tensor, torch.device(place.type, 0) if place.type == self.where.type else place)


class _Move(torch.autograd.Function):
    """To the device, or to the CPU; gradients go back the same way."""

    @staticmethod
    def forward(ctx: Any, tensor: Tensor, place: torch.device) -> Tensor:
        ctx.came_from = tensor.device
        counts["waits" if place.type == "cpu" else "copies"] += 1
        return tensor.elem.clone() if isinstance(tensor, OnDevice) else OnDevice(tensor.detach().clone(), place)

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:  # type: ignore[override]
        if ctx.came_from.type == "cpu":
            return gradient.elem.clone(), None
        return OnDevice(gradient.clone(), ctx.came_from), None


class _Generator(torch.Generator):
    """Random numbers of the device, which are the CPU's."""

    def __new__(cls, device: Any = "cpu") -> "_Generator":
        made = super().__new__(cls)
        made.where = torch.device(device)
        return made

    @property
    def device(self) -> torch.device:  # type: ignore[override]
        return self.where

    def manual_seed(self, seed: int) -> "_Generator":
        super().manual_seed(seed)
        return self


def _check_generator(generator: torch.Generator, expected: str) -> None:
    if generator.device.type != expected:
        raise RuntimeError(f"Expected a '{expected}' device type for generator but found '{generator.device}'")


def _refuse_numpy(tensor: OnDevice, *_: Any) -> None:
    raise TypeError(f"can't convert {tensor.device} device type tensor to numpy. Use Tensor.cpu() first.")


def _to_list(tensor: OnDevice) -> Any:
    counts["waits"] += 1
    return tensor.elem.tolist()


def _read_number(convert: Callable[[Any], Any]) -> Callable[[OnDevice], Any]:
    """Count the wait for one number: inference mode does not tell the class of it."""

    def read(tensor: OnDevice) -> Any:
        counts["waits"] += 1
        return convert(tensor.elem.item())

    return read


def _set_data(tensor: OnDevice, data: OnDevice) -> None:
    with torch._C.DisableTorchFunction():
        Tensor.data.__set__(tensor, data)
    tensor.elem = data.elem


def _attention(
    query: Tensor, key: Tensor, value: Tensor, attn_mask: Any = None, dropout_p: float = 0.0, is_causal: bool = False,
    *, scale: Any = None, enable_gqa: bool = False,
) -> Tensor:  # fmt: skip
    """As memory-efficient kernels have it: a row without keys is NaN, and so is what flows back through it."""
    counts["causal" if is_causal else "unmasked" if attn_mask is None else "masked"] += 1
    if is_causal:
        attn_mask = query.new_ones(query.shape[2], key.shape[2], dtype=torch.bool).tril()
    if enable_gqa:
        key, value = (part.repeat_interleave(query.shape[1] // part.shape[1], dim=1) for part in (key, value))
    scores = (query * (query.shape[-1] ** -0.5 if scale is None else scale)) @ key.transpose(-2, -1)
    if attn_mask is not None:
        hides = attn_mask.dtype is torch.bool
        scores = scores.masked_fill(~attn_mask, -torch.inf) if hides else scores + attn_mask
    return scores.softmax(dim=-1) @ value


_OWN: dict[Any, Callable] = {
    Tensor.numpy: _refuse_numpy, Tensor.__array__: _refuse_numpy, Tensor.tolist: _to_list,
    Tensor.item: _read_number(lambda number: number), Tensor.__bool__: _read_number(bool),
    Tensor.__int__: _read_number(int), Tensor.__float__: _read_number(float), Tensor.__index__: _read_number(int),
    Tensor.data.__set__: _set_data, torch.nn.functional.scaled_dot_product_attention: _attention,
}  # fmt: skip


def _round_to_tf32(tensor: Tensor) -> Tensor:
    if tensor.dtype is not torch.float32:
        return tensor
    return ((tensor.contiguous().view(torch.int32) + 0x1000) & ~0x1FFF).view(torch.float32)


@contextmanager
def fake_device(kind: str) -> Iterator[torch.device]:
    """Give this machine one device of a kind inside the block, "cuda" or "mps"."""
    with pytest.MonkeyPatch.context() as patch, FakeDevice(kind) as mode:
        counts.clear()
        cuda = kind == "cuda"
        for name, found in (("is_available", cuda), ("device_count", int(cuda)), ("current_device", 0)):
            patch.setattr(torch.cuda, name, lambda found=found: found)
        patch.setattr(torch.backends.mps, "is_available", lambda: not cuda)
        for module in (torch.cuda, torch.mps):
            patch.setattr(module, "synchronize", lambda *device: counts.update(synchronized=1))
            patch.setattr(module, "empty_cache", lambda: counts.update(emptied=1))
        for module, name in ((torch.cuda, "memory_allocated"), (torch.mps, "current_allocated_memory")):
            patch.setattr(module, name, lambda *device: memory["taken"])
        patch.setattr(torch.cuda, "mem_get_info", lambda device: (memory["room"], 0))
        patch.setattr(torch.mps, "recommended_max_memory", lambda: memory["room"])
        patch.setattr(torch.mps, "driver_allocated_memory", lambda: 0)
        patch.setattr(torch, "Generator", _Generator)
        swaps = torch.__future__.get_swap_module_params_on_conversion()
        torch.__future__.set_swap_module_params_on_conversion(True)  # a weight that two modules share stays one
        yield mode.where
        torch.__future__.set_swap_module_params_on_conversion(swaps)
