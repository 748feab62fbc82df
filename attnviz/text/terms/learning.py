"""The terms of Learning."""

from attnviz.text.terms.shared import SHARED

LEARNING: dict[str, str] = SHARED | {
    "Task": "What the toy learns. Its lines are drawn at random during training; some are held out.",
    "First run": "What is left out or broken in the run on the left. None: the toy is trained normally.",
    "Second run": "What is left out or broken in the run on the right. Task and seed are those of the first run, so "
    "nothing else differs.",
    "A second run beside it": "Shows a second run of the same task side by side with the first.",
    "Seed of the run": "Where random numbers start: the first weights and the order of the lines. On one machine, the "
    "same experiment with the same seed gives exactly the same run.",
    "A line of your own": "Shows what the toy writes for your line at the end of its training, and where each head "
    "looks. It knows only the words of its task.",
    "Train it yourself": "Runs the same experiment here, in its own process. Visitors who ask for the same experiment "
    "watch the same run; other runs wait in one queue.",
    "Experiments": "Recorded pairs of runs that differ in one thing.",
    "Open a recording": "Opens a recorded training run from an .npz file: of a translator or of a toy.",
    "dev loss": "The mean −ln of the right token’s probability over dev sentences, which training never sees, on the "
    "teacher’s prefix. In nats per token.",
    "chrF": "How many sequences of one to six letters a translation shares with the reference, 0 to 100. For greedy "
    "translations of dev sentences (Popović 2015).",
    "BLEU": "How many sequences of one to four words (in Chinese, characters) a translation shares with the "
    "reference, 0 to 100. For greedy translations of dev sentences (Papineni et al. 2002).",
    "teacher prefix": "Exact match on the teacher’s prefix: the share of held-out lines with every word right when "
    "the model is given the right words before each position, as in training.",
    "own prefix": "Exact match on its own prefix: the share of held-out lines with every word right when the model is "
    "given what it wrote itself, as in use.",
    "exact match": "A line counts only if all of its words are right.",
    "leak meter": "Exact match on the teacher’s prefix minus exact match on its own. A model that sees no later words "
    "has 0 throughout. Above 0, it has seen answers instead of finding them.",
    "training loss": "The mean −ln of the right word’s probability over the updates since the last moment, in nats.",
    "held-out": "Lines that training never sees. What a toy gets right there it has learned, not memorised.",
    "superdiagonal": "The weight on the token after a row’s own: the very word that it has to write. A causal mask "
    "keeps it at 0.",
    "previous-token": "The weight on the token before a row’s own.",
    "induction": "The weight on the token that followed the row’s own token the last time it appeared (Olsson et al. "
    "2022).",
    "alignment": "The weight on the words of the source that the row’s output comes from.",
}
