"""A bug in the cabinet: a wrong step that replaces a correct one, its source code, and the test that catches it."""

import inspect
import textwrap
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from attnviz.implementations import steps
from attnviz.implementations.bugs.wrong_steps import KeptMap, kept_map
from attnviz.implementations.site_inputs import SiteInputs, odd_sized_inputs
from attnviz.implementations.steps import RIGHT, AttentionSteps, SteppedAttention
from attnviz.implementations.weights import Attention, SiteWeights

Catch = Callable[[Attention, SiteInputs], bool]


@dataclass(frozen=True)
class Bug:
    """One bug: `wrong` replaces the step named `step`, which is "" for the bug that needs two threads.

    If `ablates`, a head is switched off, once correctly and once with the bug. `unnoticed` explains why a shape check
    or a quick look misses the bug, or where the bug shows. `own_inputs` makes special inputs if the model's sizes would
    hide the bug. `lacks` explains why a site cannot have the bug; "" if it can. `needs_cache` is True for a bug that
    shows only when a new token runs on a cache.
    """

    title: str
    declared: Literal["raises", "silent"]
    step: str
    wrong: Callable
    what: str
    unnoticed: str
    catch: Catch
    own_inputs: Callable[[], SiteInputs] | None = None
    lacks: Callable[[SiteWeights], str] = lambda weights: ""
    ablates: bool = False
    needs_cache: bool = False

    @property
    def steps(self) -> AttentionSteps:
        """The functions of the attention steps, with the bug's wrong step in place of the correct one."""
        return replace(RIGHT, **{self.step: self.wrong}) if self.step else RIGHT

    def attention(self, inputs: SiteInputs) -> Attention:
        """Return an attention function with this bug, for a site's weights."""
        if not self.step:
            return kept_map(inputs.weights)
        return SteppedAttention(inputs.weights, self.steps, inputs.dropout, inputs.off)

    def prepare(self, inputs: SiteInputs, head: int) -> SiteInputs:
        """Switch the head off in a site's inputs, if the bug concerns switching off heads."""
        return replace(inputs, off=head) if self.ablates else inputs

    @property
    def test_inputs(self) -> SiteInputs:
        """The inputs of the bug's test."""
        return self.prepare((self.own_inputs or odd_sized_inputs)(), head=1)

    @property
    def sources(self) -> tuple[str, str]:
        """The source code of the bug's wrong step and of the correct step."""
        if not self.step:
            return _source_of(KeptMap.forward), _source_of(SteppedAttention.__call__)
        return inspect.getsource(self.wrong), inspect.getsource(getattr(steps, self.step))

    @property
    def test_source(self) -> str:
        """The source code of the test that catches the bug."""
        return inspect.getsource(self.catch)


def _source_of(method: Callable) -> str:
    return textwrap.dedent(inspect.getsource(method))


def right_attention(inputs: SiteInputs) -> Attention:
    """Return a correct attention function, for a site's weights."""
    return SteppedAttention(inputs.weights, RIGHT, inputs.dropout, inputs.off)
