"""What a word looks at, and what it needs.

The ending of “petites” spends a fifth of its attention on “Les chiens rouges”, and loses nothing when that is hidden
from it; hiding “sont” costs it most. Attention is not use: on the right both stand side by side.
"""

import attnviz

model = attnviz.load()
trace = model.trace("The red dogs that I see are small.", to="fr")
named = "Les chiens rouges=1-6;que je vois=6-9;sont=9-10;petit=10-11"
shown = attnviz.picture("spans").of(trace, model=model, spans=named, answer="11-12", hidden="answer")
shown.to_html("spans.html")
