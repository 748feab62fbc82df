"""The terms of the Decoding page."""

DECODING = {
    "Seed of the weights": "Where the random numbers for the untrained model's weights start: the same seed, the same "
    "model.",
    "Teacher's prefix": "Every step gets the tokens of the given target, whatever the model chose itself, as in "
    "training. Where a model continues a prompt, the target is the prompt and what follows it.",
    "KV cache": "Keys and values of earlier tokens are kept, so a step computes only one row.",
    "Recompute the prefix": "No cache: every step runs the whole prefix again and keeps only its last row.",
    "prefix": "The tokens so far, <bos> first. A step reads them and writes the next one.",
    "Greedy": "Each step takes the most likely token.",
    "Sampled": "Each step draws a token at random, likely ones more often.",
    "How it steps": "Ways to step and to choose a token, and what the training side is compared with.",
    "Every difference": "A map of all differences between pass and steps: each head, output and position as a share of "
    "what rounding allows there.",
    "Beam": "Several sentences grow side by side. The one with the highest log-probability per token wins.",
    "Temperature": "Scores are divided by it before the softmax. Below 1, likely tokens are drawn more often; above "
    "1, unlikely ones.",
    "Top k": "Only this many of the most likely tokens can be drawn. 0: all.",
    "Top p": "Only the most likely tokens that together have this much probability can be drawn. 1: all.",
    "Beam size": "How many sentences a beam keeps.",
    "Seed": "Where random numbers start, for sampling and for dropout: the same seed, the same numbers.",
    "Smoothing": "Label smoothing ε: the label should get probability 1 − ε, and ε is spread over the whole "
    "vocabulary, so that being too sure does not pay.",
    "Padding": "How many <pad> fill up the target, as in a batch with a longer one.",
    "Break it": "Switches that change the real computation, of your own runs only.",
    "Causal mask": "Row i of the decoder sees tokens 0 to i and none after. “No causal mask” lets it see all of them; "
    "“Mask off by one” lets it see one too many, the label that it should predict.",
    "No causal mask": "Every row of the pass sees the whole target, including the labels that it should predict.",
    "Mask off by one": "Every row of the pass sees one token too many: the label that it should predict.",
    "Type that the steps run in": "The number format while decoding: float32 keeps 23 bits after the leading one, "
    "float16 10 and bfloat16 7. The pass stays in float32.",
    "Dropout left on": "Numbers are zeroed at random, as in training: the result of a forgotten eval().",
    "Positions restart in the cache": "Every cached step is embedded as if it were at position 0: a common mistake in "
    "hand-written loops.",
    "Cost": "Multiply-adds of one pass, of recomputing and of caching, and the seconds they take here.",
    "The untrained experiment": "A small model with random weights reads every prefix of a target. With a mask, "
    "adding a token leaves the earlier rows unchanged.",
    "Numbers as tables": "The training table and all differences, to sort and download.",
    "#": "The position, counted from 0.",
    "goes in": "The target without its last token: what the decoder reads, all rows at once.",
    "label": "The target without its first token: what each row should predict.",
    "probability": "The probability that the model gives to the label.",
    "loss": "−ln of the label's probability, in nats: 0 when the model is certain and right, 0.69 at one half.",
    "model says": "The model's most likely token, where it is not the label.",
    "mean loss": "The mean over the labels, without padding, in nats (a nat is 1.44 bits). e to the power of this "
    "mean is the perplexity: the model is as unsure as among that many equally likely tokens.",
    "Next token": "The most likely tokens after this step, by the model's probability. ✓ marks the chosen one, "
    "“teacher” the one in the target.",
    "drawn with": "The probability that the token was really drawn with, after temperature, top k and top p. Tokens "
    "that these exclude are pale and cannot be drawn.",
    "teacher": "The target that training reads: the one typed above, or what the model wrote.",
    "Hypotheses after this step": "The sentences that the beam keeps. The number is the mean log-probability per "
    "token, in nats: closer to 0 is better. “ended” has written its <eos>.",
    "cut": "Decoding reached the length limit for this source without an <eos>, so the sentence is not complete.",
    "ms": "What this step took on the server, in milliseconds.",
    "One pass": "The decoder over all these tokens at once, as in training: every row exists from the start, and the "
    "mask hides later tokens.",
    "Steps": "The rows that decoding has computed one after another. A step computes only the newest row.",
    "computed once": "The encoder reads the source before the first step. Its map never changes after that.",
    "what rounding allows": "The pass runs four more times with every number moved by one unit in its last place, up "
    "or down at random. The largest change at a place and position, times 16, is how far steps and pass may differ "
    "there.",
    "|Δ|": "The largest difference between what the steps and the pass computed at one place and position: of a "
    "row's weights, of a hidden state, or of the logits.",
    "breaks first at": "The first place, in the order of computation, where steps and pass differ by more than "
    "rounding allows. Everything after it is wrong because of it.",
    "blank": "Steps and pass computed exactly the same number there, down to the last bit.",
    "embedding": "The input of the first layer: the token's vector, plus its position where the model adds one.",
    "out": "The hidden states after a layer.",
    "logits": "The scores of the whole vocabulary, before the softmax turns them into probabilities.",
}
