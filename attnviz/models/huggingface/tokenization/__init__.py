"""Tokenize texts like a checkpoint's tokenizer, and find which characters each token covers."""
