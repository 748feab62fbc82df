"""The terms of the Masks page."""

from attnviz.text.terms.shared import SHARED

MASKS = SHARED | {
    # Controls.
    "Masks, combined with &": "Which keys a query may attend to. With several rules, a key must be allowed by all of "
    "them and by the paint. No rule: every query sees every key.",
    "Fill": "What the mask writes into hidden cells, before or after the softmax. −∞, or a very negative number, "
    "before the softmax gives hidden keys no weight and lets the others sum to 1; so does 0 after it, once each row is "
    "divided by its sum.",
    "Number": "The finite number in hidden cells. The softmax gives a hidden key a weight in proportion to exp(number "
    "− largest score), so −10 leaks a little and −2 a lot.",
    "Computed in": "The number format of scores, softmax and context at this site. Half precision has fewer digits, "
    "and float16 ends at ±65504.",
    "In force at": "Where the mask applies when the model runs again: in this head, in every head of this layer, or "
    "in all heads of all layers of this kind.",
    "Shown": "Which sentence of the batch is drawn.",
    "Row": "One query. Its scores over all keys go through one softmax.",
    "Next tokens after": "The position whose likeliest next tokens are compared. It starts at the one that changed "
    "most.",
    "Replace target token": "The position whose token is replaced. If anything before it moves, the past has seen the "
    "future.",
    "by the first token of": "The text whose first token is put there instead.",
    "Tokens that have arrived": "How many target tokens are there so far, the next one included.",
    "A row without keys": "Hides every key of one row (the pinned one, if any) and opens All fills. The softmax of "
    "nothing is not defined, and programs disagree: NaN, a uniform row, or zeros.",
    # Rules.
    "causal": "A query sees keys up to its own position and none after it. A decoder is trained this way, so that it "
    "cannot read the token that it has to predict.",
    "padding": "Hides <pad>, which only fills up the shorter sentence of a batch. Needs a second sentence.",
    "window": "A sliding window: a query sees keys at most this many positions away, on both sides (Longformer). "
    "Together with causal, only those before it.",
    "prefix": "Every query sees the first keys; the others follow the causal rule (a prefix language model, such as "
    "T5's).",
    "block": "The sentence is cut into blocks of equal size. A query sees the keys of its own block.",
    "dilated": "A window with gaps: a query sees its own position and every n-th key from there, on both sides.",
    "random": "Each key is visible with this probability, drawn once from the seed.",
    "wait-k": "The first step sees k keys, and each later step one more: translating while the speaker is still "
    "speaking (Ma et al. 2019). With k = 1 it is the causal mask.",
    "window: reach": "How many positions away a key may be. 0: only the query's own position.",
    "prefix: length": "How many of the first keys every query sees.",
    "block: size": "How many positions a block has.",
    "dilated: step": "The distance between the keys that a query sees. 1: every key.",
    "random: keep": "The probability that a key is visible.",
    "random: seed": "Where the random numbers start: the same seed draws the same mask.",
    "wait-k: lead": "k: how many keys the first step sees.",
    # Fills.
    "−∞": "exp(−∞) is exactly 0, so a hidden key gets no weight. A row with every key hidden becomes NaN.",
    "−1e9 (masked_fill)": "scores.masked_fill(mask == 0, -1e9), as in the Annotated Transformer. A row with every key "
    "hidden becomes uniform. float16 cannot hold the number, and torch refuses.",
    "−1e9 (torch.where)": "The same number written by torch.where, which does not refuse in float16: there it "
    "silently becomes −∞.",
    "finfo.min": "torch.finfo(dtype).min, the most negative number of the format: as good as −∞ beside any real "
    "score. A row with every key hidden becomes uniform instead of NaN.",
    "a finite number": "A number of your choice. Unless it is very negative, hidden keys keep some weight.",
    "0 before softmax": "A common mistake: a score of 0 is not small. exp(0) is 1, so hidden keys get weight.",
    "0 after softmax": "Weights of hidden keys are set to 0 after the softmax. The rest no longer sums to 1.",
    "0 after, renormalised": "As above, then each row is divided by its sum. The same as −∞ but for rounding, and NaN "
    "where nothing is left: 0 / 0.",
    "PyTorch's fused kernel": "scaled_dot_product_attention, which never stores the weights. It masks with −∞ and "
    "returns zeros for a row without keys. attnviz runs on it.",
    "float32": "32 bits: 7 digits, up to 3.4e38. The usual format.",
    "float16": "16 bits: 3 digits, up to 65504. −1e9 does not fit.",
    "bfloat16": "16 bits: 2 digits, with the range of float32, so that −1e9 fits.",
    # Tabs.
    "Pipeline": "One head, from left to right: scores, scores with the mask, weights, context. Paint on the masked "
    "scores.",
    "What it would say": "The model runs again with this mask: what it writes, its next tokens, every map.",
    "All fills": "One row under every fill, in every number format.",
    "Leak test": "One target token is replaced. Do positions before it change? With the causal mask, none does.",
    "Row by row": "Why a decoder needs a mask, by hand: a token arrives, and the context of the first ones stays or "
    "changes.",
    "Broadcast": "How one mask (batch, q, k) works for all heads: where its missing axis goes, and torch's error if "
    "it goes elsewhere.",
    # The maps and their tools.
    "Scores": "Query · key, times the scale 1/√d_k: how well each key answers each query, before any mask.",
    "Masked scores": "The scores with the fill in every hidden cell: what the softmax gets.",
    "Weights": "The softmax of each row: how a query's attention is shared among the keys.",
    "Row sum": "What a row's weights add up to: 1, unless the fill is wrong or no key is left.",
    "Context": "Weights · values: this head's output, a row for each query, a column for each of its dimensions.",
    "Clear paint": "Shows all painted cells again (key x). Rules stay.",
    "Invert": "Swaps hidden and visible cells in the paint (key i).",
    "To paint": "Turns the rules into paint (key b). The mask stays the same, but every cell can then be painted "
    "either way. Paint on top of a rule can only hide more.",
    "Whole map": "Ends the zoom (key 0).",
    # Columns and words of the rooms.
    "value": "What is really stored: half precision rounds the number, or turns it into −∞.",
    "sum": "The sum of the weights.",
    "masked": "The total weight of all hidden keys. It should be 0.",
    "finding": "What happened to the row, and why.",
    "written step by step": "As in use: each token is chosen and appended before the next one. Later tokens do not "
    "exist yet.",
    "one pass over the whole target": "As in training: all positions at once, each predicting its next token. Later "
    "tokens are there, and only the mask hides them.",
    "renormalised": "Divided by the sum, so that a row adds up to 1 again.",
    "moved": "The share of a row's attention that now goes to other keys, 0 to 1, mean over the rows.",
}
