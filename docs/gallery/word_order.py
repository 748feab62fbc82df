"""“Red dog” turns round in French.

Two lines cross: while the model writes “chien” this head looks at “dog”, and one step later it goes back for “red”.
Click another token, or another head on the left.
"""

import attnviz

model = attnviz.load()
trace = model.trace("A big red dog jumped over a small pond.", to="fr")
trace.to_html("word_order.html", "links", kind="cross", heads=[(2, 4)])
