"""The classification head of a vision model: transformers' own class computes its scores from what the shown model
computed.
"""

import copy
from typing import Any, Self

import torch
from torch import Tensor, nn
from transformers.models.auto.modeling_auto import MODEL_FOR_IMAGE_CLASSIFICATION_MAPPING as CLASSES
from transformers.models.auto.modeling_auto import MODEL_FOR_IMAGE_CLASSIFICATION_MAPPING_NAMES as NAMES

from attnviz.models.huggingface.as_given import GivenModel, ShownOutput
from attnviz.models.huggingface.errors import ModelError
from attnviz.models.huggingface.network import patches
from attnviz.models.huggingface.network.network import Network, PassRequest, PixelBatch
from attnviz.tracing.interventions import Chain

_NAMES = frozenset(name for names in NAMES.values() for name in ([names] if isinstance(names, str) else names))
_ONE_LABEL = ("", "single_label_classification")  # the kinds of problem in which the probabilities sum to 1


def is_classifier(model: Any) -> bool:
    """Check whether a model is one of transformers' image classifiers, or a subclass of one."""
    return any(one.__name__ in _NAMES for one in type(model).__mro__)


def classifier_class(config: Any) -> Any:
    """Return the class of the image classifier that a checkpoint's config names; None if it names none."""
    if type(config) not in CLASSES:
        return None
    found: Any = CLASSES[type(config)]
    named = getattr(config, "architectures", None) or ()
    return next((one for one in (found if isinstance(found, tuple) else (found,)) if one.__name__ in named), None)


class _Computed(nn.Module):
    """A module that returns an output that was computed before, in place of the vision model in a classifier."""

    def __init__(self, output: Any) -> None:
        super().__init__()
        self.output = output

    def forward(self, *given: Any, **how: Any) -> Any:
        """Ignore all arguments and return the stored output."""
        return self.output


class ClassifierHead:
    """The head of an image classifier. All methods are thread-safe.

    `module` is the whole classifier, and `name` the name of the vision model in it.
    """

    def __init__(self, module: Any, name: str) -> None:
        self.module, self._name = module, name
        ids = module.config.id2label
        self.labels = tuple(str(ids.get(at, f"class {at}")) for at in range(module.config.num_labels))

    @classmethod
    def of(cls, given: GivenModel) -> Self | None:
        """Return the head of the model as it was given.

        Return None if it is no classifier, or not one that chooses one of several labels.
        """
        parent, _, name = given.part_name.rpartition(".")
        if not name or not is_classifier(module := given.whole.get_submodule(parent)):
            return None
        config: Any = module.config
        if config.num_labels < 2 or (getattr(config, "problem_type", None) or "") not in _ONE_LABEL:
            return None
        return cls(given.make_shown(parent), name)

    def scores(self, output: Any, batch: PixelBatch) -> Tensor:
        """Return the logits `(batch, labels)` for the output of the vision model without its head."""
        module = copy.copy(self.module)
        module._modules = self.module._modules | {self._name: _Computed(output)}
        return type(module).forward(module, **batch.arguments).logits

    @torch.inference_mode()
    def check(self, given: GivenModel, network: Network, sample: PixelBatch) -> None:
        """Compare the labels' scores with those of the complete classifier that the user gave.

        Raises ModelError for a difference that rounding does not explain.
        """
        if given.training_forward is not None:  # its forward would run the user's own model, which is being trained
            return
        first = sample.cut(0)
        own = patches.share_weights(given.whole)(**first.arguments).logits.unsqueeze(1)

        def run() -> Tensor:
            out = network.run_only_stack(first, PassRequest(Chain(()), hidden=False))
            return self.scores(out, first).unsqueeze(1)

        layers = max(count for count, _ in network.shapes.values())
        if said := ShownOutput(run, layers).difference(own):
            raise ModelError(f"attnviz does not reproduce the labels of this model as it was given: {said}.")
