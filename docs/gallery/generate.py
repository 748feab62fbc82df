"""What generate() looked at.

Five tokens were read in one pass, and after that each step computed one row. attnviz puts the steps together into one
map. The small GPT-2 has random weights: put any decoder of transformers in its place.
"""

import torch
from transformers import GPT2Config, GPT2LMHeadModel

import attnviz

torch.manual_seed(1)
sizes = {"n_embd": 48, "n_layer": 3, "n_head": 4, "initializer_range": 0.4, "bos_token_id": 0, "eos_token_id": 63}
gpt2 = GPT2LMHeadModel(GPT2Config(vocab_size=64, attn_implementation="eager", **sizes)).eval()
asked = {"max_new_tokens": 8, "do_sample": False, "output_attentions": True, "return_dict_in_generate": True}
outputs = gpt2.generate(torch.tensor([[5, 17, 9, 17, 5]]), pad_token_id=0, **asked)
names = [f"t{number}" for number in outputs.sequences[0].tolist()]
attnviz.from_tensors(outputs, names).to_html("generate.html")
