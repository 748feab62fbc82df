"""One head is switched off, and “tu” becomes “vous”.

Without head 0 in the last layer of cross-attention “Je t'aime.” becomes “Je vous aime.” The bars say how likely each
token of that is, with the head (grey) and without it.
"""

import attnviz

model = attnviz.load()
off = attnviz.ablate("cross", layer=2, heads=[0])
trace = model.trace("I love you.", to="fr", interventions=[off])
attnviz.picture("switches").of(model, trace).to_html("heads_off.html")
