"""The picture Neuron: one query and one key, number by number."""
