"""A mask of your own.

Scores, masked scores, weights and context of one head: here each row sees itself and the two tokens before it.
Paint cells shut, and see what softmax makes of those that are left.
"""

import attnviz

model = attnviz.load()
trace = model.trace("A big red dog jumped over a small pond.", to="fr")
lab = attnviz.picture("mask_lab").of(model, trace, kind="decoder_self", layer=1, head=0, rules="causal~window_2")
lab.to_html("paint_a_mask.html")
