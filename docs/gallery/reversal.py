"""One head learns to reverse numbers.

An encoder is trained here on sixteen random numbers. In the end each row looks at the number at the mirrored place.
"""

import torch

import attnviz

torch.manual_seed(0)
embed, places, readout = torch.nn.Embedding(10, 32), torch.nn.Embedding(16, 32), torch.nn.Linear(32, 10)
encoder = torch.nn.TransformerEncoderLayer(32, nhead=1, dim_feedforward=64, dropout=0.0, batch_first=True)
adam = torch.optim.Adam(torch.nn.ModuleList([embed, places, readout, encoder]).parameters(), lr=3e-3)
for _ in range(250):
    given = embed(numbers := torch.randint(10, (128, 16))) + places.weight
    adam.zero_grad()
    torch.nn.functional.cross_entropy(readout(encoder(given)).transpose(1, 2), numbers.flip(1)).backward()
    adam.step()
weights = encoder.self_attn(given, given, given)[1][0]
attnviz.from_tensors(weights, [str(number) for number in numbers[0].tolist()]).to_html("reversal.html")
