"""Numbers and tables that several features need: metrics of heads, what heads write, residual streams, reruns.

This folder knows models and traces. It knows no picture, no page and no feature.
"""
