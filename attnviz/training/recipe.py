"""The settings of a training run, and the learning rate schedule."""

from dataclasses import dataclass, field

_RANGES = (
    ("vocab_size d_model n_heads n_layers d_ff steps batch_tokens workers", 1, 10**9),
    ("warmup seed", 0, 10**9),
    ("decay dropout piece_dropout label_smoothing average", 0, 1),
    ("learning_rate weight_decay clip", 0, 1000),
)


@dataclass(frozen=True)
class Recipe:
    """The settings of a training run, saved with its state and printed on the model card.

    `languages` maps a target language to how often an epoch uses its pairs. `steps` may be raised when a run is
    resumed; everything else must stay the same. `more` maps the name of an additional table of pairs (`read_table`) to
    how often an epoch uses it. `workers` is the number of processes that train together, each with its own batch at
    every step. `piece_dropout` is the share of merges that `PieceDropout` leaves out. `begin` names the trained model
    from which the weights start, if any.
    """

    languages: dict[str, int] = field(default_factory=lambda: {"fr": 1, "zh": 3})
    more: dict[str, int] = field(default_factory=dict)
    vocab_size: int = 10_000
    d_model: int = 256
    n_heads: int = 8
    n_layers: int = 3
    d_ff: int = 1024
    steps: int = 16_000
    batch_tokens: int = 4_000
    workers: int = 1
    learning_rate: float = 1e-3
    warmup: int = 800
    decay: float = 0.35
    dropout: float = 0.1
    piece_dropout: float = 0.0
    label_smoothing: float = 0.1
    weight_decay: float = 0.01
    clip: float = 1.0
    average: float = 0.999
    seed: int = 1
    begin: str = ""

    def __post_init__(self) -> None:
        for names, least, most in _RANGES:
            for name in names.split():
                value = getattr(self, name)
                whole = isinstance(Recipe.__dataclass_fields__[name].default, int)
                if not isinstance(value, int if whole else (int, float)) or not least <= value <= most:
                    kind = "a whole number" if whole else "a number"
                    raise ValueError(f"{name} must be {kind} from {least} to {most:g}, not {value!r}")
        for name in ("languages", "more"):
            times = getattr(self, name)
            if not isinstance(times, dict) or not all(isinstance(n, int) and n >= 0 for n in times.values()):
                raise ValueError(f'{name} must map names to how often an epoch sees them: {{"fr": 1}}, not {times!r}')

    def rate(self, step: int) -> float:
        """Return the learning rate of a step, counted from 1.

        The rate rises linearly, stays constant, and falls linearly to zero over the last `decay` share of the steps. A
        longer run has the same constant phase, so that it can resume from a shorter one.
        """
        left = (self.steps - step + 1) / max(1, round(self.decay * self.steps))
        return self.learning_rate * min(1.0, step / max(1, self.warmup), left)
