"""The terms of Causes over many sentences, and of its experiments."""

MANY_SENTENCES: dict[str, str] = {
    "Your own sentences": "One sentence a line; for a translator, after a tab its translation, which it then need not "
    "write itself. They stay with this page, and no link carries them.",
    "A list from a file": "Plain text in UTF-8, one sentence a line. What it holds is put into the field.",
    "Go over the list": "Every head is measured on every sentence, and taken out of it by itself. One list at a time "
    "is gone over on this server, at half speed, so that others can go on working.",
    "Stop the list": "What was done until then is kept and shown. A list that others wait for, too, goes on.",
    "Spread of": "The measure whose distribution over sentences the table draws: a bar for each sixteenth of its "
    "range, the same for every head.",
    "writes": "How long a vector the head adds to the hidden states, ‖z W_o‖: the largest of a sentence’s rows, and of "
    "that the mean over sentences.",
    "by gradient": "|z · ∂L/∂z| summed over rows, in nats a token of the target: how fast the targets get worse when a "
    "head is turned down a little. All heads in one pass, and a first guess only (Michel et al. 2019).",
    "lost without": "How much log-probability a token of the targets loses when the head is really taken out, in nats; "
    "below 0 the targets are likelier without it.",
    "± error": "The standard error of what is lost, over sentences. A head within two of it cannot be told from one "
    "that does nothing; of a hundred heads five are beyond by chance.",
    "helps": "The share of sentences whose target is less likely without the head.",
    "strongest key, most often": "Where a row’s strongest key is most often, as a share of all rows, and what a key "
    "drawn by lot would reach. A share, no name for the head: none does only one thing.",
    "Along the heads": "The measure along the lower axis. Each mark is a head; a click chooses it.",
    "Up the heads": "The measure along the upright axis.",
    "Colour the heads": "The measure that the marks are coloured by.",
    "lift": "The weight that the head gives to a token, divided by what it would give if it looked evenly at all that "
    "each row may see: raw weight names the commonest tokens for every head. Tokens that stand in the list less than "
    "three times are left out.",
    "The most": "The sentences in which the head writes most in one row. What it does here it may do nowhere else.",
    "By lot": "Sentences are put in order by how much the head writes in them and cut into fifths; two are drawn from "
    "each. What a head does at its extremes is rarely what it does.",
    "Pruning curve": "How likely the right translations stay, and how good what the model writes, as more and more "
    "heads are removed: in order of their importance, by greedy search, or at random.",
    "Pruning orders": "“gradient” and “ablation” rank each head by itself; “greedy” looks at each step which heads "
    "cost least beside those that are out already; “random” takes them by lot, five times.",
    "Ready experiments": "Sentences and what to do with them, to begin with: what happens, what it teaches and what "
    "not, and a count over many sentences. The last one fails on purpose.",
    "Count it again": "Runs all sentences of the count once more, with the model and without those heads. It takes "
    "some seconds.",
}
