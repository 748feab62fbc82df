"""Step by step, and all at once.

On the left one pass reads the whole target, as in training; on the right the model writes a token at a time.
Walk through the steps: each computes one row, and it is the row of the one pass.
"""

import attnviz

model = attnviz.load()
attnviz.picture("stepper").of(model, "I love you.", to="fr").to_html("step_by_step.html")
