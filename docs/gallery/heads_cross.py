"""Every head of cross-attention, one of them large.

Rows are the French words as they come out, columns the English ones that are read. Click a thumbnail for another head,
and a row to pin it; the arrow keys walk through both.
"""

import attnviz

model = attnviz.load()
trace = model.trace("The animal didn't cross the street because it was too tired.", to="fr")
trace.to_html("heads_cross.html", kind="cross", layer=1, head=1)
