"""A logit as a sum.

What each part of the model adds to the logit of “rouge”: the bars sum to it, to what rounding allows.
Of the heads layer 2, head 7 of cross-attention adds most. It is opened, into the tokens that it looks at.
"""

import attnviz

model = attnviz.load()
trace = model.trace("A big red dog jumped over a small pond.", to="fr")
attnviz.picture("attribution").of(model, trace, step=3, opened="cross.2.7").to_html("attribution.html")
