"""One weight, taken apart.

Why does “chien” look at “dog”? Thirty-two products of the query's and the key's numbers are summed, divided by √32,
and softmax compares the sum with those of the other keys.
"""

import attnviz

model = attnviz.load()
trace = model.trace("A big red dog jumped over a small pond.", to="fr")
trace.to_html("one_weight.html", "neuron", kind="cross", layer=2, head=4, row=2, key=3)
