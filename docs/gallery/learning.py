"""Watch a head learn.

A tiny Transformer learns to write letters backwards, and is looked at sixty times on its way. Press Play: both maps of
its cross-attention begin as a blur, and end with a diagonal from the upper right to the lower left.
"""

import attnviz

recording = attnviz.learn("reverse", seed=1, steps=500)
attnviz.picture("learning").of(recording).to_html("learning.html")
