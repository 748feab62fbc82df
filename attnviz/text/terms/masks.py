"""The terms of the Masks page."""

from attnviz.text.terms.shared import SHARED

MASKS = SHARED | {
    # Controls.
    "Masks, combined with &": "Which keys a query may attend to. Where several rules are chosen, a key must be "
    "allowed by all of them, and by the paint. None chosen: every query sees every key.",
    "Fill": "What is put where the mask hides a key, and whether before or after the softmax. Only −∞, or a very "
    "negative number, before the softmax gives hidden keys nothing and lets the others sum to 1.",
    "Number": "The finite number that stands in hidden cells. The softmax gives a hidden key exp(number − largest "
    "score) of a share, so that −10 leaks a little and −2 a lot.",
    "Computed in": "The number format of scores, softmax and context at this site. Half precision has fewer digits, "
    "and float16 ends at ±65504.",
    "In force at": "How far the mask reaches when the model runs again: this one head, every head of this layer, or "
    "every head of every layer of this kind.",
    "Shown": "Which sentence of the batch is drawn.",
    "Row": "One query: its scores over all keys go through one softmax.",
    "Next tokens after": "The position whose likeliest next tokens are compared. It starts at the one that changed "
    "most.",
    "Replace target token": "The position whose token is exchanged. What moves before it has seen the future.",
    "by the first token of": "The text whose first token takes the place.",
    "Tokens that have arrived": "How many target tokens stand there so far, the next one included.",
    "A row without keys": "Paints one row shut, the pinned one if there is one, and opens All fills. The softmax of "
    "nothing is not defined, and programs disagree: NaN, a uniform row, or zeros.",
    # Rules.
    "causal": "A query sees keys up to its own position and none after it: what a decoder is trained with, so that "
    "it cannot read the token that it has to guess.",
    "padding": "Hides <pad>, which only fills the shorter sentence of a batch. Needs a second sentence.",
    "window": "A sliding window: a query sees keys at most so many positions away, on both sides (Longformer). With "
    "causal, only those behind it.",
    "prefix": "The first keys are seen by everybody, the others as under causal (a prefix language model, such as "
    "T5's).",
    "block": "The sentence is cut into blocks of one size; a query sees the keys of its own block.",
    "dilated": "A window with holes: a query sees its own position and every n-th key from there, on both sides.",
    "random": "Each key is seen with this probability, drawn once from the seed.",
    "wait-k": "The first step sees k keys, and each later step one more: translating while the speaker is still "
    "speaking (Ma et al. 2019). With k = 1 it is causal.",
    "window: reach": "How many positions away a key may be. 0: only the query's own position.",
    "prefix: length": "How many of the first keys everybody sees.",
    "block: size": "How many positions a block has.",
    "dilated: step": "How far apart the keys are that a query sees. 1: every key.",
    "random: keep": "The probability that a key is seen.",
    "random: seed": "Where the random numbers start: the same seed draws the same mask.",
    "wait-k: lead": "k: how many keys the first step sees.",
    # Fills.
    "−∞": "exp(−∞) is exactly 0, so that a hidden key gets nothing. A row with every key hidden becomes NaN.",
    "−1e9 (masked_fill)": "scores.masked_fill(mask == 0, -1e9), as the Annotated Transformer writes it. A row with "
    "every key hidden becomes uniform; float16 cannot hold the number, and torch refuses.",
    "−1e9 (torch.where)": "The same number put in by torch.where, which does not refuse in float16: there it "
    "silently becomes −∞.",
    "finfo.min": "torch.finfo(dtype).min, the most negative number of the format: as good as −∞ beside any real "
    "score, and a row with every key hidden becomes uniform instead of NaN.",
    "a finite number": "A number of your choice. Unless it is very negative, hidden keys keep some weight.",
    "0 before softmax": "The common mistake: a score of 0 is no small score. exp(0) is 1, so that hidden keys get "
    "weight.",
    "0 after softmax": "Weights of hidden keys are set to 0 when the softmax is done. The rest no longer sums to 1.",
    "0 after, renormalised": "As before, then each row is divided by its sum. The same as −∞, but where nothing is "
    "left: 0 / 0 is NaN.",
    "PyTorch's fused kernel": "scaled_dot_product_attention, which never writes the weights down. It masks with −∞, "
    "and answers zeros for a row without keys. attnviz runs on it.",
    "float32": "32 bits: 7 digits, up to 3.4e38. The usual format.",
    "float16": "16 bits: 3 digits, up to 65504. −1e9 does not fit.",
    "bfloat16": "16 bits: 2 digits, with the range of float32, so that −1e9 fits.",
    # Tabs.
    "Pipeline": "One head, from left to right: scores, scores with the mask, weights, context. Paint on the masked "
    "scores.",
    "What it would say": "The model runs again with this mask in force: what it writes, its next tokens, every map.",
    "All fills": "One row under every fill, in every number format.",
    "Leak test": "One target token is exchanged. Do positions before it notice? With the causal mask, none does.",
    "Row by row": "Why a decoder is masked, by hand: a token arrives, and the context of the first stays or changes.",
    "Broadcast": "How one mask (batch, q, k) serves all heads: where its missing axis goes, and what torch says "
    "otherwise.",
    # The maps and their tools.
    "Scores": "Query · key, times the scale 1/√d_k: how well each key answers each query, before any mask.",
    "Masked scores": "The scores with the fill in every hidden cell: what the softmax gets.",
    "Weights": "The softmax of each row: how a query's attention is shared out over the keys.",
    "Row sum": "What a row's weights add up to: 1, unless the fill is wrong or no key is left.",
    "Context": "Weights · values: what this head hands on, a row for each query, a column for each of its dimensions.",
    "Clear paint": "Shows every painted cell again (key x). Rules stay.",
    "Invert": "Hides what the paint shows and shows what it hides (key i).",
    "To paint": "Turns the rules into paint (key b): the mask stays the same, and then every cell can be painted "
    "either way. Needed because paint on top of a rule can only hide more.",
    "Whole map": "Ends the zoom (key 0).",
    # Columns and words of the rooms.
    "value": "What then really stands there: half precision rounds the number, or makes it −∞.",
    "sum": "What the weights add up to.",
    "masked": "The weight of all hidden keys together. It should be 0.",
    "finding": "What became of the row, and why.",
    "written step by step": "As when the model is used: each token is chosen and put behind the others before the "
    "next. What comes later does not exist yet.",
    "one pass over the whole target": "As in training: all positions at once, each to guess its next token. What "
    "comes later stands there, and only the mask hides it.",
    "renormalised": "Divided by the sum, so that a row adds up to 1 again.",
    "moved": "The share of a row's attention that now goes to other keys, 0 to 1, a mean over the rows.",
}
