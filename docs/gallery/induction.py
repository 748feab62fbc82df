"""An induction head.

Twelve letters, and then the same line again, begun elsewhere. In the repeat this head looks at the letter that comes
next in the line, and that is the letter to write. The toy has learned it from lines of random letters.
"""

import attnviz

model = attnviz.load("toy:twice")
trace = model.trace("q w e r t y u i o p a s t", new_tokens=11)
trace.to_html("induction.html", kind="decoder_self", layer=1, head=0)
