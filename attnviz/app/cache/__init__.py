"""Caches of models, traces and payloads, each with a limit on its entries or bytes."""
