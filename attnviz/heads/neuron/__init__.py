"""The picture Neuron: one query vector and one key vector, component by component."""

from attnviz.kit.picture import Picture

PICTURE = Picture(
    name="neuron", title="Neuron", position=50, state="attnviz.heads.neuron.neuron:NeuronState",
    subject_of="attnviz.heads.neuron.neuron:neuron_of", rules="attnviz.heads.neuron.neuron:NeuronRules",
    python_only=("kind", "layer", "head"),
    example_choice=(".queries-pane [aria-selected=true]", "ArrowDown"),
)  # fmt: skip
