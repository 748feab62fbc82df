"""Small Transformers that are trained in seconds on made tasks, and recordings of their training.

Toys know the Transformer and traces. They know no picture and no page.

`python -m attnviz.toys` trains the toys that are shipped.
"""
