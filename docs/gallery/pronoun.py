"""Where “it” looks for what it means.

French has to choose between “il” (the animal) and “elle” (the street). Each strip is the row of “it” in one head of the
encoder. Layer 1, head 1 looks at the adjective, the only word in which the two sentences differ.
"""

import attnviz

model = attnviz.load()
parts = ["# Where “it” looks for what it means"]
for adjective in ("tired", "dirty"):
    trace = model.trace(f"The animal didn't cross the street because it was too {adjective}.", to="fr")
    row = [token.text for token in trace.query_tokens("encoder_self")].index("it")
    shown = attnviz.picture("one_row").of(trace, kind="encoder_self", layer=1, head=1, row=row)
    parts += [f"Too **{adjective}**: *{trace.tgt_text}*", shown]
attnviz.page(parts, "pronoun.html")
