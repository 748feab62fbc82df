"""What reads strangers' input with care: npz and YAML files, arguments, spreadsheets, network addresses.

A guard refuses in one sentence. It imports nothing else of attnviz.
"""
