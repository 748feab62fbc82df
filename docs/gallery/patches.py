"""What a patch of an image looks at.

A small ViT of transformers with random weights reads an image of a red square on a blue ground: put your own model and
image in their place. Its patches look at patches of similar colours, which it has not learned.
"""

import torch
from transformers import ViTConfig, ViTImageProcessorPil, ViTModel

import attnviz

torch.manual_seed(0)
sizes = {"hidden_size": 48, "num_hidden_layers": 3, "num_attention_heads": 4, "image_size": 160, "patch_size": 16}
processor = ViTImageProcessorPil(size={"height": 160, "width": 160})
model = attnviz.load(ViTModel(ViTConfig(**sizes, intermediate_size=64, initializer_range=0.2)), processor)
image = torch.tensor([40, 70, 160], dtype=torch.uint8).repeat(160, 160, 1)
image[48:112, 64:128] = torch.tensor([210, 60, 40], dtype=torch.uint8)
trace = model.trace(image.numpy())
trace.to_html("patches.html", "patches", layer=0, head=1, at=45)
