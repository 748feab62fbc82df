"""The terms of Causes."""

from attnviz.text.terms.shared import SHARED

CAUSES = SHARED | {
    # Tabs
    "Questions": "Five ways to ask what heads do: without them, with another run's numbers, part by part of a logit, "
    "on two runs, or over many sentences.",
    "Switch off": "Heads are taken out of the run, and the model writes and is scored again.",
    "Patch": "Numbers of one run are put into another: what brings its answer back was what made it.",
    "Attribute": "A token's logit as the sum of what every part of the model adds to it.",
    "Compare": "Two runs in step: their maps, the difference, and which heads noticed.",
    "Many sentences": "What heads do over many sentences, since one sentence tells a story that many refute.",
    # Switch off
    "worth": "How much likelier each token of the sentence gets without that one head, on average: below 0 the head "
    "helps. The target stays the same, so that steps compare.",
    "spreads": "In units of the head's own spread: what it does here less what it does on average over the reference "
    "sentences, divided by how much that varies. Within ±2 it does what it usually does.",
    "nats": "Natural logarithms of probabilities: −0.69 halves a probability, −0.1 takes a tenth of it.",
    "Replaced by": "What stands in the place of what a head gathered, or of its weights.",
    "Zero": "What the head gathered becomes zero, before W_o joins the heads: it adds nothing.",
    "Stop": "Leaves this where it is; what was done until then is not shown.",
    "Go on": "Begins it again.",
    "Mean": "What the head gathered becomes what it gathers on average, a fixed vector measured over the "
    "sentences that come along: what it says of this sentence is gone, what it always adds stays.",
    "Even": "The head attends evenly to all tokens that it sees: what it gathers is their mean value.",
    "Diagonal": "The head attends to its row's own position alone. Cross-attention has no such position: its heads "
    "become zero.",
    "Most": "Switches off those heads whose absence, each by itself, costs this sentence most. Together they may cost "
    "more, or less.",
    "Least": "Switches off those heads whose absence, each by itself, costs this sentence least.",
    "All but these": "Switches the others off, and these on again.",
    "All on": "Nothing is switched off.",
    "Count": "The same heads are taken out of every sentence of a list that comes along, none of which the translator "
    "was trained on: how many texts change, and what the targets lose. One sentence is one sentence.",
    "What it writes now": "The model writes its text again, a token at a time, with these heads off at every step. "
    "Words that differ are marked.",
    "probability of each token": "On the same tokens in both runs, each given those before it. Beside it by how many "
    "nats it is ahead of its runner-up: a margin of a hair turns a text.",
    "Where heads look now": "Every head's map on the same tokens. How far one moved is the Jensen-Shannon divergence "
    "of its rows, 0 to 1 bit, their mean; a head before all that are off cannot move.",
    # Compare
    "noticed": "How far apart a head's maps in the two runs are: the mean over rows of their Jensen-Shannon "
    "divergence, 0 to 1 bit. 0: it looks at the same in both.",
    "Words in step": "What the model writes in each run. Words that the other has not are marked.",
    "probabilities in step": "How probable each run makes its own tokens, each given those before it; side by side "
    "where both have the token.",
    "The other sentence": "What the second run reads; model and language are the same.",
    "The other language": "What the second run writes; the source is the same.",
    "The other model": "What reads the same source. Other vocabularies have words in common only.",
    # Patch
    "Pairs": "Pairs of sentences that differ in a word, with an answer that turns: they work on the shipped model.",
    "Changed sentence": "A second sentence, best one that differs from the one above in a word. Where their lengths "
    "differ, tokens are aligned by id and word, and only those with a partner are patched.",
    "Direction": "Whose numbers go into whose run. Into the changed run: what brings its answer back is enough for it. "
    "Into the clean one: what breaks its answer was needed for it. The two are not mirror images.",
    "Token a": "The metric is the logit of token a less that of token b. Behind each token: its probability in the "
    "clean run | in the changed one. Any other token can be typed.",
    "Token b": "The token whose logit is taken away from that of token a. Any other token can be typed.",
    "Control a": "A second pair of tokens at the same step whose lead should not move: a patch that moves it too does "
    "more than the question asks, and says little. Suggested is a pair whose lead is the same in both runs.",
    "Control b": "The control pair's other token.",
    "Restored": "(patched − into) / (from − into) of the metric: 0 where the patch does nothing, 1 where it brings all "
    "of it over. It may lie outside 0 to 1.",
    "Control": "How far the same patch moves the control pair, in the same unit: it should stay near 0.",
    "In force": "Patches that are made together. What the model then says is written again, word by word, and stands "
    "beside what it wrote before.",
    "Undo all": "Takes every patch back.",
    "Undo last": "Takes the newest patch back.",
    "Next step": "The word where the two runs differ next most.",
    # Attribute
    "Logit of": "The token whose logit is taken apart; behind each, its probability at this step. Any other can be "
    "typed.",
    "Less that of": "Another token whose logit is taken away: the bars then say why the one leads the other.",
    "By size": "The largest bars first.",
    "In the model’s order": "From the embedding through each layer to the vocabulary.",
    "Adds directly": "What a part writes into the residual stream, through the last norm with its scale as it was, in "
    "the direction of the token. The bars sum to the logit.",
    "Falls without it": "How much lower the logit is when the head is put to zero. Later layers read a head too, and "
    "others step in for one that is gone: it is another number than what the head adds directly.",
    "Logit lens": "Each layer's output read as if it were the last: through the last norm, computed anew, and the "
    "vocabulary. The last layer is what the model says.",
}
