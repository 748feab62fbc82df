"""The terms of the Decoding page."""

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
