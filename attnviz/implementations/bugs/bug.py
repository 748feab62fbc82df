"""A bug of the cabinet: a wrong step in the place of a right one, its sources, and the test that catches it."""

import inspect
import textwrap
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from attnviz.implementations import steps
from attnviz.implementations.bugs.kept_map import KeptMap, kept_map
from attnviz.implementations.case import Case, own_case
from attnviz.implementations.steps import RIGHT, AttentionSteps, SteppedAttention
from attnviz.implementations.weights import Attention, SiteWeights

Catch = Callable[[Attention, Case], bool]


@dataclass(frozen=True)
class Bug:
    """One bug: `wrong` replaces the step of this name; `step` is "" for the bug that needs two threads.

    With `ablates` a head is switched off, rightly and by the bug. `unnoticed` explains why a shape check or a quick
    look misses it, or where it shows. `own` makes a case of its own if the model's sizes would hide the bug. `lacks`
    explains why a site cannot have the bug; "" if it can.
    """

    title: str
    declared: Literal["raises", "silent"]
    step: str
    wrong: Callable
    what: str
    unnoticed: str
    catch: Catch
    own: Callable[[], Case] | None = None
    lacks: Callable[[SiteWeights], str] = lambda weights: ""
    ablates: bool = False

    @property
    def steps(self) -> AttentionSteps:
        """The right steps with the wrong one in its place."""
        return replace(RIGHT, **{self.step: self.wrong}) if self.step else RIGHT

    def attention(self, case: Case) -> Attention:
        """Make the attention with this bug, on a case's weights."""
        if not self.step:
            return kept_map(case.weights)
        return SteppedAttention(case.weights, self.steps, case.dropout, case.off)

    def prepare(self, case: Case, head: int) -> Case:
        """Switch the head off in a case if the bug is about switching one off."""
        return replace(case, off=head) if self.ablates else case

    @property
    def trial(self) -> Case:
        """The case of its test."""
        return self.prepare((self.own or own_case)(), head=1)

    @property
    def sources(self) -> tuple[str, str]:
        """The wrong code and the right code."""
        if not self.step:
            return _source_of(KeptMap.forward), _source_of(SteppedAttention.__call__)
        return inspect.getsource(self.wrong), inspect.getsource(getattr(steps, self.step))

    @property
    def test(self) -> str:
        """The source of the test that catches it."""
        return inspect.getsource(self.catch)


def _source_of(method: Callable) -> str:
    return textwrap.dedent(inspect.getsource(method))


def right(case: Case) -> Attention:
    """Make the attention without a bug, on a case's weights."""
    return SteppedAttention(case.weights, RIGHT, case.dropout, case.off)
