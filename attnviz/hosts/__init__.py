"""Hosts: what shows a picture away from a page, in a notebook or in one file, and the list of all pictures.

A host knows the pictures by name. It knows no Streamlit but in `page/`, which has the welcome page.

Use::

    from attnviz.hosts import registry

    shown = registry.picture("heads").of(trace, kind="cross", layer=2, head=5)   # checked: ValueError, one sentence
    shown.payload()                     # what its widget draws from, with its caption
    shown.with_view({"head": 3})        # the same picture with what a browser reports
    shown.without_python()                     # the same without the controls that need Python
"""
