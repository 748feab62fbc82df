"""The picture Attribution: one logit taken apart into what each head and layer adds to it."""
