"""A packed weight gives what torch's own product gives, and is left alone once the weight is another."""

import copy
import pickle
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import linear
from torch.overrides import TorchFunctionMode

from attnviz.transformer.embedding import Embedding
from attnviz.transformer.packed import Linear, PackedWeight
from attnviz.transformer.transformer import Transformer

pytestmark = pytest.mark.skipif(
    "fbgemm" not in torch.backends.quantized.supported_engines, reason="nothing reads packed weights on this machine"
)


@pytest.fixture
def module() -> Linear:
    """Of 53 inputs and 29 outputs, its weights such as 16 bits hold."""
    generator, made = torch.Generator().manual_seed(5), Linear(53, 29)
    made.weight.data = torch.randn(29, 53, generator=generator).half().float().t().contiguous().t()
    made.bias.data = torch.randn(29, generator=generator)
    made.pack()
    assert made.packed is not None
    return made


def _halved(model: Transformer) -> Transformer:
    """With weights as a checkpoint stores them."""
    for parameter in model.parameters():
        parameter.data = parameter.data.half().float()
    return model


@torch.inference_mode()
@pytest.mark.parametrize("shape", [(1, 53), (2, 3, 53), (1, 17, 53), (0, 53), (53,)])
def test_it_is_as_close_to_the_exact_product_as_torchs_own(module: Linear, shape: tuple[int, ...]) -> None:
    x = torch.randn(shape, generator=torch.Generator().manual_seed(7))
    exact = linear(x.double(), module.weight.double(), module.bias.double())
    assert module(x).shape == exact.shape
    torch.testing.assert_close(module(x).double(), exact, rtol=0, atol=1e-5)
    torch.testing.assert_close(module(x.flip(0)), linear(x.flip(0), module.weight, module.bias), rtol=0, atol=1e-5)


@torch.inference_mode()
def test_rows_in_any_layout(module: Linear) -> None:
    x = torch.randn(53, 11, generator=torch.Generator().manual_seed(7)).t()
    torch.testing.assert_close(module(x), linear(x, module.weight, module.bias), rtol=0, atol=1e-5)


def test_what_16_bits_do_not_hold_is_not_packed() -> None:
    generator = torch.Generator().manual_seed(5)
    exact = torch.randn(5, 7, generator=generator).half().float()
    assert PackedWeight.of(exact) is not None
    for number in (1 / 3, 70_000.0, 1e-9, float("nan")):
        other = exact.clone()
        other[2, 3] = number
        assert PackedWeight.of(other) is None, number
    assert PackedWeight.of(exact.double()) is None
    assert PackedWeight.of(exact.bfloat16()) is None


def _another(module: Linear) -> None:
    module.weight = nn.Parameter(module.weight * 2)


def _loaded(module: Linear) -> None:
    module.load_state_dict({"weight": module.weight * 2, "bias": module.bias * 2})


def _there_and_back(module: Linear) -> None:
    module.to(torch.bfloat16).to(torch.float32)


def _biased(module: Linear) -> None:
    module.bias.add_(1)


def _doubled(module: Linear) -> None:
    module.weight.mul_(2)


def _of_a_view(module: Linear) -> None:
    module.weight.detach()[3] = 0


@pytest.mark.parametrize("change", [_another, _loaded, _there_and_back, _biased, _doubled, _of_a_view])
def test_a_change_is_noticed(module: Linear, change: Callable[[Linear], None]) -> None:
    x = torch.randn(2, 53, generator=torch.Generator().manual_seed(7))
    with torch.no_grad():
        before = module(x)
        change(module)
        assert torch.equal(module(x), linear(x, module.weight, module.bias))
        assert not torch.allclose(module(x), before, atol=1e-4)
        module.pack()
        torch.testing.assert_close(module(x), linear(x, module.weight, module.bias), rtol=0, atol=1e-5)


def test_gradients_are_torchs_own(module: Linear) -> None:
    x = torch.randn(3, 53, generator=torch.Generator().manual_seed(7), requires_grad=True)
    module(x).square().sum().backward()
    found, module.packed, x.grad = (x.grad, module.weight.grad), None, None
    module.weight.grad = None
    module(x).square().sum().backward()
    assert found[0] is not None
    assert found[1] is not None
    assert torch.equal(found[0], x.grad)
    assert torch.equal(found[1], module.weight.grad)


def test_other_types_are_torchs_own(module: Linear) -> None:
    x = torch.randn(2, 53, generator=torch.Generator().manual_seed(7))
    other = copy.deepcopy(module).double()
    with torch.no_grad():
        assert torch.equal(other(x.double()), linear(x.double(), other.weight, other.bias))


class _Listening(TorchFunctionMode):
    """Notes which of torch's functions are called."""

    def __init__(self) -> None:
        super().__init__()
        self.heard: list[Callable[..., object]] = []

    def __torch_function__(self, func, types, args=(), kwargs=None):
        self.heard.append(func)
        return func(*args, **(kwargs or {}))


@torch.inference_mode()
def test_who_listens_hears_torchs_own(module: Linear) -> None:
    """As analysis does, to find the maps of a model that it knows nothing of."""
    x = torch.randn(2, 53, generator=torch.Generator().manual_seed(7))
    with _Listening() as listening:
        found = module(x)
    assert linear in listening.heard
    assert torch.equal(found, linear(x, module.weight, module.bias))


def test_a_copy_is_not_packed(module: Linear) -> None:
    assert copy.deepcopy(module).packed is None
    assert pickle.loads(pickle.dumps(module)).packed is None
    assert list(module.state_dict()) == ["weight", "bias"]


def test_a_packed_model_computes_what_it_did(either_norm: Transformer, src, tgt_in, monkeypatch) -> None:
    model = _halved(either_norm)
    with torch.inference_mode():
        expected = model(src, tgt_in)
        model.pack()
        products, plain = [], PackedWeight.__call__

        def counted(packed: PackedWeight, x: Tensor) -> Tensor:
            products.append(packed)
            return plain(packed, x)

        monkeypatch.setattr(PackedWeight, "__call__", counted)
        torch.testing.assert_close(model(src, tgt_in), expected, rtol=0, atol=2e-5)
    linears = [module for module in model.modules() if isinstance(module, Linear | Embedding)]
    assert len({id(packed) for packed in products}) == len(linears) == len(products)


def test_many_threads_at_once(module: Linear) -> None:
    xs = torch.randn(40, 13, 53, generator=torch.Generator().manual_seed(7))

    def product(x: Tensor) -> Tensor:
        with torch.inference_mode():
            return module(x)

    alone = [product(x) for x in xs]
    with ThreadPoolExecutor(8) as pool:
        assert all(map(torch.equal, pool.map(product, [*xs] * 20), alone * 20))
