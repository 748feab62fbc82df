"""Pictures by name, the same way for each of the fifteen: what a notebook, a file and a lesson's folder are built on.

from attnviz.pictures.shown import registry

shown = registry.picture("heads").of(trace, kind="cross", layer=2, head=5)   # checked: ValueError, one sentence
shown.payload()                     # what its widget draws from, with its caption
shown.with_view({"head": 3})        # the same picture with what a browser reports
shown.without_python()                     # the same without the controls that need Python
"""
