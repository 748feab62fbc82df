"""What a patch of an image looks at.

A small ViT of transformers with random weights on an image that attnviz draws: put your own model and image in their
place. Its patches look at patches of similar colours, which it has not learned.
"""

import torch
from transformers import ViTConfig, ViTImageProcessorPil, ViTModel

import attnviz
from attnviz.models.example_images import draw_example

torch.manual_seed(0)
sizes = {"hidden_size": 48, "num_hidden_layers": 3, "num_attention_heads": 4, "image_size": 160, "patch_size": 16}
processor = ViTImageProcessorPil(size={"height": 160, "width": 160})
model = attnviz.load(ViTModel(ViTConfig(**sizes, intermediate_size=64, initializer_range=0.2)), processor)
trace = model.trace(draw_example("house"))
trace.to_html("patches.html", "patches", layer=0, head=1, at=45)
