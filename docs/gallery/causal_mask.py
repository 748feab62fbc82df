"""What the causal mask hides.

A decoder reads its own text, and a row sees only what is written so far: the hatched half of the map is exactly 0.
The first row has one token to look at, and gives it all of its weight.
"""

import attnviz

model = attnviz.load()
trace = model.trace("A big red dog jumped over a small pond.", to="fr")
trace.to_html("causal_mask.html", kind="decoder_self", layer=1, head=0, mask=True)
