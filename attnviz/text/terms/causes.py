"""The terms of Causes."""

from attnviz.text.terms.shared import SHARED

CAUSES = SHARED | {
    # Tabs
    "Questions": "Five ways to ask what heads do: switch them off, patch another run's numbers in, split a logit into "
    "parts, compare two runs, or measure many sentences.",
    "Switch off": "Takes heads out of the run; the model then writes and is scored again.",
    "Patch": "Puts numbers of one run into another: what brings the answer back is what made it.",
    "Attribute": "A token's logit as a sum of what every part of the model adds to it.",
    "Compare": "Two runs side by side: their maps, the difference, and the heads that changed most.",
    "Many sentences": "What heads do over many sentences, because a single sentence can mislead.",
    # Switch off
    "worth": "How much more likely each token of the sentence gets without that one head, on average. Below 0, the "
    "head helps. The target stays the same, so that steps can be compared.",
    "spreads": "In units of the head's own spread: its effect here minus its average effect over the reference "
    "sentences, divided by how much that varies. Within ±2 it does what it usually does.",
    "nats": "Natural logarithms of probabilities: −0.69 halves a probability, −0.1 takes about a tenth off it.",
    "Replaced by": "What a switched-off head's output, or its weights, are replaced by.",
    "Zero": "The head's output becomes zero before W_o joins the heads: it adds nothing.",
    "Stop": "Stops here. What was done until then is not shown.",
    "Go on": "Starts again.",
    "Mean": "The head's output becomes its average, a fixed vector measured over the reference sentences. What the "
    "head says about this sentence is gone; what it always adds stays.",
    "Even": "The head attends evenly to all tokens that it sees: its output is their mean value.",
    "Diagonal": "The head attends only to its row's own position. Cross-attention has no such position, so its heads "
    "become zero.",
    "Most": "Switches off the heads that each cost this sentence most when switched off alone. Together they may cost "
    "more or less.",
    "Least": "Switches off the heads that each cost this sentence least when switched off alone.",
    "All but these": "Switches the other heads off and these on again.",
    "All on": "Switches all heads on again.",
    "Count": "Switches the same heads off in every sentence of a list that the translator was not trained on, and "
    "counts how many texts change and what the targets lose. One sentence proves little.",
    "What it writes now": "The model writes its text again, token by token, with these heads off at every step. Words "
    "that differ are marked.",
    "probability of each token": "For the same tokens in both runs, each given the tokens before it. Beside it, by "
    "how many nats it leads the runner-up: a very small lead turns easily.",
    "Where heads look now": "Every head's map on the same tokens. How far a map moved is the mean Jensen-Shannon "
    "divergence of its rows, 0 to 1 bit. A head before all heads that are off cannot move.",
    # Compare
    "noticed": "How far apart a head's maps in the two runs are: the mean Jensen-Shannon divergence of their rows, 0 "
    "to 1 bit. 0: it looks at the same in both.",
    "Words in step": "What the model writes in each run. Words that the other run does not have are marked.",
    "probabilities in step": "How probable each run makes its own tokens, each given those before it; side by side "
    "where both have the token.",
    "The other sentence": "What the second run reads; model and language are the same.",
    "The other language": "What the second run writes; the source is the same.",
    "The other model": "The model that reads the same source. Models with other vocabularies share whole words only.",
    # Patch
    "Pairs": "Pairs of sentences that differ in one word, and whose answers differ. They work on the shipped model.",
    "Changed sentence": "A second sentence, ideally one that differs from the first in one word. If their lengths "
    "differ, tokens are aligned by id and word, and only those with a partner are patched.",
    "Direction": "Which run's numbers go into which run. Into the changed run: what brings its answer back is enough "
    "for it. Into the clean one: what breaks its answer was needed for it. The two are not mirror images.",
    "Token a": "The metric is the logit of token a minus that of token b. Behind each token: its probability in the "
    "clean run | in the changed one. You can type any other token.",
    "Token b": "The token whose logit is subtracted from that of token a. You can type any other token.",
    "Control a": "A second pair of tokens at the same step whose lead should not change. A patch that changes it too "
    "does more than the question asks. The suggested pair has the same lead in both runs.",
    "Control b": "The other token of the control pair.",
    "Restored": "(patched − into) / (from − into) of the metric: 0 where the patch does nothing, 1 where it carries "
    "all of it over. It may lie outside 0 to 1.",
    "Control": "How far the same patch moves the control pair, in the same unit: it should stay near 0.",
    "In force": "The patches that are applied together. The model then writes again, and its text is shown beside the "
    "earlier one.",
    "Undo all": "Undoes every patch.",
    "Undo last": "Undoes the newest patch.",
    "Next step": "The next word where the two runs differ most.",
    # Attribute
    "Logit of": "The token whose logit is taken apart. Behind each token: its probability at this step. You can type "
    "any other.",
    "Minus that of": "Another token whose logit is taken away: the bars then say why the one leads the other.",
    "By size": "The largest bars first.",
    "In the model’s order": "From the embedding through each layer to the vocabulary.",
    "Adds directly": "What a part writes into the residual stream, through the last norm with its scale fixed, in the "
    "direction of the token. The bars sum to the logit.",
    "Falls without it": "How much lower the logit is when the head is set to zero. Later layers also read this head, "
    "and other heads step in when it is gone, so this differs from what the head adds directly.",
    "Logit lens": "Each layer's output read as if it were the last: through the last norm, recomputed, and the "
    "vocabulary. The last layer is what the model says.",
}
