"""Terms on more than one page, and of one meaning."""

SHARED = {
    "Site": "Where in the model attention is computed: the encoder reading the source, the decoder reading what is "
    "written so far, or the decoder reading the source (cross-attention). An encoder layer has one site, a decoder "
    "layer two, each with several heads.",
    "Layer": "One of the blocks that the model runs one after another, counted from 0. Each has its own heads and "
    "works on the output of the one before.",
    "Head": "One of the attentions that a layer runs side by side, counted from 0. Each has its own queries, keys and "
    "values.",
    "Second sentence of the batch": "All sentences in a batch must have the same length. The shorter one is filled up "
    "with <pad>, which is a key and a row like any other until a mask hides it.",
    "Export": "The picture as PNG or SVG with a caption, its numbers as CSV.",
}
