"""A mask as the user builds it: rules with parameters, and cells painted by hand, combined with `&`."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import torch
from jaxtyping import Bool
from torch import Tensor

from attnviz.transformer import masks


@dataclass(frozen=True)
class RuleNumber:
    """A parameter of a rule: its range, its default, and whether it is a share from 0 to 1."""

    label: str
    least: int | float
    most: int | float
    default: int | float
    is_share: bool = False


@dataclass(frozen=True)
class Rule:
    """A mask rule: its name in links and on buttons, what a query sees, the function that makes it, and its
    parameters.
    """

    name: str
    sees: str
    make: Callable[..., Tensor]
    numbers: tuple[RuleNumber, ...] = ()

    @property
    def defaults(self) -> tuple[int | float, ...]:
        """The default values of the parameters."""
        return tuple(number.default for number in self.numbers)


# "padding" has no function of lengths alone: it is computed from the batch, see `MaskSpec.build`.
_RULES = (
    Rule("causal", "keys up to its own position", lambda q, k: masks.wait(q, k, lead=1)),
    Rule("padding", "every key that is not padding", masks.full),
    Rule(
        "window",
        "keys at most that far away",
        lambda q, k, reach: masks.sliding_window(q, k, reach=int(reach)),
        (RuleNumber("reach", 0, 64, 2),),
    ),
    Rule(
        "prefix",
        "the first keys, and those up to its own position",
        lambda q, k, length: masks.prefix(q, k, length=int(length)),
        (RuleNumber("length", 0, 64, 3),),
    ),
    Rule(
        "block",
        "keys of its own block",
        lambda q, k, size: masks.block_diagonal(q, k, size=int(size)),
        (RuleNumber("size", 1, 64, 4),),
    ),
    Rule(
        "dilated",
        "every n-th key, counted from its own",
        lambda q, k, step: masks.dilated(q, k, step=int(step)),
        (RuleNumber("step", 1, 16, 2),),
    ),
    Rule(
        "random",
        "each key with this probability",
        lambda q, k, keep, seed: masks.random(q, k, keep=float(keep), seed=int(seed)),
        (RuleNumber("keep", 0, 1, 0.7, is_share=True), RuleNumber("seed", 0, 9999, 0)),
    ),
    Rule(
        "wait-k",
        "the first keys, one more for each step",
        lambda q, k, lead: masks.wait(q, k, lead=int(lead)),
        (RuleNumber("lead", 1, 64, 3),),
    ),
)
RULES: Mapping[str, Rule] = {rule.name: rule for rule in _RULES}
RuleNumbers = tuple[str, tuple[int | float, ...]]  # a rule's name and its numbers


@dataclass(frozen=True, eq=False)
class MaskSpec:
    """Mask rules by name with their parameters, and a painted mask `(q_len, k_len)`, True = may attend, or None."""

    rules: Mapping[str, tuple[int | float, ...]] = field(default_factory=dict)
    painted: Bool[Tensor, "q k"] | None = None

    def build(
        self, q_len: int, k_len: int, *, real: Bool[Tensor, "batch k_real"] | None = None
    ) -> Bool[Tensor, "_ q k"]:
        """Combine the rules and the paint into a mask for these lengths.

        The batch size is 1, unless "padding" is one of the rules and `real` says which keys are not padding. Keys
        beyond `real` count as not padding.
        """
        mask = self.rules_mask(q_len, k_len, real=real)
        return mask if self.painted is None else mask & fit_mask(self.painted, q_len, k_len)

    def rules_mask(
        self, q_len: int, k_len: int, *, real: Bool[Tensor, "batch k_real"] | None = None
    ) -> Bool[Tensor, "_ q k"]:
        """Combine only the rules, without the paint."""
        mask = masks.full(q_len, k_len)
        for name, numbers in self.rules.items():
            mask = mask & RULES[name].make(q_len, k_len, *numbers)
        if "padding" in self.rules and real is not None:
            mask = mask & fit_mask(real.cpu(), len(real), k_len).unsqueeze(1)
        return mask

    def sees_ahead(self, length: int) -> bool:
        """Return whether any position of a square mask may see a later one."""
        return bool(self.build(length, length).triu(1).any())

    @property
    def is_none(self) -> bool:
        """Whether nothing is masked: there is no rule, and no painted cell."""
        return not self.rules and (self.painted is None or bool(self.painted.all()))

    @property
    def title(self) -> str:
        """The mask in words, such as `causal & window (reach 2)`."""
        parts = [_rule_text(RULES[name], numbers) for name, numbers in self.rules.items()]
        parts += [] if self.painted is None or bool(self.painted.all()) else ["painted"]
        return " & ".join(parts) or "none"


def fit_mask(mask: Bool[Tensor, "rows cols"], q_len: int, k_len: int) -> Bool[Tensor, "q k"]:
    """Truncate or extend a mask to other lengths; added cells may attend."""
    rows, cols = min(mask.shape[0], q_len), min(mask.shape[1], k_len)
    extended = torch.ones(q_len, k_len, dtype=torch.bool)
    extended[:rows, :cols] = mask[:rows, :cols]
    return extended


def _rule_text(rule: Rule, numbers: tuple[int | float, ...]) -> str:
    told = ", ".join(f"{number.label} {value:g}" for number, value in zip(rule.numbers, numbers, strict=True))
    return f"{rule.name} ({told})" if told else rule.name


def rules_to_text(rules: tuple[RuleNumbers, ...]) -> str:
    """Return rules as text, such as `causal~window_2~random_0.7_3`; "none" if there is no rule."""
    return "~".join("_".join((name, *(f"{number:g}" for number in numbers))) for name, numbers in rules) or "none"


def rule_from_text(part: str) -> RuleNumbers | str:
    """Parse a rule with its parameters, as `rules_to_text` writes it; return an invalid text unchanged."""
    name, *texts = part.split("_")
    rule = RULES.get(name)
    if rule is None or len(texts) not in (0, len(rule.numbers)):
        return part
    try:
        numbers = tuple(float(text) for text in texts) or rule.defaults
    except ValueError:
        return part
    return (name, fit_numbers(rule, numbers)) if all(map(math.isfinite, numbers)) else part


def fit_numbers(rule: Rule, numbers: tuple[int | float, ...]) -> tuple[int | float, ...]:
    """Clip parameters to their ranges, and convert counts to integers."""
    within = zip(rule.numbers, numbers, strict=True)
    return tuple(
        min(max(value, n.least), n.most) if n.is_share else int(min(max(value, n.least), n.most)) for n, value in within
    )
