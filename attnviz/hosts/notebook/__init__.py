"""Pictures in a notebook, each the value of the cell that asks for it: `attnviz.show`.

What a cell shows is drawn in the browser, reports each choice to Python, and follows what Python sets. That needs
anywidget (the extra `notebook`).
"""
