"""Reasons why steps and pass differ: a sentence for each switch that is on, with values from the run in view."""

from dataclasses import dataclass

from attnviz.decoding.decoding import DROPOUT, DecodingState

_BITS = {"float16": 10, "bfloat16": 7}  # mantissa bits; float32 has 23


@dataclass(frozen=True)
class Reason:
    """Why steps and pass differ: a sentence that is always visible, and more text that a click opens."""

    why: str
    more: str = ""


@dataclass(frozen=True)
class Seen:
    """Values of a run that the reasons mention.

    `loss` and `intact_loss` are the mean losses of the training pass as it is and without broken switches.
    `coarse_share` is the share of the rounding tolerance of the steps' dtype, or None if the pass has the same dtype.
    """

    loss: float
    intact_loss: float
    steps: int = 2
    coarse_share: float | None = None

    @property
    def losses(self) -> str:
        """The end of a sentence about the loss: that it stays the same, rises or falls, with its values in nats."""
        before, after = f"{self.intact_loss:.2f}", f"{self.loss:.2f}"
        if before == after:
            return f"stays at {after} nats"
        return f"{'rises' if self.loss > self.intact_loss else 'falls'} from {before} to {after} nats"


@dataclass(frozen=True)
class Equality:
    """How far steps and pass agree: the number of places where they are `equal` bitwise, whether they agree within
    rounding everywhere (`holds`), and whether each step recomputed the whole prefix.

    `note` is the model's own note on its decoding steps.
    """

    equal: int
    places: int
    holds: bool
    recomputes: bool
    note: str = ""


def equality_reason(found: Equality, view: DecodingState) -> Reason:
    """Return why steps and pass are equal or differ, if no switch is on."""
    if not found.holds:
        if found.note:
            return Reason(found.note)
        if found.recomputes and view.way != "recomputed":
            return Reason(
                "Each position of this model sees later tokens, so the pass reads tokens that no step has seen."
            )
        return Reason("No switch is on, but in this model the steps and the pass do not compute the same numbers.")
    if found.equal == found.places:
        return Reason(f"Both are the same to the last bit, at all {found.places:,} places.")
    row = "as many rows as there are tokens so far" if found.recomputes else "one row"
    return Reason(
        f"Both are the same to the last bit at {found.equal:,} of {found.places:,} places; elsewhere they differ by "
        f"rounding: a step multiplies {row}, the pass multiplies all rows at once, and sums of floating-point numbers "
        "taken in another order are rounded differently."
    )


def reasons(view: DecodingState, seen: Seen) -> tuple[Reason, ...]:
    """Return a reason for each switch that is on, valid for the chosen way of stepping."""
    found = (_mask(view, seen), _dropout(view, seen), _dtype(view, seen), _positions(view, seen))
    return tuple(reason for reason in found if reason is not None)


def _mask(view: DecodingState, seen: Seen) -> Reason | None:
    # The loss is a result of the mask only if nothing else changed the pass.
    loss = "" if view.dropout else f" Its loss on this target {seen.losses}."
    if view.causal != "causal" and seen.steps == 1:
        return Reason(
            "This switch changes nothing here, because there is only one row, and no later token that a "
            "mask could hide."
        )
    if view.causal == "none":
        return Reason(
            "Without the causal mask every row of the pass but the last also looks at tokens that its step has not "
            "seen.",
            f"This model was trained with the mask and never learned to use later tokens.{loss} A "
            "model trained without the mask would copy each label from the next input. Its loss would "
            "be near 0, but it would write nonsense, because there is no next input to copy while it "
            "writes.",
        )
    if view.causal == "ahead":
        return Reason(
            "The mask shows one token too many to every row except the last. This is the token that "
            "the row should predict.",
            f"This model was trained with the right mask and never learned to copy that token.{loss} A "
            "model trained with this mask would copy the token. Its loss would be near 0, but it "
            "would write nonsense, because there is no such token to copy while it writes.",
        )
    return None


def _dropout(view: DecodingState, seen: Seen) -> Reason | None:
    if not view.dropout:
        return None
    alone = view.causal == "causal"
    return Reason(
        f"Dropout zeroes each number with probability {DROPOUT:g}, from the embedding on, and other numbers in each "
        f"run (seed {view.seed}).",
        (f"The training loss {seen.losses}. " if alone else "")
        + "The same happens if somebody forgets eval(). Two runs on the same sentence then differ, and "
        "the texts that they write may differ, too.",
    )


def _dtype(view: DecodingState, seen: Seen) -> Reason | None:
    if view.dtype not in _BITS:
        return None
    why = (
        f"The steps run completely in {view.dtype}, which rounds every number to {_BITS[view.dtype]} "
        "bits. The pass stays in float32, which has 23 bits."
    )
    if seen.coarse_share is None:
        return Reason(why)
    if seen.coarse_share <= 1:
        share = f"{seen.coarse_share:.2f}" if seen.coarse_share >= 0.01 else "less than 0.01"
        return Reason(
            why,
            f"Rounding to {view.dtype} explains the whole difference, which is {share} of the "
            f"difference that rounding this pass to {view.dtype} allows.",
        )
    return Reason(
        why,
        f"Rounding to {view.dtype} does not explain the difference: it is larger than rounding this pass to "
        f"{view.dtype} allows.",
    )


def _positions(view: DecodingState, seen: Seen) -> Reason | None:
    if not view.restart:
        return None
    if view.way == "recomputed":
        return Reason(
            "This switch changes nothing here, because recomputing uses no cache whose positions could restart."
        )
    if seen.steps == 1:
        return Reason("This switch changes nothing here, because the only step stands at position 0.")
    return Reason(
        "Every cached step is embedded as if it stood at position 0.",
        "This is right only for the first step. Every later step is computed with a wrong position.",
    )
