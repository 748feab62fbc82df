"""Computations and tables that several features need: metrics of heads, head outputs, residual streams, reruns.

This folder may import models and traces, but no picture, no page and no feature.
"""
