"""Which patches does a model need?

A toy that reads handwritten digits sees a drawn 7, and then the same image with two patches of the stroke hidden: no
token attends to them. Without these two, the toy reads a 3. Draw on the left image in the app to hide others.
"""

import torch

import attnviz

model = attnviz.load("toy:digits")
image = torch.full((8, 8), 255, dtype=torch.uint8)
image[0:2, 1:7] = 0
image[2:4, 5:7] = image[4:6, 4:6] = image[6:8, 3:5] = 0
trace = model.trace(image.numpy())
stroke = "BAQGAgg"  # row 1, columns 2 and 3 of the grid, as a link to Masks names them
hidden = attnviz.picture("hidden_patches").of(model, trace, layer=1, head=0, hidden=stroke)
hidden.to_html("hide_patches.html")
