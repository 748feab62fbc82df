"""A figure for a paper.

The mean over the heads of a layer, with pieces merged into words. **Export** saves it as SVG or PNG, and so does
`attnviz.views.save`, in Python, of what `attnviz.views.heatmap` draws.
"""

import attnviz

model = attnviz.load()
trace = model.trace("She bought a white car in August.", to="fr")
trace.to_html("paper_figure.html", kind="cross", layer=1, head="mean", words=True, specials="hide")
