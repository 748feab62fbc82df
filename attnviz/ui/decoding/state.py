"""What a link to the Decoding page carries, and what is said about one that cannot be followed. No Streamlit."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from attnviz.pictures.fields import MEAN, Problem, choice, flag, number, or_mean, read, text, whole, write

WAYS = {"cached": "KV cache", "recomputed": "Recompute the prefix", "teacher": "Teacher's prefix"}
CHOICES = {"greedy": "Greedy", "sampled": "Sampled", "beam": "Beam"}
MASKS = {"causal": "Causal mask", "none": "No causal mask", "ahead": "Mask off by one"}
DTYPES = {"float32": "float32", "float16": "float16", "bfloat16": "bfloat16"}
MORE = {
    "verdict": "Every difference",
    "cost": "Cost",
    "experiment": "The untrained experiment",
    "tables": "Numbers as tables",
}
DROPOUT = 0.1  # the rate that the switch leaves on: the paper's


@dataclass(frozen=True)
class Number:
    """The range of a number, and the step of its field."""

    low: float
    high: float
    step: float = 1


NUMBERS = {
    "seed": Number(0, 9999),
    "temperature": Number(0.1, 3.0, 0.1),
    "top_k": Number(0, 1000),
    "top_p": Number(0.05, 1.0, 0.05),
    "beam": Number(1, 8),
    "smoothing": Number(0.0, 0.5, 0.05),
    "padding": Number(0, 8),
    "ids_seed": Number(0, 9999),
}
OF_CHOICE = {
    "sampled": {"temperature": "Temperature", "top_k": "Top k", "top_p": "Top p"},
    "beam": {"beam": "Beam size"},
}
MAX_IDS = 500  # characters of the untrained experiment's ids


def _within(name: str, default: float) -> Any:
    return number(default, NUMBERS[name].low, NUMBERS[name].high)


@dataclass(frozen=True)
class DecodingState:
    """Every option of the page. `top_k` 0 and `top_p` 1 cut nothing; `step` None is the last one."""

    way: str = choice("cached", tuple(WAYS))
    choose: str = choice("greedy", tuple(CHOICES))
    seed: int = _within("seed", 0)
    temperature: float = _within("temperature", 1.0)
    top_k: int = _within("top_k", 0)
    top_p: float = _within("top_p", 1.0)
    beam: int = _within("beam", 4)
    smoothing: float = _within("smoothing", 0.0)
    padding: int = _within("padding", 2)
    causal: str = choice("causal", tuple(MASKS))
    dropout: bool = flag()
    dtype: str = choice("float32", tuple(DTYPES))
    restart: bool = flag()
    more: str | None = choice(None, tuple(MORE))
    ids_src: str = text("0 1 2 3 4", limit=MAX_IDS)  # of the untrained experiment
    ids_tgt: str = text("4 3 2 1 0", limit=MAX_IDS)
    ids_seed: int = _within("ids_seed", 0)
    ids_causal: bool = flag(default=True)
    step: int | None = whole(used="the last one")
    layer: int | str = or_mean(MEAN, of="layer")
    head: int | str = or_mean(MEAN, of="head")

    @property
    def is_plain(self) -> bool:
        """Whether it steps, chooses and trains as the page opens."""
        return all(getattr(self, name) == _HEALTHY[name] for name in ("way", "choose", "seed", "smoothing", "padding"))

    @property
    def broken(self) -> tuple[str, ...]:
        """Names of the switches that are not as they should be."""
        return tuple(
            name for name in ("causal", "dropout", "dtype", "restart") if getattr(self, name) != _HEALTHY[name]
        )

    def to_params(self) -> dict[str, str]:
        """Every option as the text that a link carries; of the untrained experiment only while it is shown."""
        texts = write(self)
        if self.more == "experiment":
            return texts
        return {name: chosen for name, chosen in texts.items() if not name.startswith("ids_")}

    def computed(self) -> "DecodingState":
        """Without all that changes nothing in what is computed: where the reader looks, and what is shown below."""
        here = {name: getattr(self, name) for name in _COMPUTED}
        return DecodingState(**here)

    def to_payload(self) -> dict[str, int | str | None]:
        """What the Stepper component shows of it."""
        return {"step": self.step, "layer": self.layer, "head": self.head}


_LOOKED_AT = ("step", "layer", "head", "more", "ids_src", "ids_tgt", "ids_seed", "ids_causal")
_COMPUTED = tuple(field.name for field in fields(DecodingState) if field.name not in _LOOKED_AT)
_HEALTHY = {field.name: field.default for field in fields(DecodingState)}


def view_of(
    params: Mapping[str, str], n_layers: int, n_heads: int, start: Mapping[str, Any]
) -> tuple[DecodingState, tuple[Problem, ...]]:
    """The view that texts ask for, and a sentence for each that asks for what there is not.

    `start` says where the model starts. What belongs to a way of choosing that is not in force is not read.
    """
    unused = {name for choice, names in OF_CHOICE.items() if choice != params.get("choose") for name in names}
    asked = {name: chosen for name, chosen in params.items() if name not in unused}
    return read(DecodingState, asked, {"layer": n_layers, "head": n_heads}, DecodingState(**start))
