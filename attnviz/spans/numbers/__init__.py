"""Numbers of Spans: shares of attention, and answers with a part of the prompt hidden.

This folder knows tensors and models. It knows no picture and no page.
"""
