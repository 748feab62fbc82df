"""Ways to write attention, and ways to write it wrong. Each computes the same site from the same weights.

This folder knows tensors and one site's inputs. It knows no model, no picture and no page.
"""
