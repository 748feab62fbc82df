"""The commands of the shell, one file each: `attnviz run`, `attnviz lessons`, `attnviz reply` and others.

A command reads arguments, calls the API and prints. It computes nothing itself, and imports no page.
"""
