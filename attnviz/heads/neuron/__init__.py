"""The picture Neuron: one query vector and one key vector, component by component."""
