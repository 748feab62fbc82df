"""Statistics of heads over many sentences, and the quality of the model when heads are removed.

`python -m attnviz.causes.corpus` computes the page's numbers on the command line.
"""
