"""The picture Flow: how tokens mix from layer to layer."""
