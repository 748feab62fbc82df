"""The structure of the model behind a trace, read from the model and from one trace of it, never from its name."""

from attnviz.models.plans import FeedForwardPlan, LayerPlan, NormPlace, StackPlan, Structure, bare_stacks, kind_plans
from attnviz.models.protocol import Model
from attnviz.models.transformer_model import TransformerModel
from attnviz.tracing.trace_like import TraceLike
from attnviz.transformer.config import ModelConfig


def structure(trace: TraceLike, model: Model | None = None) -> Structure:
    """Return the structure of the model that made `trace`; for weights from a user, only layers and heads."""
    if isinstance(model, TransformerModel):
        return _own_structure(trace, model.model.config)
    if model is None or not hasattr(model, "torch_module"):  # a model on an engine gives no access to its layers
        return Structure(bare_stacks(trace), kind_plans(trace), ends="tokens" if model and model.writes else "")
    from attnviz.models.huggingface.parts import checkpoint_structure  # imports transformers

    return checkpoint_structure(trace, model)


def _own_structure(trace: TraceLike, config: ModelConfig) -> Structure:
    """Return the structure of attnviz's own Transformer from its config."""
    network = FeedForwardPlan(config.d_ff)
    norm: NormPlace = "before" if config.norm_first else "after"
    stacks = tuple(
        StackPlan(
            plan.stack,
            tuple(LayerPlan(layer.number, layer.sites, network) for layer in plan.layers),
            norm,
            ends_normed=True,
        )
        for plan in bare_stacks(trace)
    )
    return Structure(
        stacks,
        kind_plans(trace),
        d_model=config.d_model,
        vocabulary=config.vocab_size,
        positions="sinusoidal, added" if config.positions else "none",
        is_tied=True,
        ends="tokens",
    )
