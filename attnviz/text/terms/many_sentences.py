"""The terms of Causes over many sentences, and of its experiments."""

MANY_SENTENCES: dict[str, str] = {
    "Your own sentences": "One sentence per line. For a translator you may add a tab and the translation, which the "
    "model then does not have to write. The list stays on this page; links do not contain it.",
    "A list from a file": "Plain text in UTF-8, one sentence per line. It is copied into the field.",
    "Measure the "
    "list": "Measures every head on every sentence, and the loss without it. This server works on one list at a "
    "time, at half speed, so that others can go on working.",
    "Stop the list": "Keeps and shows what was measured so far. A list that others are waiting for continues.",
    "Spread of": "The measure whose distribution over sentences the table shows: one bar for each sixteenth of its "
    "range, the same range for every head.",
    "writes": "The length of the vector that the head adds to the hidden states, ‖z W_o‖: the largest over a "
    "sentence’s rows, then the mean over sentences.",
    "by gradient": "|z · ∂L/∂z| summed over rows, in nats per target token: how fast the targets get worse when a "
    "head is turned down a little. All heads in one pass; only a first estimate (Michel et al. 2019).",
    "lost without": "How much log-probability a target token loses on average when the head is really taken out, in "
    "nats. Below 0, the targets are more likely without it.",
    "± error": "The standard error of “lost without” over sentences. A head within two of these of 0 cannot be told "
    "from one that does nothing. Of a hundred such heads, about five lie outside by chance.",
    "helps": "The share of sentences whose target is less likely without the head.",
    "strongest key, most often": "Where a row’s strongest key is most often, as a share of all rows, beside what a "
    "random key would reach. It is a share, not a name for the head: no head does only one thing.",
    "Along the heads": "The measure on the horizontal axis. Each mark is a head; click one to choose it.",
    "Up the heads": "The measure on the vertical axis.",
    "Colour the heads": "The measure that colours the marks.",
    "lift": "The weight that the head gives to a token, divided by what it would give if it looked evenly at all that "
    "each row may see. (Raw weight would name the most common tokens for every head.) Tokens that occur fewer than "
    "three times are left out.",
    "The most": "The sentences in which the head writes most in one row. It may do nothing like it elsewhere.",
    "By lot": "Sentences are ordered by how much the head writes in them and cut into fifths; two are drawn from "
    "each. A head's extremes rarely show what it usually does.",
    "Pruning curve": "How likely the right translations stay, and how good the model’s own text stays, as more and "
    "more heads are removed: by importance, by greedy search, or at random.",
    "Pruning orders": "“gradient” and “ablation” rank each head by itself. “greedy” removes at each step the head "
    "that costs least given those already removed. “random” removes heads in random order, five times.",
    "Ready experiments": "Prepared sentences and head switches: what happens, what it teaches and what it does not, "
    "with a count over many sentences. The last one fails on purpose.",
    "Count again": "Runs all sentences of the count once more, with and without those heads. Takes a few seconds.",
}
