"""Pictures as the value of a notebook cell: `attnviz.show`.

A picture is drawn in the browser, reports each choice to Python, and follows changes made in Python. It needs anywidget
(the extra `notebook`).
"""
