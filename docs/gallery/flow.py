"""What a word is made of.

The row that writes “rouge” is followed back through all layers: half of it comes from “red”, by the measure ALTI.
Click another row to follow another word.
"""

import attnviz

model = attnviz.load()
trace = model.trace("A big red dog jumped over a small pond.", to="fr")
attnviz.picture("flow").of(trace, model=model, row=3).to_html("flow.html")
