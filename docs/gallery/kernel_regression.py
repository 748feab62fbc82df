"""Kernel regression is attention.

Each row is a place x at which y is predicted, each column a measured point, and a weight is how much that point counts.
The heads are four kernels: the wider a kernel, the more points share a row.
"""

import torch

import attnviz

torch.manual_seed(0)
keys, queries = torch.sort(5 * torch.rand(20)).values, torch.arange(0.0, 5.1, 0.5)
distances = queries[:, None] - keys
kernels = [torch.exp(-(distances**2) / (2 * width**2)) for width in (0.1, 0.3, 1.0, 100.0)]
weights = torch.stack([kernel / kernel.sum(-1, keepdim=True) for kernel in kernels])  # (heads, q_len, k_len)
names = [[f"{x:.1f}" for x in places.tolist()] for places in (queries, keys)]
attnviz.from_tensors(weights, names[0], key_tokens=names[1]).to_html("kernel_regression.html", head=1)
