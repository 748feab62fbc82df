"""The pages and numbers of Implementations: ways to write attention compared, and the cabinet of bugs.

The ways themselves are in `attnviz/implementations`, which knows no page.
"""
