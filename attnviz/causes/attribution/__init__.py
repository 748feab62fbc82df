"""The picture Attribution: one logit as a sum of the contributions of each head and layer."""
