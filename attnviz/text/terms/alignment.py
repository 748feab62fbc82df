"""The terms of the Heads page's tabs Alignment and Flow."""

ALIGNMENT = {
    "Alignment": "Word by word: which source word each word of the target comes from.",
    "Flow": "A row of the last layer, followed back through the layers to the words that it is made of.",
    # Alignment
    "Ways to align": "Attribution: what a source word adds to the logit of the word that comes out. Mean of heads, one "
    "head: attention weights. Norm: the length of what is written, ‖α f(x)‖. Rollout, ALTI: through all layers. Word "
    "in, out: a row stands for the word that goes in, or comes out.",
    "AER": "The alignment error rate over all sentences with links by hand (Och and Ney 2003): 1 − (|A∩S| + |A∩P|) / "
    "(|A| + |S|), of links found, sure and possible. 0 is perfect, 1 is nothing right. Special tokens are no word's "
    "source.",
    "Here": "The same error of this sentence alone, where it has links by hand.",
    "Alignment error": "The share of links of words that are wrong or missing, against links by hand (AER, Och and Ney "
    "2003): 0 is perfect, 1 is nothing right.",
    "Links by hand": "Eighty sentences in each of four languages whose words were linked by hand, some surely and some "
    "only possibly. Choose one to see how near a way of reading attention comes.",
    "By hand": "Draws the links made by hand, where this sentence has them: sure ones solid, possible ones dashed.",
    "No source": "Lets a word have no source: where the special tokens (∅) have most of it, it has no link. Else the "
    "best word is linked, however little it has.",
    "Lines of words": "Source above, target below. A ribbon is as wide as a source word's share of the target word; "
    "the word that is linked has the full colour.",
    "Matrix": "Target words down, source words across, special tokens (∅) last: the scores. A dot is a link.",
    # Flow
    "Rollout": "Multiplies the layers' maps (Abnar and Zuidema 2020): in each, the mean of the heads and a fixed share "
    "for what a row keeps of itself. It takes weights for what is moved, whatever the values are.",
    "ALTI": "In each layer, how near each token's part lies to what the layer makes of all of them (Ferrando et al. "
    "2022); the layers multiplied. It knows values and measures what a row keeps.",
    "Residual share": "What a row keeps of itself in each sublayer: rollout has to be told, and ½ is custom. At 1 "
    "nothing is read, at 0 nothing is kept.",
    "Measured share": "What rows do keep on this text, by norms: a row's own part beside the sum of what it reads of "
    "others (Kobayashi et al. 2021), mean over rows and sublayers. Click to use it.",
    "Max flow": "How much could come through from each token, if shares were pipes (Abnar and Zuidema 2020): one "
    "maximum flow for each token. Never less than rollout; no shares, since they sum to more than 1.",
}
