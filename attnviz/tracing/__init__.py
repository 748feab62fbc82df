"""Traces: what a run's attention was made from, how it is recorded, changed and stored.

A trace knows the Transformer's probes and tokens. It knows no model, no picture and no page.
"""
