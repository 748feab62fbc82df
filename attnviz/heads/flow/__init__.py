"""The picture Flow: how information from the tokens mixes from layer to layer."""
