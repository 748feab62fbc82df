"""Checks that are asked of many small cases at once: one test, whose message lists every case that fails."""

import inspect
from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from reprlib import Repr
from typing import Any

import pytest
import torch

Test = Callable[..., None]
_Param = type(pytest.param(0))
_SHORT = Repr()
_SHORT.maxstring = _SHORT.maxother = 80


def each_case(
    names: str | Sequence[str], cases: Iterable[Any], *, ids: Iterable[str] | Callable[[Any], object] | None = None
) -> Callable[[Test], Test]:
    """Run a test for each case, as `pytest.mark.parametrize` would, but as a single item of the suite.

    For checks of data. All cases share the test's fixtures, so a test whose cases change a fixture is parametrised with
    pytest's own mark. Each case begins with the same random numbers.
    """
    wanted = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    table = [_values(case, len(wanted)) for case in cases]
    labels = None if ids is None or callable(ids) else list(ids)
    assert table, "a test over no case cannot fail"

    def decorate(test: Test) -> Test:
        @wraps(test)
        def over_every_case(**fixtures: Any) -> None:
            failures = []
            for at, values in enumerate(table):
                torch.manual_seed(0)
                try:
                    test(**fixtures, **dict(zip(wanted, values, strict=True)))
                except (Exception, pytest.fail.Exception) as failure:
                    label = labels[at] if labels else ", ".join(_name(value, ids) for value in values)
                    failure.add_note(f"in the case {label}")
                    failures.append((label, failure))
            if failures:
                _report(failures, len(table))

        signature = inspect.signature(test)
        fixtures = [parameter for name, parameter in signature.parameters.items() if name not in wanted]
        over_every_case.__signature__ = signature.replace(parameters=fixtures)  # what pytest has to provide
        return over_every_case

    return decorate


def _report(failures: list[tuple[str, BaseException]], count: int) -> None:
    """Raise all failures of a test together, after a list of the cases with the first line of each."""
    lines = [f"{label}: {type(failure).__name__}: {str(failure).partition(chr(10))[0]}" for label, failure in failures]
    message = "\n  ".join([f"{len(failures)} of {count} cases fail:", *lines])
    raise BaseExceptionGroup(message, [failure for _, failure in failures])


def _values(case: Any, count: int) -> tuple[Any, ...]:
    """Return the values of a case, one for each name."""
    if isinstance(case, _Param):
        return tuple(case.values)
    return (case,) if count == 1 else tuple(case)


def _name(value: Any, ids: Any) -> str:
    """Return the name of a value in a failure's message: what `ids` says, or a short form of what Python writes."""
    if callable(ids) and (name := ids(value)) is not None:
        return str(name)
    try:
        return _SHORT.repr(value)
    except ValueError:  # an integer of too many digits
        return type(value).__name__
