"""Interventions on a run: make and write them, check them against a model, and apply them."""
