"""What switching heads off showed, in sentences that are computed: nothing is made to look important that is not."""

import math
from typing import TYPE_CHECKING

from attnviz.analysis.causes.comparing.chances import Chances
from attnviz.analysis.causes.comparing.compared import Compared, ComparedKind
from attnviz.analysis.causes.effects import HeadEffects, ReferenceEffects
from attnviz.analysis.causes.runs import HeadPlace
from attnviz.text.display import display_token
from attnviz.text.tokens import Token

if TYPE_CHECKING:
    from attnviz.analysis.corpus.counted import ChangeCount

USUAL = 2.0  # spreads: within them a head does no more than it usually does
DECISIVE = math.log(2)  # nats a token: the mean token is half as likely without the head
HAIR = 0.2  # nats: the runner-up has four fifths of the first one's probability, or more
_SHORT = {"encoder_self": "encoder", "decoder_self": "decoder", "cross": "cross"}


def head_name(place: HeadPlace) -> str:
    """`cross L2 H5`."""
    kind, layer, head = place
    return f"{_SHORT[kind]} L{layer} H{head}"


def of_effects(effects: HeadEffects, reference: ReferenceEffects | None) -> tuple[str, ...]:
    """Whether a single head is decisive here, and how many do more than they usually do."""
    mean = effects.mean
    worst = int(mean.argmin())
    name, loss = head_name(effects.places[worst]), -float(mean[worst])
    before = float(effects.before.mean())
    cost = f"{_less(loss)} ({_nats(before)} to {_nats(before - loss)} nats)"
    if loss <= 0:
        first = "No token gets less likely on average without any single head."
    elif loss < DECISIVE:
        first = f"No single head is decisive here: without {name}, which costs most, a token gets {cost} on average."
    else:
        first = f"{name[0].upper()}{name[1:]} is decisive here: without it a token gets {cost} on average."
    return first, _usual(effects, reference)


def _nats(value: float, digits: int = 2) -> str:
    text = f"{value:.{digits}f}"
    return (text if float(text) else text.removeprefix("-")).replace("-", "−")


def _percent(share: float) -> str:
    return f"{share:.1%}" if share >= 0.001 or share == 0 else "<0.1%"


def _less(loss: float) -> str:
    return f"{1 - math.exp(-loss):.1%} less likely"


def _usual(effects: HeadEffects, reference: ReferenceEffects | None) -> str:
    if reference is None:
        return (
            "How much each head usually does was not measured for these weights and this language: "
            "numbers are plain nats, and say nothing of what is usual."
        )
    far = int((reference.in_spreads(effects).abs() > USUAL).sum())
    return (
        f"{far} of {len(effects.places)} heads do more here than they usually do (beyond {USUAL:g} of their own "
        f"spreads over {reference.sentences} sentences); the others stay grey."
    )


def of_run(before: Chances, after: Chances) -> tuple[str, ...]:
    """What the sentence lost with what is switched off: on average, and the token that lost most."""
    lost = before.log_probabilities - after.log_probabilities
    at = int(lost.argmax())
    first = f"Mean log-probability of a token: {_nats(before.mean, 3)} → {_nats(after.mean, 3)} nats."
    if float(lost.abs().max()) == 0:
        return (f"{first} No probability changed.",)
    token = display_token(before.asked.tokens[at])
    here, there = (math.exp(float(one.log_probabilities[at])) for one in (before, after))
    return first, f"“{token}” loses most: {_percent(here)} → {_percent(there)}."


def of_texts(before: Chances, after: Chances, written: tuple[tuple[Token, ...], tuple[Token, ...]]) -> tuple[str, ...]:
    """Where two texts first part, and by how much either run preferred its own word: by a hair, or clearly.

    `written` are the tokens that both wrote, special ones included; the chances are those of the first text.
    """
    if before.asked.what not in ("target", "text"):
        return ()
    one, other = written
    at = next((place for place, (a, b) in enumerate(zip(one, other, strict=False)) if a.id != b.id), None)
    row = None if at is None else at - 1  # the row that puts out token `at`
    if at is None or row not in before.asked.rows or one[at].id != before.asked.tokens[before.asked.rows.index(row)].id:
        return ()
    place = before.asked.rows.index(row)
    ahead, behind = float(before.margins[place]), -float(after.margins[place])
    here, there = display_token(one[at]), display_token(other[at])
    hair = min(ahead, behind) < HAIR
    verdict = " That hangs by a hair: a small push of any kind turns it." if hair else ""
    return (
        f"The texts part at “{here}”, which was ahead of its runner-up by {ahead:.2f} nats, and is now behind "
        f"“{there}” by {behind:.2f}.{verdict}",
    )


def of_many(found: "ChangeCount") -> tuple[str, ...]:
    """What was done to one sentence, done to many: how many texts it changes, and what that costs a token."""
    value, low, high = (_nats(one, 3) for one in found.change)
    cost = (
        f"Mean log-probability of a target token: {_nats(found.before, 3)} → "
        f"{_nats(found.before + found.change.value, 3)} nats, a change of {value} (95 % of draws: {low} to {high}). "
        f"{found.less_likely} of {found.sentences} targets get less likely."
    )
    if found.differ is None:
        return (cost,)
    return f"The model writes another text for {found.differ} of {found.sentences} that come along.", cost


def of_pair(runs: Compared) -> tuple[str, ...]:
    """Which head noticed most, how many did not at all, and what has no partner."""
    apart: list[tuple[float, HeadPlace]] = [
        (bits, (kind, layer, head))
        for kind, found in runs.kinds.items()
        for layer, row in enumerate(found.apart.tolist())
        for head, bits in enumerate(row)
        if not math.isnan(bits)
    ]
    if not apart:
        return ("The two have no row in common: no head can be compared.", *_unaligned(runs))
    most, place = max(apart)
    moved = sum(bits > 0 for bits, _ in apart)
    if most == 0:
        return (
            f"No head noticed: all {len(apart)} that can be compared look at the same, to the last bit.",
            *_unaligned(runs),
        )
    first = f"{head_name(place)} noticed most: {most:.3f} of at most 1 bit. {moved} of {len(apart)} heads moved."
    return (first, *_unaligned(runs))


def _unaligned(runs: Compared) -> tuple[str, ...]:
    apart = [_SHORT[kind] for kind, found in runs.kinds.items() if not found.in_step]
    alone = (
        f"Too few rows of {' and '.join(apart)} have a partner to be compared: each run's maps are in its own order.",
    )
    said = [f"{_SHORT[kind]}: {lone}" for kind, found in runs.kinds.items() if found.in_step and (lone := _lone(found))]
    words = ("Vocabularies may differ: pieces are merged, and words are compared.",) if runs.by_words else ()
    return (*words, *alone[: len(apart)], *(f"Without a partner, hatched: {'; '.join(said)}." for _ in said[:1]))


def _lone(found: ComparedKind) -> str:
    """How many rows and columns have no partner; "" where all have."""
    parts = [
        f"{count} of {len(places)} {name}"
        for name, places in (("rows", found.rows), ("columns", found.cols))
        if (count := sum(None in place for place in places))
    ]
    return ", ".join(parts)
