"""The terms that pages show, each defined in a sentence or two: what a person reads under the pointer.

A page asks by the term as it is written on screen; a term that is missing is an error, so that a test finds it.
"""

from collections.abc import Mapping

# On more than one page, and of one meaning.
SHARED = {
    "Site": "Where in the model attention is computed: the encoder reading the source, the decoder reading what is "
    "written so far, or the decoder reading the source (cross-attention). An encoder layer has one such site, a "
    "decoder layer two, each with several heads.",
    "Layer": "One of the blocks that the model runs one after another, counted from 0. Each has its own heads, and "
    "works on what the one before it made.",
    "Head": "One of the attentions that a layer runs side by side, counted from 0. Each has its own queries, keys and "
    "values.",
    "Second sentence of the batch": "A batch is a block of numbers, so that its sentences must be equally long. The "
    "shorter one is filled up with <pad>, which is a key and a row like any other until a mask hides it.",
    "Export": "The picture as PNG or SVG with a caption, its numbers as CSV.",
}
HEADS = SHARED | {
    # Tabs
    "Heads": "Every head's map as a thumbnail, and one of them large, down to single weights.",
    "Links": "The weights as lines between two columns of tokens: who looks at whom.",
    "Whole model": "Every head of every layer in one picture.",
    "Neuron": "One weight, down to the numbers of query and key that made it.",
    # How the heads are measured (attnviz/analysis/heads/metrics.py computes them)
    "Entropy": "How evenly a row's weight is spread, in bits: 0 when all of it lies on one key, log2 of the number "
    "of keys when all get the same. Shown is the mean over the head's rows.",
    "Mean distance": "How far from the diagonal a row looks on average, in tokens. In cross-attention both sentences "
    "are laid over each other from end to end. Shown is the mean over the head's rows.",
    "Diagonality": "How near the diagonal the weight is: 1 when all of it is on it, about 0.5 when it is spread "
    "evenly, 0 when it is as far off as can be. A high number in cross-attention is a word-by-word translator.",
    "Previous token": "The weight on the token just before the query's own, mean over rows. Near 1: a head that "
    "copies what stood before. It means nothing in cross-attention, whose sentences do not share positions.",
    "Next token": "The weight on the token just after the query's own, mean over rows. A causal mask keeps it at 0; "
    "it means nothing in cross-attention.",
    "First token mass": "The weight on the first token, special or not, mean over rows. A high number is often a "
    "sink: the head parks weight there that it has no use for.",
    "<eos> mass": "The weight on the special token that ends the sentence (<eos>, </s> or [SEP]), mean over rows. A "
    "high number is often a sink.",
    "Sort": "Puts the thumbnails in the order of a measure, the largest first; each thumbnail then prints that "
    "measure. “layer, head” leaves them in the model's own order.",
    "Tint": "Colours the strip below each thumbnail by a measure, the strongest where it is largest. It changes no "
    "order.",
    "Layer, head": "The model's own order: layers one way, heads the other.",
    # Which map is looked at
    "Every head": "A thumbnail for each attention head of each layer. L1 H3 is head 3 of layer 1; both count from 0.",
    "Encoder self": "Encoder self-attention: each token of the source looks at all tokens of the source.",
    "Decoder self": "Decoder self-attention: each step looks at the tokens written so far, and at none that follow.",
    "Cross": "Cross-attention: each step of the decoder looks at the tokens of the source.",
    "Query": "The token, or step, that looks: a row of the map. Its weights sum to 1.",
    "Key": "The token that is looked at: a column of the map.",
    "Mean heads": "The average of the maps of all heads of the layer. It hides how different the heads are.",
    "Mean layers": "The average of this head's map over all layers. Heads of one number have nothing in common but "
    "the number.",
    # How it is drawn
    "Weight": "What the softmax gives a key: a share of the row's attention, 0 to 1.",
    "Mask": "Hatches the cells that may not be seen: future tokens under a causal mask, padding. Their weight is 0.",
    "Words": "Merges the pieces of a word. Attention to a word is the sum over its pieces, attention from a word the "
    "mean over its pieces.",
    "Specials": "Special tokens such as <bos>, <eos>, [CLS] and [SEP] stand in no sentence, but heads look at them.",
    "Shown": "Special tokens have rows and columns like any other.",
    "Hidden": "Special tokens have no rows and columns; the other weights stay as they are, so that a row sums to "
    "less than 1.",
    "Renormalised": "Special tokens have no rows and columns, and what is left of each row is divided by its sum, so "
    "that it is 1 again. These are no longer the weights that the model used.",
    "Range": "Which weights the colours span. The legend below the map always says it.",
    "0 to 1": "The scale is the same for every head: a weight of 1 has the full colour, or an opaque line.",
    "0 to max": "The scale ends at the largest weight that is drawn, so that small ones can be told apart. Colours "
    "of two heads can then not be compared.",
    "No sink": "The scale ends at the largest weight outside the first and the end token, the usual sinks.",
    "Sink": "A token that takes weight which a head has no use for, often the first or the <eos>: a row has to sum "
    "to 1, so that looking at nothing is not possible.",
    "8-bit": "Drawn from the thumbnail's 256 steps until the exact numbers come.",
    "Pinned row": "The row whose weights are listed: click a row, or a token of the sentence that asks.",
    "By weight": "The order of the bars: the largest weight first.",
    "By position": "In the order of the sentence, or of the elements of a vector.",
    # Several at once
    "Pin": "Keeps a head to compare it with others, up to four.",
    "In focus": "One head: the one that is ringed among the thumbnails.",
    "Side by side": "The pinned heads beside each other, on one colour scale.",
    "Difference": "The first pinned head's weights less the second's; with one pin, the head in focus less the "
    "pinned one.",
    "Quadrants": "A map of two texts has four parts: A → B holds what the queries of A give to the keys of B. The "
    "parts of a row together sum to 1.",
    # Links, Whole model, Neuron
    "Read": "Rows high enough to be read; a long sentence then scrolls.",
    "Fit": "All tokens at once, as low as that makes the rows.",
    "Maps": "Each head as a small map: queries down, keys across.",
    "Lines": "Each head as lines from its queries on the left to its keys on the right.",
    "Score": "Query times key, summed and scaled: what the softmax makes a weight of.",
    "By contribution": "The elements that add most to the dot product first.",
    "Dot product": "The query's numbers times the key's, element by element, added up.",
    "Scaled": "The dot product divided by √d_k, so that the softmax does not become a choice of one.",
    "With the model's bias": "The score after what the model adds for the distance between the two tokens.",
    "Softmax": "e to the score, divided by the sum of e to the scores of all keys that the query may see: the weight.",
    # What leaves the page
    "Plotly": "The same map as a Plotly figure below the picture: to zoom, to save, to look up each weight.",
    "Table": "The same numbers as a table below the picture: to sort and to take along.",
    "Your own tensors": "Attention weights of any model, from a file: npz or safetensors.",
    "Views": "Heads: one map, large. Links: the weights as lines between two columns of tokens. Whole model: every "
    "map in one picture. Neuron: one weight, down to the numbers that made it.",
}
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
DECODING = {
    "Seed of the weights": "Where the random numbers start that the untrained model's weights are drawn from: the same "
    "seed, the same model.",
    "Teacher's prefix": "At every step the tokens of the given target go in, whatever the model chose itself: what "
    "training does. Where a model continues a prompt, the teacher is the prompt and what follows it.",
    "KV cache": "Keys and values of earlier tokens are kept, so that a step computes one row only.",
    "Recompute the prefix": "No cache: at every step the whole prefix goes in again, and all but its last row are "
    "thrown away.",
    "prefix": "The tokens that have gone in so far, <bos> first; a step reads them and writes the next one.",
    "Greedy": "Each step takes the likeliest token.",
    "Sampled": "Each step draws a token at random, likely ones more often.",
    "Beam": "Several sentences are kept alive and grown side by side; the one with the highest log-probability a "
    "token wins.",
    "Temperature": "Scores are divided by it before the softmax: below 1 likely tokens are drawn more often, above "
    "1 unlikely ones are.",
    "Top k": "Only this many of the likeliest tokens can be drawn; 0: all.",
    "Top p": "Only the likeliest tokens that together hold this much probability can be drawn; 1: all.",
    "Beam size": "How many sentences a beam keeps alive.",
    "Seed": "Where random numbers begin, those of sampling and of dropout: the same seed, the same numbers.",
    "Smoothing": "Label smoothing ε: the label is asked for 1 − ε of the probability, and every entry of the "
    "vocabulary for its share of ε, so that it does not pay to be too sure.",
    "Padding": "How many <pad> fill the target up, as when it stands in a batch with a longer one.",
    "Break it": "Switches that change the real computation of your own runs, and of nobody else's.",
    "Causal mask": "Row i of the decoder sees tokens 0 to i and no later one. “No causal mask” lets it see all of "
    "them; “Mask off by one” one too many, which is the label that it should predict.",
    "No causal mask": "Every row of the pass sees the whole target, the labels that it should predict among it.",
    "Mask off by one": "Every row of the pass sees one token too many: the very label that it should predict.",
    "Type that the steps run in": "How finely numbers are rounded while decoding: float32 keeps 23 bits after the "
    "leading one, float16 10 and bfloat16 7. The pass stays in float32.",
    "Dropout left on": "Numbers are zeroed at random, as in training: what a forgotten eval() does.",
    "Positions restart in the cache": "Every cached step is embedded as if it stood at position 0: a common slip "
    "in loops that are written by hand.",
    "Cost": "Multiply-adds of one pass, of recomputing and of caching, and the seconds that they take here.",
    "The untrained experiment": "A small model with random weights reads every prefix of a target: rows that are "
    "there already stay as they are when a token is added, as long as there is a mask.",
    "Numbers as tables": "The training table and all differences, to sort and to take along.",
    "#": "The position, counted from 0.",
    "goes in": "The target without its last token: what the decoder reads, all rows at once.",
    "label": "The target without its first token: what each row is to predict.",
    "probability": "What the model gives to the label.",
    "loss": "−ln of the label's probability, in nats: 0 when the model is certain and right, 0.69 at one half.",
    "model says": "The model's own likeliest token, where it is not the label.",
    "mean loss": "The mean over the labels, without padding; in nats (units of the natural logarithm: a nat is "
    "1.44 bits). e to this mean is the perplexity: as unsure as among so many equally likely tokens.",
    "Next token": "The likeliest tokens after this step, by the model's probability. ✓ marks what was chosen, "
    "“teacher” what the target has here.",
    "drawn with": "The probability that the token was really drawn with, after temperature, top k and top p; a "
    "token that these cut off stands pale and cannot be drawn.",
    "teacher": "The target that training reads: the one typed above, or what the model wrote.",
    "Hypotheses after this step": "The sentences that the beam keeps. The number is the mean log-probability a "
    "token, in nats: nearer to 0 is better. “ended” has written its <eos>.",
    "cut": "Decoding reached the most tokens that a translation of this source may have, without an <eos>: the "
    "sentence is not at its end.",
    "ms": "What this step took on the server, in milliseconds.",
    "One pass": "The decoder over all these tokens at once, as in training: every row is there from the start, and "
    "the mask hides what is to come.",
    "Steps": "The rows that decoding has computed one after another; a row is the newest one's alone.",
    "computed once": "The encoder reads the source before the first step; its map never changes afterwards.",
    "what rounding allows": "The pass is run four more times with every number moved by a unit in its last place, "
    "up or down at random. What moves most at a place and position, times 16, is how far steps and pass may part "
    "there.",
    "|Δ|": "The largest difference between what the steps and the pass computed at one place and position: of a "
    "row's weights, of a hidden state, or of the logits.",
    "breaks first at": "The first place, in the order of computation, where steps and pass differ by more than "
    "rounding allows: what comes later is wrong because this is.",
    "blank": "Steps and pass computed exactly the same number there, to the last bit.",
    "embedding": "What goes into the first layer: the token's vector, with its position where the model adds one.",
    "out": "The hidden states that leave a layer.",
    "logits": "The scores of the whole vocabulary, before the softmax makes them probabilities.",
}
LEARNING: dict[str, str] = SHARED | {
    "Task": "What the toy is taught. Its lines are drawn at random as long as it trains; some of them are held out.",
    "First run": "What is left out or broken in the run on the left. None: the toy is trained as it should be.",
    "Second run": "What is left out or broken in the run on the right; task and seed are those of the first, so that "
    "nothing else differs.",
    "A second run beside it": "Two runs of one task in step: the difference is the lesson.",
    "Seed of the run": "Where random numbers begin: first weights, and the order of the lines. The same experiment "
    "with the same seed gives the same run, to the last bit on one machine.",
    "A line of your own": "What the toy makes of it at the end of its training: what it writes, on its own prefix, and "
    "where each head looks. It knows the words of its task only.",
    "Train it yourself": "Runs the same experiment here, in a process of its own. Whoever asks for the same one "
    "watches the same run; other runs wait in one queue.",
    "Experiments": "Pairs of runs whose difference is a lesson, all of them recorded.",
    "Open a recording": "A training that somebody recorded, from an .npz file: of a translator, or of a toy.",
    "dev loss": "The mean −ln of the right token’s probability over dev sentences, which training never sees, on the "
    "teacher’s prefix; in nats a token.",
    "chrF": "How many runs of one to six letters a translation shares with the reference, 0 to 100; of greedy "
    "translations of dev sentences (Popović 2015).",
    "BLEU": "How many runs of one to four words (of Chinese, characters) a translation shares with the reference, 0 to "
    "100; of greedy translations of dev sentences (Papineni et al. 2002).",
    "teacher prefix": "Exact match on the teacher’s prefix: the share of held-out lines that are right in every word "
    "while each position is fed the right words before it, as in training.",
    "own prefix": "Exact match on its own prefix: the share of held-out lines that are right in every word while it is "
    "fed what it wrote itself, as in use.",
    "exact match": "A line counts only if all of its words are right.",
    "leak meter": "Exact match on the teacher’s prefix less that on its own. For a model that sees no later word both "
    "are equal at every moment of the training: what is more than 0 is an answer that was seen, and not found.",
    "training loss": "The mean −ln of the right word’s probability over the updates since the moment before, in nats.",
    "held-out": "Lines that training never sees. What a toy does on them it has understood, and not memorised.",
    "superdiagonal": "The weight on the token after a row’s own: the very word that it is to write. A causal mask "
    "keeps it at 0.",
    "previous-token": "The weight on the token before a row’s own.",
    "induction": "The weight on the token that followed the last time that the row’s own token stood there (Olsson et "
    "al. 2022).",
    "alignment": "The weight on the words of the source that the row’s output comes from.",
}
SITE: dict[str, str] = SHARED | {
    # Parts of Anatomy
    "Shape walk": "Every line of one attention in the order of its code: the tensor that it makes, with axes, strides "
    "and bytes.",
    "Skip a line": "A line of the code is left out or changed, and run: torch raises, or the numbers are wrong.",
    "Memory order": "Where a small tensor's numbers lie in memory before and after view and transpose.",
    "Claims": "What is often said about heads, scaling and memory, each checked on this model's numbers.",
    "Shapes and counts": "What is often written wrongly about sizes: of queries, heads, targets and parameters.",
    "Self-attention? Not really": "A head does not compare tokens as they are, but what its matrices make of them: how "
    "far from a plain x xᵀ.",
    # Parts of Implementations
    "Agreement": "How far apart the ways to write attention are, each pair on the same weights and sentences.",
    "Time and memory": "What each way to write attention costs here, from short sentences to long ones.",
    "Source": "Two sources side by side, the lines that differ marked.",
    "Parameters": "Where one head's matrices lie in each implementation's parameters.",
    "Relative positions": "A term for the distance between two tokens, added to the scores by overriding one method.",
    "Mask shapes": "In which shapes a mask may come, and what is said to one that does not fit.",
    "Cabinet of bugs": "Common slips in attention code, each run on this sentence: what it does to map and "
    "translation.",
    "Left": "The implementation whose source stands on the left.",
    "Right": "The implementation whose source stands on the right.",
    "Put into the model at": "Where the bug is put when the whole model runs with it: at this site, at all layers of "
    "its kind, or everywhere.",
    # The site's tensors, and torch's words
    "batch first": "Axes in the order (batch, heads, length, d_k): a batched product works on the last two.",
    "sequence first": "Axes in the order (length, batch, heads, d_k), as recurrent networks had it; einsum says which "
    "axes are multiplied.",
    "shape": "The size of a tensor along each of its axes.",
    "strides": "For each axis, how many numbers to skip in memory for one step along it. view, transpose and expand "
    "change strides and sizes only; the numbers stay where they are.",
    "contig.": "Contiguous: the numbers lie in memory in the order of the axes, the last one fastest. Only such a "
    "tensor can be viewed with axes joined.",
    "contiguous": "The numbers lie in memory in the order of the axes, the last one fastest. As a call it copies a "
    "tensor into that order, if it is not in it already.",
    "bytes": "What the tensor's numbers would take by themselves: 4 bytes each in float32, 1 in bool.",
    "held": "The bytes of memory under a tensor: fewer than its numbers would take where an axis is broadcast.",
    "view": "The same memory read with other axes. Nothing is copied; it raises where the strides do not allow it.",
    "reshape": "As view, but where view would raise it copies, without a word.",
    "transpose": "Two axes change places. No number moves; the strides change places.",
    "unsqueeze": "Puts an axis of size 1 in. A dim from 0 counts from the front, the axis stands before the one that "
    "was there; a negative dim counts from the end, so that -1 puts it last.",
    "expand_as": "Axes of size 1 are repeated up to another tensor's size with stride 0: read again and again, never "
    "copied. Broadcasting does the same by itself.",
    "einsum": "A product written with a letter for each axis: letters that are missing on the right are summed over.",
    "masked_fill": "Writes one number into every cell where a mask is True; here into the hidden ones.",
    "softmax": "exp of each number divided by the sum of all along one axis: positive, and they sum to 1.",
    "blank: −∞": "A cell without colour holds minus infinity: the mask hid it, and softmax makes 0 of it.",
    "fused kernel": "PyTorch's scaled_dot_product_attention: scores, softmax and the product with the values in one "
    "go, without ever making the weights as a tensor.",
    "q_len": "How many queries there are: the rows of a map.",
    "k_len": "How many keys there are: the columns of a map. In cross-attention it is the source's length.",
    "d_model": "The size of a token's vector between layers; what goes into attention and comes out of it.",
    "d_v": "The size of one head's values; here, as usual, that of its queries and keys.",
    "memory": "What keys and values are made from: the input itself in self-attention, the encoder's output in "
    "cross-attention. Where bytes are meant, the computer's memory.",
    "row-major": "The order of numbers in memory that PyTorch uses: the last axis runs fastest, row after row.",
    "what comes of it": "silent: nothing is raised and the shapes fit, only the numbers are wrong. raises: torch stops "
    "with an exception.",
    "silent": "Nothing is raised and the shapes fit: only the numbers are wrong.",
    "raises": "torch stops with an exception.",
    "NaN": "Not a number: what comes of 0/0 or of softmax over nothing but −∞. Whatever it touches becomes NaN too.",
    "row sums": "The sum of the weights of one row; 1 if softmax went over the keys.",
    "off by up to": "The largest absolute difference from the right result, over all heads and both sentences.",
    "difference": "The tried map less the right one, cell by cell.",
    "W_o": "The output projection: mixes the heads' results, and is the fourth matrix that plain attention lacks.",
    "learned numbers": "Parameters: the entries of all weight matrices and biases.",
    "variance": "How far numbers spread: the mean squared distance from their mean.",
    "autograd": "PyTorch's record of a forward pass, kept for the backward pass of training.",
    "recorder": "What writes down query, key and value of each site while a model runs, for the pages to show.",
    "peak": "The most memory that was in use at once during the call.",
    "alive": "Memory in use at that moment.",
    "median": "The middle one of the measured times: a single slow run does not move it.",
    "additive": "Scores made as v · tanh(query + key) (Bahdanau et al. 2015), where the dot product multiplies.",
    "bilinear form": "x F yᵀ: a number from two vectors by way of a matrix F. For a head, F = W_Q W_Kᵀ.",
    "modulation": "What a head's learned matrices make of x xᵀ: tokens are compared after projection, not as they are.",
    "asymmetry": "|F − Fᵀ| / 2|F|: 0 when i looks at j exactly as j looks at i; about 0.71 for random numbers.",
    "rank": "In how many independent directions a matrix can tell vectors apart.",
    "spectrum": "All singular values of a matrix, largest first.",
    "singular value": "How much a matrix stretches one of its own directions.",
    "tgt_in": "What the decoder reads: the target without its last token.",
    "tgt_out": "What it should say, the labels: the target without its first token, <bos:…>.",
    "Xavier": "Initial weights with variance 2 / (inputs + outputs), which keeps signals about as strong as they were.",
    "ModuleList": "A list that tells PyTorch of the layers in it; a Python list does not.",
    "max |Δ|": "The largest absolute difference between two results, over all their numbers.",
    "allclose": "True when every pair of numbers differs by less than a tolerance (atol, plus a share of its size).",
    "get_scores": "The one method that makes scores from queries and keys: a subclass overrides it for relative "
    "positions.",
    "prepare_mask": "Checks the sizes of a mask and gives it an axis for the heads, before it meets the scores.",
    "broadcasting": "Tensors of different sizes meet: axes are matched from the last one, and one of size 1 is "
    "repeated.",
    "logits": "The model's numbers for each token of its vocabulary, before softmax.",
    "dropout": "In training, some weights are set to 0 at random and the others enlarged.",
    "in_proj_weight": "nn.MultiheadAttention's one matrix for queries, keys and values, one below the other.",
    "Reach": "Offsets between two tokens farther than this count as this far.",
    "Strength": "How much the made-up table of offsets adds to a score; below 0 it favours what is far away.",
}
FRAME: dict[str, str] = {
    # The top bar
    "Model": "Which model runs: a translator that comes with attnviz, or a checkpoint of the Hugging Face kind.",
    "Source sentence": "What the model reads and translates. Enter runs the model.",
    "Source text": "What the encoder reads. Enter runs the model.",
    "Sentence": "What the model reads. Enter runs it.",
    "Second sentence": "A sentence that is read together with the first one, as one of a pair. It may stay empty.",
    "Prompt": "What the model reads first and then continues. Enter runs it.",
    "Tokens to write": "How many tokens the model adds to the prompt. 0: only the prompt is read.",
    "To": "The language that the model translates into.",
    "Target": "What the decoder reads behind its start token. Left empty, it is what the model writes itself; a text "
    "that you type is read as if the model had written it.",
    # The status bar, and the welcome
    "device": "Where the model runs (cpu, cuda or mps) and in which numbers it computes: float32 has about 7 digits.",
    "parameters": "How many learned numbers the model has, in millions.",
    "layers": "How many layers the encoder and the decoder have, as 3+3; each has its own attention.",
    "heads": "How many attention maps each site makes side by side.",
    "d_k": "The size of one head's queries and keys: here d_model divided by the number of heads.",
    "tokens": "How many pieces the source was cut into, and how many the target has. <bos:…> and <eos> count too.",
    "forward": "How long the one pass took that every picture here is made from, once the target was known.",
    "decoding": "How long the model took to write its translation token by token, before that pass.",
    "weights": "An id of the model's parameters: it changes whenever they do, and links carry it.",
    "three times over": "Once in the encoder (self-attention), and twice in the decoder: self-attention, and "
    "cross-attention to the source.",
    "twice over": "In two kinds of attention: those that the Heads page has as tabs.",
    "attention map": "A head's weights on one sentence: a row for each query, a column for each key; a row sums to 1.",
}

TERMS = HEADS | MASKS | DECODING | LEARNING | SITE | FRAME
_SECTIONS = {
    "Heads": HEADS,
    "Masks": MASKS,
    "Decoding": DECODING,
    "Learning": LEARNING,
    "Anatomy": SITE,
    "Implementations": SITE,
}
_BY_NAME = {term.lower(): text for term, text in TERMS.items()}


def definition(term: str) -> str:
    """What a term means, in a sentence or two; as it is written, else in capitals or not. KeyError for a term that
    nobody has defined.
    """
    return TERMS.get(term) or _BY_NAME[term.lower()]


def words_of(page: str) -> Mapping[str, str]:
    """The terms that stand on the page of this title: its own, and the frame's."""
    return FRAME | _SECTIONS.get(page, {})
