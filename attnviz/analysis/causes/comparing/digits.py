"""Print two numbers with as many digits as tell them apart, and the difference that the printed ones have."""

import math

_MOST = 6  # decimals: two numbers that are nearer to each other are printed as one


def decimals(*differences: float, least: int) -> int:
    """Return how many decimals give each difference two digits of its own: at least `least`, at most 6."""
    told = [abs(each) for each in differences if each and math.isfinite(each)]
    needed = [1 - math.floor(math.log10(each)) for each in told]
    return min(max([least, *needed]), _MOST)


def nats(value: float, digits: int) -> str:
    """Print a number with a real minus sign; no zero is below zero."""
    text = f"{value:.{digits}f}"
    return (text if float(text) else text.removeprefix("-")).replace("-", "−")


def amount(value: float, least: int = 2) -> str:
    """Print one number, with two digits of its own where `least` decimals would print it as 0."""
    return nats(value, decimals(value, least=least) if round(value, least) == 0 else least)


def change_in_nats(before: float, after: float, *, least: int = 2) -> str:
    """Print a change such as "−0.0514 → −0.0560 nats, a change of −0.0046": the change is the printed second minus the
    first.
    """
    digits = decimals(after - before, least=least)
    first, second = round(before, digits), round(after, digits)
    if before == after:
        return f"{nats(before, least)} nats, unchanged"
    if first == second:
        return f"{nats(before, least)} nats, the same to within {10.0**-_MOST:.{_MOST}f}"
    change = nats(second - first, digits)
    return f"{nats(first, digits)} → {nats(second, digits)} nats, a change of {change}"


def percent(share: float, digits: int = 1) -> str:
    """Print a share as a percentage: a share above zero never reads 0, and one below one never reads 100."""
    text, step = f"{share:.{digits}%}", 10.0**-digits
    if share > 0 and float(text[:-1]) == 0:
        return f"<{step:.{digits}f}%"
    return f">{100 - step:.{digits}f}%" if share < 1 and float(text[:-1]) == 100 else text


def percents(before: float, after: float) -> tuple[str, str]:
    """Print two shares, with as many digits as tell them apart; alike only where six decimals print them so."""
    pairs = [(percent(before, digits), percent(after, digits)) for digits in range(1, _MOST + 1)]
    return next((pair for pair in pairs if pair[0] != pair[1]), pairs[0])
