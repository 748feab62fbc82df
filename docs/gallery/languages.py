"""One sentence in three languages.

Lines join each word to the English word that it comes from. In German the verb “seen” goes to the end.
"""

import attnviz

model = attnviz.load()
parts = ["# One sentence in three languages"]
for language in ("fr", "de", "zh"):
    trace = model.trace("I have seen a black cat.", to=language)
    parts += [f"**{trace.tgt_text}**", attnviz.picture("alignment").of(trace, model=model)]
attnviz.page(parts, "languages.html")
