"""Plotly charts of statistics over many sentences."""
