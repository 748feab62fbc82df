"""Traces: record the attention of a model's run, change the run, and store the record.

This folder uses the Transformer's probes, and tokens. It uses no model, no picture and no page.
"""
