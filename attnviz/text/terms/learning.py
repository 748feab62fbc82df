"""The terms of Learning."""

from attnviz.text.terms.shared import SHARED

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
