"""Computed sentences about the effect of switching heads off, worded so that small effects are not exaggerated."""

import math
from typing import TYPE_CHECKING

from attnviz.analysis.runs import HeadPlace
from attnviz.causes.numbers.chances import Chances
from attnviz.causes.numbers.effects import HeadEffects, ReferenceEffects
from attnviz.causes.numbers.run_comparison import ComparedKind, RunComparison
from attnviz.causes.numbers.whole_image import SummaryChange, SummaryEffects
from attnviz.text.display import display_token
from attnviz.text.tokens import Token

if TYPE_CHECKING:
    from attnviz.causes.corpus.numbers.change_counts import ChangeCount

USUAL = 2.0  # standard deviations within which an effect is usual
DECISIVE = math.log(2)  # nats per token: the mean token is half as likely without the head
MOST_DECIMALS = 6  # numbers that differ less are printed as equal
HAIR = 0.2  # nats: the runner-up has at least 80 % of the first token's probability
_SHORT = {"encoder_self": "encoder", "decoder_self": "decoder", "cross": "cross"}


def head_name(place: HeadPlace) -> str:
    """Name a head such as `cross L2 H5`."""
    kind, layer, head = place
    return f"{_SHORT[kind]} L{layer} H{head}"


def effect_findings(effects: HeadEffects, reference: ReferenceEffects | None) -> tuple[str, ...]:
    """Say whether a single head is decisive for this text or image, and how many heads do more than they usually do."""
    mean = effects.mean
    if effects.what == "label":
        return (_label_finding(effects),)
    worst = int(mean.argmin())
    name, loss = head_name(effects.places[worst]), -float(mean[worst])
    before = float(effects.before.mean())
    cost = f"{percent(-math.expm1(-loss))} less likely on average ({change_in_nats(before, before - loss)})"
    if loss <= 0:
        first = "No single head matters here: with any one head off, tokens are not less likely on average."
    elif loss < DECISIVE:
        first = f"No single head is decisive here: without {name}, which costs most, a token gets {cost}."
    else:
        first = f"{name[0].upper()}{name[1:]} is decisive here: without it a token gets {cost}."
    return first, _usual_finding(effects, reference)


def _label_finding(effects: HeadEffects) -> str:
    """Say which head the most probable label of an image needs most."""
    worst = int(effects.mean.argmin())
    name, loss = head_name(effects.places[worst]), -float(effects.mean[worst])
    label, before = display_token(effects.tokens[0]), float(effects.before[0])
    if loss <= 0:
        return f"No single head matters here: with any one head off, “{label}” is not less likely."
    here, there = percents(math.exp(before), math.exp(before - loss))
    verdict = "is decisive" if loss >= DECISIVE else "costs most"
    return f"Switching off {name} {verdict}: without it “{label}” gets {here} → {there}."


def summary_effect_findings(effects: SummaryEffects) -> tuple[str, ...]:
    """Say without which head the vector of a whole image moves farthest."""
    worst, name = int(effects.per_head.argmax()), summary_name(effects.name)
    place, moved = head_name(effects.places[worst]), _summary_words(effects.change(worst))
    return (f"{name[0].upper()}{name[1:]} moves farthest without {place}: by {moved}.",)


def summary_findings(change: SummaryChange) -> tuple[str, ...]:
    """Say how far interventions move the vector of a whole image."""
    name = summary_name(change.name)
    if not math.isfinite(change.share):
        return (f"{name[0].upper()}{name[1:]} has numbers that are no longer finite (NaN).",)
    if change.share == 0:
        return (f"{name[0].upper()}{name[1:]} did not change.",)
    lengths = (amount(float(one.norm())) for one in (change.before, change.after))
    return (
        f"{name[0].upper()}{name[1:]} moves by {_summary_words(change)}.",
        f"Its length: {' → '.join(lengths)}.",
    )


def summary_name(name: str) -> str:
    """Return the words for the vector of a whole image, "[CLS]" or "pooled"."""
    return "the pooled vector" if name == "pooled" else f"the vector of {name}"


def _summary_words(change: SummaryChange) -> str:
    return f"{percent(change.share)} of its length, to a cosine of {amount(change.cosine, 3)} with the unchanged vector"


def _usual_finding(effects: HeadEffects, reference: ReferenceEffects | None) -> str:
    if reference is None:
        return "No baselines were measured for these weights and this language, so the numbers are plain nats."
    far = int((reference.in_spreads(effects).abs() > USUAL).sum())
    return (
        f"{far} of {len(effects.places)} heads {'does' if far == 1 else 'do'} more here than usual (beyond {USUAL:g} "
        f"of their own spreads over {reference.sentences} sentences)."
    )


def run_findings(before: Chances, after: Chances) -> tuple[str, ...]:
    """Say what switching heads off cost the sentence: on average, and for the token that lost most."""
    lost = before.log_probabilities - after.log_probabilities
    if before.asked.what == "label":
        return _label_findings(before, after)
    first = f"Mean log-probability of a token: {change_in_nats(before.mean, after.mean, least=3)}."
    if not bool(lost.isfinite().all()):
        return (f"{int((~lost.isfinite()).sum())} of {len(lost)} tokens have no probability any more (NaN).",)
    if float(lost.abs().max()) == 0:
        return (f"{first} No probability changed.",)
    at = int(lost.argmax() if bool((lost > 0).any()) else lost.argmin())
    token = display_token(before.asked.tokens[at])
    here, there = percents(*(math.exp(float(one.log_probabilities[at])) for one in (before, after)))
    if here == there:
        return first, "No probability changes by 0.000001 % or more."
    verdict = f"“{token}” loses most" if float(lost[at]) > 0 else f"No token gets less likely; “{token}” gains most"
    return first, f"{verdict}: {here} → {there}."


def _label_findings(before: Chances, after: Chances) -> tuple[str, ...]:
    """Say which label a classifier chooses without and with interventions, and how the probability of its first choice
    changes.
    """
    logs = [one.log_probabilities for one in (before, after)]
    if not bool(logs[1].isfinite().all()):
        return ("The labels have no probabilities any more (NaN).",)
    own, now = (display_token(before.asked.tokens[int(one.argmax())]) for one in logs)
    here, there = percents(*(math.exp(float(one[0])) for one in logs))
    cost = f"Its log-probability: {change_in_nats(*(float(one[0]) for one in logs))}."
    if own == now:
        return f"The model still chooses “{own}”: {here} → {there}.", cost
    chosen = percent(math.exp(float(logs[1].max())))
    return f"The model now chooses “{now}” ({chosen}) instead of “{own}”: {here} → {there}.", cost


def text_findings(
    before: Chances, after: Chances, written: tuple[tuple[Token, ...], tuple[Token, ...]]
) -> tuple[str, ...]:
    """Name the first token at which two written texts differ, and each run's margin for its own token there.

    `written` are the tokens of both texts, including special tokens; `before` and `after` are the probabilities of the
    first text's tokens. Margins are given only if each run wrote its most probable token: a token that generation
    forbids may have a higher probability.
    """
    if before.asked.what not in ("target", "text"):
        return ()
    one, other = written
    at = next((place for place, (a, b) in enumerate(zip(one, other, strict=False)) if a.id != b.id), None)
    row = None if at is None else at - 1  # the row that outputs token `at`
    if at is None or row not in before.asked.rows or one[at].id != before.asked.tokens[before.asked.rows.index(row)].id:
        return ()
    place = before.asked.rows.index(row)
    ahead, behind = float(before.margins[place]), -float(after.margins[place])
    here, there = display_token(one[at]), display_token(other[at])
    if ahead <= 0 or behind <= 0 or int(after.rivals[place]) != other[at].id:
        return (f"The first difference is at “{here}”: the model now writes “{there}”.",)
    hair = min(ahead, behind) < HAIR
    verdict = " The lead was tiny, so even a small change can reverse it." if hair else ""
    return (
        f"The first difference is at “{here}”: it was ahead of its runner-up by {amount(ahead)} nats, and is now "
        f"behind “{there}” by {amount(behind)}.{verdict}",
    )


def count_findings(found: "ChangeCount") -> tuple[str, ...]:
    """Say how many texts an intervention changes over many sentences, and how it changes the mean token
    log-probability.
    """
    value, low, high = found.change
    digits = decimals(value, high - low, least=3)
    before, after = round(found.before, digits), round(found.before + value, digits)
    told, *bounds = (nats(one, digits) for one in (after - before, low, high))
    cost = (
        f"Mean log-probability of a target token: {nats(before, digits)} → {nats(after, digits)} nats, a change of "
        f"{told} (95 % of draws: {bounds[0]} to {bounds[1]}). "
        f"{found.less_likely} of {found.sentences} targets get less likely."
    )
    if found.differ is None:
        return (cost,)
    return f"The model writes a different text for {found.differ} of {found.sentences} included sentences.", cost


def pair_findings(runs: RunComparison) -> tuple[str, ...]:
    """Say which head differs most between two runs, how many do not differ, and which rows and columns are unpaired."""
    apart: list[tuple[float, HeadPlace]] = [
        (bits, (kind, layer, head))
        for kind, found in runs.kinds.items()
        for layer, row in enumerate(found.apart.tolist())
        for head, bits in enumerate(row)
        if not math.isnan(bits)
    ]
    if not apart:
        return ("The two runs have no row in common, so no head can be compared.", *_unaligned_sentences(runs))
    most, place = max(apart)
    moved = sum(bits > 0 for bits, _ in apart)
    if most == 0:
        return (
            f"No head changed: all {len(apart)} heads that can be compared look at exactly the same tokens.",
            *_unaligned_sentences(runs),
        )
    bits = f"{most:.3f}" if most >= 0.0005 else "less than 0.001"
    first = f"{head_name(place)} changed most: {bits} of at most 1 bit. {moved} of {len(apart)} heads moved."
    return (first, *_unaligned_sentences(runs))


def _unaligned_sentences(runs: RunComparison) -> tuple[str, ...]:
    apart = [_SHORT[kind] for kind, found in runs.kinds.items() if not found.in_step]
    alone = (
        f"Too few rows of {' and '.join(apart)} can be paired. The rows of each map are therefore shown in "
        "the order of the map's own run.",
    )
    said = [f"{_SHORT[kind]}: {lone}" for kind, found in runs.kinds.items() if found.in_step and (lone := _lone(found))]
    words = (
        ("The vocabularies may differ, so tokens are merged into words, and words are compared.",)
        if runs.by_words
        else ()
    )
    return (
        *words,
        *alone[: len(apart)],
        *(
            f"These rows and columns have no partner in the other run, so they are hatched: {'; '.join(said)}."
            for _ in said[:1]
        ),
    )


def _lone(found: ComparedKind) -> str:
    """Say how many rows and columns have no partner; "" if all have one."""
    parts = [
        f"{count} of {len(places)} {name}"
        for name, places in (("rows", found.rows), ("columns", found.cols))
        if (count := sum(None in place for place in places))
    ]
    return ", ".join(parts)


def decimals(*differences: float, least: int) -> int:
    """Return how many decimals show each difference with two significant digits: at least `least`, at most 6."""
    told = [abs(each) for each in differences if each and math.isfinite(each)]
    needed = [1 - math.floor(math.log10(each)) for each in told]
    return min(max([least, *needed]), MOST_DECIMALS)


def nats(value: float, digits: int) -> str:
    """Format a number with a real minus sign, and never as minus zero."""
    text = f"{value:.{digits}f}"
    return (text if float(text) else text.removeprefix("-")).replace("-", "−")


def amount(value: float, least: int = 2) -> str:
    """Format a number with `least` decimals, or with two significant digits if it would otherwise read 0."""
    return nats(value, decimals(value, least=least) if round(value, least) == 0 else least)


def change_in_nats(before: float, after: float, *, least: int = 2) -> str:
    """Format a change such as "−0.0514 → −0.0560 nats, a change of −0.0046".

    The change is computed from the two printed numbers.
    """
    digits = decimals(after - before, least=least)
    first, second = round(before, digits), round(after, digits)
    if before == after:
        return f"{nats(before, least)} nats, unchanged"
    if first == second:
        return f"{nats(before, least)} nats, the same to within {10.0**-MOST_DECIMALS:.{MOST_DECIMALS}f}"
    change = nats(second - first, digits)
    return f"{nats(first, digits)} → {nats(second, digits)} nats, a change of {change}"


def percent(share: float, digits: int = 1) -> str:
    """Format a share as a percentage. A share above 0 never reads 0, and a share below 1 never reads 100."""
    text, step = f"{share:.{digits}%}", 10.0**-digits
    if share > 0 and float(text[:-1]) == 0:
        return f"<{step:.{digits}f}%"
    return f">{100 - step:.{digits}f}%" if share < 1 and float(text[:-1]) == 100 else text


def percents(before: float, after: float) -> tuple[str, str]:
    """Format two shares with enough digits to tell them apart, at most six decimals."""
    pairs = [(percent(before, digits), percent(after, digits)) for digits in range(1, MOST_DECIMALS + 1)]
    return next((pair for pair in pairs if pair[0] != pair[1]), pairs[0])
