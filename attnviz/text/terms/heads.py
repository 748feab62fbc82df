"""The terms of the Heads page."""

from attnviz.text.terms.alignment import ALIGNMENT
from attnviz.text.terms.shared import SHARED

HEADS = SHARED | {
    **ALIGNMENT,
    # Tabs
    "Heads": "Every head's map as a thumbnail, and one of them large, with exact weights.",
    "Links": "The weights as lines between two columns of tokens: who looks at whom.",
    "Whole model": "Every head of every layer in one picture.",
    "One row": "The pinned row in every head of every layer, one strip per head.",
    "Row": "The row of the maps that is shown: a token, or a step of the decoder.",
    "Neuron": "One weight, broken down into the numbers of query and key that made it.",
    # How the heads are measured (attnviz/analysis/heads/metrics.py computes them)
    "Entropy": "How evenly a row's weight is spread, in bits: 0 when all of it is on one key, log2 of the number of "
    "keys when all keys get the same. Shown is the mean over the head's rows.",
    "Mean distance": "How far from the diagonal a row looks on average, in tokens. In cross-attention the two "
    "sentences are stretched to the same length. Shown is the mean over the head's rows.",
    "Diagonality": "How close the weight is to the diagonal: 1 when all of it is on it, about 0.5 when it is spread "
    "evenly, 0 when it is as far away as possible. In cross-attention, a high number means a word-by-word order.",
    "Previous token": "The weight on the token just before the query's own, mean over rows. Near 1, the head always "
    "looks one token back. Meaningless in cross-attention, where the two sentences do not share positions.",
    "Next token": "The weight on the token just after the query's own, mean over rows. A causal mask keeps it at 0. "
    "Meaningless in cross-attention.",
    "First token mass": "The weight on the first token, special or not, mean over rows. A high number is often a "
    "sink: weight that the head has no use for.",
    "<eos> mass": "The weight on the special token that ends the sentence (<eos>, </s> or [SEP]), mean over rows. A "
    "high number is often a sink.",
    "Sort": "Orders the thumbnails by a measure, the largest first; each thumbnail then shows it. “layer, head” keeps "
    "the model's own order.",
    "Tint": "Colours the strip below each thumbnail by a measure: the stronger, the larger. The order stays.",
    "Layer, head": "The model's own order: layers one way, heads the other.",
    # Which map is looked at
    "Every head": "A thumbnail for each attention head of each layer. L1 H3 is head 3 of layer 1; both count from 0.",
    "Encoder self": "Encoder self-attention: each token of the source looks at all tokens of the source.",
    "Decoder self": "Decoder self-attention: each step looks at the tokens written so far, and at none that follow.",
    "Cross": "Cross-attention: each step of the decoder looks at the tokens of the source.",
    "Query": "The token, or step, that looks: a row of the map. Its weights sum to 1.",
    "Key": "A token that may be looked at: a column of the map.",
    "Mean heads": "The average of the maps of all heads of the layer. It hides how different the heads are.",
    "Mean layers": "The average of this head's map over all layers. Heads with the same number in different layers "
    "are otherwise unrelated.",
    # How it is drawn
    "Weight": "What the softmax gives a key: a share of the row's attention, 0 to 1.",
    "Cells": "What a cell of the map shows: the weight, or how much the head writes from that key. Thumbnails and "
    "measures always use weights.",
    "‖α f(x)‖": "The length of the vector that the head adds to the row from that key: the weight times the length of "
    "the key’s value through W_o (Kobayashi et al. 2020). A key with much weight may have a value near 0.",
    "Share": "That vector's share of the sublayer's output, by how close it lies to the whole (ALTI, Ferrando et al. "
    "2022). Every head and key has a share, and so has what was there before; the shares of a row, over all heads, "
    "sum to 1.",
    "Mask": "Hatches the cells that may not be seen: future tokens under a causal mask, and padding. Their weight is "
    "0.",
    "Words": "Merges the pieces of each word. Attention to a word is the sum over its pieces, attention from a word "
    "their mean.",
    "Specials": "Special tokens such as <bos>, <eos>, [CLS] and [SEP] are not words of the sentence, but heads look "
    "at them.",
    "Shown": "Special tokens have rows and columns like any other.",
    "Hidden": "Special tokens have no rows and columns. The other weights stay as they are, so a row sums to less "
    "than 1.",
    "Renormalised": "Special tokens have no rows and columns, and the rest of each row is divided by its sum so that "
    "it is 1 again. These are no longer the weights that the model used.",
    "Range": "Which weights the colours span. The legend below the map shows it.",
    "0 to 1": "The scale is the same for every head: a weight of 1 has the full colour, or an opaque line.",
    "0 to max": "The scale ends at the largest weight drawn, so that small ones can be told apart. Colours of "
    "different heads then cannot be compared.",
    "No sink": "The scale ends at the largest weight outside the first and the end token, which are the usual sinks.",
    "Sink": "A token that takes weight that a head has no use for, often the first or the <eos>. A row must sum to 1, "
    "so looking at nothing is not possible.",
    "8-bit": "Drawn with the thumbnail's 256 steps until the exact numbers arrive.",
    "Pinned row": "The row whose weights are listed. Click a row, or a token of the sentence, to pin it.",
    "By weight": "Bars in order of weight, the largest first.",
    "By position": "Bars in the order of the sentence, or of the elements of a vector.",
    # Several at once
    "Pin": "Keeps a head to compare it with others, up to four heads.",
    "Switch off": "Switches this head off, or on again: its output becomes zero before W_o, while the model writes and "
    "in every pass. All pages then run without it; a chip above says so and undoes it.",
    "In focus": "One head: the one with the ring among the thumbnails.",
    "Side by side": "The pinned heads beside each other, on one colour scale.",
    "Difference": "The first pinned head's weights minus the second's; with one pin, the head in focus minus the "
    "pinned one.",
    "Quadrants": "A map of two texts has four parts. A → B is what the queries of A give to the keys of B. All parts "
    "of a row together sum to 1.",
    # Links, Whole model, Neuron
    "Read": "Rows high enough to read; a long sentence then scrolls.",
    "Fit": "All tokens at once, with rows as low as that needs.",
    "Maps": "Each head as a small map: queries down, keys across.",
    "Lines": "Each head as lines from its queries on the left to its keys on the right.",
    "Score": "Query times key, summed and scaled. The softmax turns it into a weight.",
    "By contribution": "The elements that add most to the dot product first.",
    "Dot product": "The query's numbers times the key's, element by element, added up.",
    "Scaled": "The dot product divided by √d_k, so that the softmax does not give almost everything to one key.",
    "With the model's bias": "The score after what the model adds for the distance between the two tokens.",
    "Softmax": "e to the score, divided by the sum of e to the scores of all keys that the query may see: the weight.",
    # What leaves the page
    "Options": "How maps and thumbnails are drawn, and what stands below them. A number says how many of these are "
    "not at their default.",
    "Plotly": "The same map as a Plotly figure below the picture: zoom, save, and look up each weight.",
    "Table": "The same numbers as a table, for screen readers, sorting and downloading.",
    "Your own tensors": "Attention weights of any model, from a file: npz or safetensors.",
    "Views": "Heads: one map, large. Links: the weights as lines between tokens. Whole model: every map at once. "
    "Neuron: one weight, broken down into its numbers. Alignment: words and the source words they come from. Flow: a "
    "row, traced back through the layers.",
}
