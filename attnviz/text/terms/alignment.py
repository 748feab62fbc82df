"""The terms of the Heads page's tabs Alignment and Flow."""

ALIGNMENT = {
    "Alignment": "Word by word: which source word each word of the target comes from.",
    "Flow": "A row of the last layer, traced back through the layers to the words that it is made of.",
    # Alignment
    "All ways": "The table opens on six ways, the first in its order, and the one that is drawn.",
    "Ways to align": "Attribution: what a source word adds to the logit of the word that comes out. Mean of heads, "
    "one head: attention weights. Norm: the length of the vector written, ‖α f(x)‖. Rollout, ALTI: through all "
    "layers. Word in, out: whether a row counts for the word that goes in or the word that comes out.",
    "AER": "The alignment error rate over all sentences with links by hand (Och and Ney 2003): 1 − (|A∩S| + |A∩P|) / "
    "(|A| + |S|), of links found, sure and possible. 0 is perfect, 1 has nothing right. Special tokens never count as "
    "a word's source.",
    "Here": "The same error for this sentence alone, if it has links by hand.",
    "Alignment error": "The share of word links that are wrong or missing, compared with links by hand (AER, Och and "
    "Ney 2003). 0 is perfect, 1 has nothing right.",
    "Links by hand": "Eighty sentences in each of four languages whose words were linked by hand, some links sure and "
    "some only possible. Choose one to see how close a method comes.",
    "By hand": "Draws the links made by hand, if this sentence has them: sure ones solid, possible ones dashed.",
    "No source": "Lets a word have no source: where the special tokens (∅) have most of the weight, it gets no link. "
    "Off: the best word is always linked, however little weight it has.",
    "Lines of words": "Source above, target below. A ribbon is as wide as the source word's share of the target word; "
    "the linked word has the full colour.",
    "Matrix": "The scores: target words down, source words across, special tokens (∅) last. A dot is a link.",
    # Flow
    "Rollout": "Multiplies the layers' maps (Abnar and Zuidema 2020). Each is the mean of the heads plus a fixed "
    "share for what a row keeps of itself. It uses the weights alone and ignores the values.",
    "ALTI": "Measures in each layer how close each token's part is to the sum of all parts (Ferrando et al. 2022), "
    "then multiplies the layers. It uses the values and measures what a row keeps.",
    "Residual share": "What a row keeps of itself in each sublayer. Rollout cannot measure it; ½ is the usual choice. "
    "At 1 nothing is read, at 0 nothing is kept.",
    "Measured share": "What rows really keep on this text, by norms: a row's own part compared with what it reads "
    "from others (Kobayashi et al. 2021), mean over rows and sublayers. Click to use it.",
    "Max flow": "How much could come through from each token if shares were pipes (Abnar and Zuidema 2020), computed "
    "for each token. Never less than rollout. The numbers are not shares: they sum to more than 1.",
}
