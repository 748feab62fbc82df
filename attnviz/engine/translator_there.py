"""The shipped translator where there is an engine: its passes run there, and here while no engine answers."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from torch import Tensor

from attnviz.engine.client import Engine, EngineGoneError, OtherWeightsError
from attnviz.engine.probes import CannotTravelError
from attnviz.engine.remote import RemoteModel
from attnviz.models.translator.translator import Translator
from attnviz.tracing.causes.edits import Edits
from attnviz.tracing.trace import Trace
from attnviz.transformer.probe import Probe

Made = TypeVar("Made")


class TranslatorThere(Translator):
    """A translator that is loaded here and runs on an engine that has the same weights.

    Whole passes go there; what needs its layers, or writes a token at a time, is computed here, from the same weights.
    """

    def __init__(self, here: Translator, engine: Engine) -> None:
        super().__init__(here.model, here.codec, model_id=here.model_id, name=here.name)
        self.folder, self.draft, self._engine = here.folder, here.draft, engine
        self._remote: RemoteModel | None = None

    def trace(self, text: str, **how: Any) -> Trace:
        """As a translator's own, on the engine."""
        return self._either(
            lambda there: there.trace(text, **how), lambda: super(TranslatorThere, self).trace(text, **how)
        )

    def rerun(self, trace: Trace, probe: Probe | None = None) -> Trace:
        """As a translator's own; with a probe that cannot travel it runs here."""
        return self._either(
            lambda there: there.rerun(trace, probe), lambda: super(TranslatorThere, self).rerun(trace, probe)
        )

    def answers(self, trace: Trace, edits: Edits, *, rows: Sequence[int] | None = None) -> Tensor:
        """As a translator's own, on the engine."""
        return self._either(
            lambda there: there.answers(trace, edits, rows=rows),
            lambda: super(TranslatorThere, self).answers(trace, edits, rows=rows),
        )

    def translate(self, text: Any, **how: Any) -> Any:
        """As a translator's own, on the engine."""
        return self._either(
            lambda there: there.translate(text, **how), lambda: super(TranslatorThere, self).translate(text, **how)
        )

    def _either(self, there: Callable[[RemoteModel], Made], here: Callable[[], Made]) -> Made:
        """What the engine answers, or what is computed here where none does, or where it cannot be asked this."""
        try:
            if (remote := self._on_engine()) is not None:
                return there(remote)
        except OtherWeightsError:
            self._remote = None
        except (EngineGoneError, CannotTravelError):
            pass
        return here()

    def _on_engine(self) -> RemoteModel | None:
        """The model of this name on the engine, if there is one with these weights."""
        if not self._engine.is_there:
            return None
        if self._remote is None and self.name in self._engine.models():
            self._remote = RemoteModel(self._engine, self.name)
        return self._remote if self._remote is not None and self._remote.model_id == self.model_id else None
