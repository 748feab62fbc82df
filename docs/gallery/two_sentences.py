"""One word is changed: which heads look elsewhere?

Two sentences differ in their adjective alone, and “il” becomes “elle”. Heads are listed by how far apart their maps
are; click one to see both of its maps, and the difference.
"""

import attnviz

model = attnviz.load()
runs = [
    (adjective, model, model.trace(f"The animal didn't cross the street because it was too {adjective}.", to="fr"))
    for adjective in ("tired", "dirty")
]
attnviz.picture("compared").of(*runs).to_html("two_sentences.html")
