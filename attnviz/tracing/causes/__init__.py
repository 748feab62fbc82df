"""Interventions: how they are written, checked against a run, and done to it."""
