"""Hosts, which show pictures outside the pages, in notebooks and HTML files, and the registry of all pictures.

Hosts find pictures by name, and import no Streamlit.

Use::

    from attnviz.hosts import registry

    shown = registry.picture("heads").of(trace, kind="cross", layer=2, head=5)   # checked: ValueError, one sentence
    shown.payload()                     # the data that its widget draws, with its caption
    shown.with_view({"head": 3})        # the same picture with a view from the browser
    shown.without_python()                     # the same without the controls that need Python
"""
