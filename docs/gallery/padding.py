"""Padding: a short sentence in a batch with a longer one.

Two [PAD] tokens fill up the shorter sentence, and the attention mask says so: no row gives them any weight.
They have rows of their own, which nobody reads. The model is a BERT with random weights.
"""

import torch
from transformers import BertConfig, BertModel

import attnviz

torch.manual_seed(0)
sizes = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64}
bert = BertModel(BertConfig(vocab_size=10, attn_implementation="eager", initializer_range=0.4, **sizes)).eval()
ids = torch.tensor([[1, 4, 5, 6, 7, 2], [1, 8, 9, 2, 0, 0]])  # the cat sat down; it slept
outputs = bert(ids, attention_mask=(ids > 0).long(), output_attentions=True)
words = ["[CLS]", "it", "slept", "[SEP]", "[PAD]", "[PAD]"]
trace = attnviz.from_tensors(outputs, words, item=1, mask=(ids[1] > 0).expand(6, 6))
trace.to_html("padding.html", mask=True)
