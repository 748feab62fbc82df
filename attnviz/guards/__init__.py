"""Guards that read untrusted input: npz and YAML files, function arguments, spreadsheets and network addresses.

A guard refuses bad input with a message of one sentence. This folder imports nothing else from attnviz.
"""
