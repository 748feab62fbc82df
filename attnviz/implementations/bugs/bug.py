"""What a bug in the cabinet is: a wrong step in the place of a right one, its sources, and the test that catches it."""

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
    """One bug. `step` names the step that goes wrong and `wrong` is what replaces it; `step` is "" for the
    bug that needs two threads. Where it `ablates`, a head is switched off, rightly and by the bug. `unnoticed` says
    why a shape check or a quick look misses it, or where it shows. `own` gives sizes of its own, where the model's
    would hide it. `lacks` says of a site which has nothing that could go wrong like this that it has not, and "" of
    others.
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
        """Right steps, and the wrong one in its place."""
        return replace(RIGHT, **{self.step: self.wrong}) if self.step else RIGHT

    def attention(self, case: Case) -> Attention:
        """The attention that has this bug, on a case's weights."""
        if not self.step:
            return kept_map(case.weights)
        return SteppedAttention(case.weights, self.steps, case.dropout, case.off)

    def on(self, case: Case, head: int) -> Case:
        """The case that it shows on: with that head off, where it is about switching one off."""
        return replace(case, off=head) if self.ablates else case

    @property
    def trial(self) -> Case:
        """What its test runs on."""
        return self.on((self.own or own_case)(), head=1)

    @property
    def sources(self) -> tuple[str, str]:
        """The wrong code and the right code."""
        if not self.step:
            return _dedented(KeptMap.forward), _dedented(SteppedAttention.__call__)
        return inspect.getsource(self.wrong), inspect.getsource(getattr(steps, self.step))

    @property
    def test(self) -> str:
        """The source of the test that catches it."""
        return inspect.getsource(self.catch)


def _dedented(method: Callable) -> str:
    return textwrap.dedent(inspect.getsource(method))


def right(case: Case) -> Attention:
    """The attention without a bug, on a case's weights."""
    return SteppedAttention(case.weights, RIGHT, case.dropout, case.off)
