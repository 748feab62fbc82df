"""Weights of nn.MultiheadAttention.

The layer returns the mean of its heads unless it is asked not to. Each colour is one of its four heads;
their weights are random, as PyTorch makes them.
"""

import torch

import attnviz

torch.manual_seed(0)
layer = torch.nn.MultiheadAttention(embed_dim=32, num_heads=4, batch_first=True)
query, memory = 3 * torch.randn(1, 4, 32), 3 * torch.randn(1, 6, 32)
_, weights = layer(query, memory, memory, average_attn_weights=False)  # (batch, heads, q_len, k_len)
trace = attnviz.from_tensors(weights, ["q0", "q1", "q2", "q3"], key_tokens=["k0", "k1", "k2", "k3", "k4", "k5"])
trace.to_html("multihead_attention.html", "links", heads=[(0, 0), (0, 1), (0, 2), (0, 3)])
