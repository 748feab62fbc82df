"""What a link to the Decoding page carries, and what is said about one that cannot be followed. No Streamlit."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields

WAYS = {"cached": "KV cache", "recomputed": "Recompute the prefix", "teacher": "Teacher's prefix"}
CHOICES = {"greedy": "Greedy", "sampled": "Sampled", "beam": "Beam"}
MASKS = {"causal": "Causal mask", "none": "No causal mask", "ahead": "Mask off by one"}
DTYPES = {"float32": "float32", "float16": "float16", "bfloat16": "bfloat16"}
MORE = {"cost": "Cost", "experiment": "The untrained experiment", "tables": "Numbers as tables"}
DROPOUT = 0.1  # the rate that the switch leaves on: the paper's
_NAMED = {"way": WAYS, "choose": CHOICES, "causal": MASKS, "dtype": DTYPES, "more": MORE}


@dataclass(frozen=True)
class Number:
    """What a number in a link may be, and what it is when left out."""

    default: float
    low: float
    high: float
    step: float = 1

    def read(self, text: str) -> float:
        """The number that a text says, the default where it says none or one out of range."""
        return float(text) if _is_within(text, self) else self.default


NUMBERS = {
    "seed": Number(0, 0, 9999),
    "temperature": Number(1.0, 0.1, 3.0, 0.1),
    "top_k": Number(0, 0, 1000),
    "top_p": Number(1.0, 0.05, 1.0, 0.05),
    "beam": Number(4, 1, 8),
    "smoothing": Number(0.0, 0.0, 0.5, 0.05),
    "padding": Number(2, 0, 8),
    "ids_seed": Number(0, 0, 9999),
}
OF_CHOICE = {
    "sampled": {"temperature": "Temperature", "top_k": "Top k", "top_p": "Top p"},
    "beam": {"beam": "Beam size"},
}
_SWITCHES = ("dropout", "restart", "ids_causal")
IDS = {"ids_src": "0 1 2 3 4", "ids_tgt": "4 3 2 1 0"}  # of the untrained experiment
PARAM = {"layer": "map_layer", "head": "map_head"}  # in the address: the Heads page has its own layer and head


@dataclass(frozen=True)
class DecodingView:
    """Every option of the page. `top_k` 0 and `top_p` 1 cut nothing; `step` None is the last one."""

    way: str = "cached"
    choose: str = "greedy"
    seed: int = 0
    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0
    beam: int = 4
    smoothing: float = 0.0
    padding: int = 2
    causal: str = "causal"
    dropout: bool = False
    dtype: str = "float32"
    restart: bool = False
    more: str | None = None
    ids_src: str = IDS["ids_src"]
    ids_tgt: str = IDS["ids_tgt"]
    ids_seed: int = 0
    ids_causal: bool = True
    step: int | None = None
    layer: int | str = "mean"
    head: int | str = "mean"

    @property
    def broken(self) -> tuple[str, ...]:
        """Names of the switches that are not as they should be."""
        return tuple(
            name for name in ("causal", "dropout", "dtype", "restart") if getattr(self, name) != _HEALTHY[name]
        )

    def to_params(self) -> dict[str, str]:
        """Every field as the text that stands in a link; `map_layer` and `map_head`, for Heads has its own.

        What the untrained experiment is asked stands there only while it is shown.
        """
        texts = {PARAM.get(name, name): str(value) for name, value in asdict(self).items() if value is not None}
        texts |= {name: "true" if getattr(self, name) else "false" for name in _SWITCHES}
        if self.more == "experiment":
            return texts
        return {name: text for name, text in texts.items() if not name.startswith("ids_")}

    def computed(self) -> "DecodingView":
        """Without all that changes nothing in what is computed: where the reader looks, and what stands below."""
        here = {name: getattr(self, name) for name in _COMPUTED}
        return DecodingView(**here)

    def to_payload(self) -> dict[str, int | str | None]:
        """What the Stepper component shows of it."""
        return {"step": self.step, "layer": self.layer, "head": self.head}


_LOOKED_AT = ("step", "layer", "head", "more", "ids_src", "ids_tgt", "ids_seed", "ids_causal")
_COMPUTED = tuple(field.name for field in fields(DecodingView) if field.name not in _LOOKED_AT)
_HEALTHY = {field.name: field.default for field in fields(DecodingView)}


def link_problems(params: Mapping[str, str]) -> tuple[str, ...]:
    """A sentence for each text of a link that asks for what there is not."""
    problems = [
        _sentence(name, params[name], f"it can be {', '.join(known)}")
        for name, known in _NAMED.items()
        if params.get(name) and params[name] not in known
    ]
    unused = {name for choice, names in OF_CHOICE.items() if choice != params.get("choose") for name in names}
    problems += [
        _sentence(name, params[name], f"it is a number from {number.low:g} to {number.high:g}")
        for name, number in NUMBERS.items()
        if name in params and name not in unused and not _is_within(params[name], number)
    ]
    problems += [
        _sentence(name, params[name], "it is true or false")
        for name in _SWITCHES
        if name in params and params[name] not in ("true", "false")
    ]
    return tuple(problems)


def place(
    params: Mapping[str, str], n_layers: int, n_heads: int, *, start: Mapping[str, int | str]
) -> tuple[dict[str, int | str | None], tuple[str, ...]]:
    """Step, layer and head that texts ask for, and a sentence for each that is not there; left out, `start` holds."""
    found: dict[str, int | str | None] = {"step": None, **start}
    problems = []
    for name, count in (("step", 10_000), ("layer", n_layers), ("head", n_heads)):
        text = params.get(name, "")
        if text.isdecimal() and len(text) < 6 and int(text) < count:
            found[name] = int(text)
        elif text == "mean" and name != "step":
            found[name] = text
        elif text:
            allowed = (
                "it is a position counted from 0" if name == "step" else f"this model has {name}s 0 to {count - 1}"
            )
            problems.append(_sentence(name, text, allowed))
    return found, tuple(problems)


def _is_within(text: str, number: Number) -> bool:
    try:
        return number.low <= float(text) <= number.high
    except ValueError:
        return False


def _sentence(name: str, text: str, allowed: str) -> str:
    return f"The link asks for {name} “{text[:40]}”, but {allowed}; the usual one is shown instead."
