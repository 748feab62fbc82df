"""One vector turns “elle” into “il”.

The model reads “dirty”, but one vector comes from the sentence with “tired”: that of “it” after the encoder's layer 1.
Each square says how much of the difference its vector, or its head, brings back alone.
"""

import attnviz

model = attnviz.load()
dirty, tired = (
    model.trace(f"The animal didn't cross the street because it was too {adjective}.", to="fr")
    for adjective in ("dirty", "tired")
)
attnviz.picture("patching").of(model, tired, dirty, step=14, put=["encoder.1.9"]).to_html("patching.html")
