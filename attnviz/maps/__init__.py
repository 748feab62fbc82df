"""Attention maps of a trace, prepared for display: special tokens hidden, pieces merged, rows selected, heads covered.

This folder builds on traces. It uses no model, no picture and no page.
"""
