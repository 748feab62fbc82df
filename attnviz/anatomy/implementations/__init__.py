"""The page Implementations: ways to implement attention compared, and the cabinet of bugs.

The implementations themselves are in `attnviz/implementations`, which imports no page.
"""
