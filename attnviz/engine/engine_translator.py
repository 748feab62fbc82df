"""The shipped translator with an engine: passes run on the engine, or locally while no engine answers."""

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


class EngineTranslator(Translator):
    """A translator that is loaded locally and runs on an engine with the same weights.

    Whole passes run on the engine. Whatever needs the model's layers, or generates token by token, is computed locally.
    """

    def __init__(self, here: Translator, engine: Engine) -> None:
        super().__init__(here.model, here.codec, model_id=here.model_id, name=here.name)
        self.folder, self.draft, self._engine = here.folder, here.draft, engine
        self._remote: RemoteModel | None = None

    def trace(self, text: str, **how: Any) -> Trace:
        """Trace a text like `Translator.trace`, on the engine if possible."""
        return self._prefer_engine(
            lambda there: there.trace(text, **how), lambda: super(EngineTranslator, self).trace(text, **how)
        )

    def rerun(self, trace: Trace, probe: Probe | None = None) -> Trace:
        """Run a trace's sentences again like `Translator.rerun`; locally if the probe cannot be sent to the engine."""
        return self._prefer_engine(
            lambda there: there.rerun(trace, probe), lambda: super(EngineTranslator, self).rerun(trace, probe)
        )

    def logits_under(self, trace: Trace, edits: Edits, *, rows: Sequence[int] | None = None) -> Tensor:
        """Compute the logits of edited copies like `Translator.logits_under`, on the engine if possible."""
        return self._prefer_engine(
            lambda there: there.logits_under(trace, edits, rows=rows),
            lambda: super(EngineTranslator, self).logits_under(trace, edits, rows=rows),
        )

    def translate(self, text: Any, **how: Any) -> Any:
        """Translate like `Translator.translate`, on the engine if possible."""
        return self._prefer_engine(
            lambda there: there.translate(text, **how), lambda: super(EngineTranslator, self).translate(text, **how)
        )

    def _prefer_engine(self, there: Callable[[RemoteModel], Made], here: Callable[[], Made]) -> Made:
        """Return the engine's result, or compute it locally if no engine answers or the request cannot be sent."""
        try:
            if (remote := self._remote_model()) is not None:
                return there(remote)
        except OtherWeightsError:
            self._remote = None
        except (EngineGoneError, CannotTravelError):
            pass
        return here()

    def _remote_model(self) -> RemoteModel | None:
        """Return the engine's model with this name and these weights, or None if the engine has no such model."""
        if not self._engine.is_there:
            return None
        if self._remote is None and self.name in self._engine.models():
            self._remote = RemoteModel(self._engine, self.name)
        return self._remote if self._remote is not None and self._remote.model_id == self.model_id else None
