"""An encoder of your own.

A small BERT of transformers with random weights: put your own model and its tokenizer in their place.
Its heads show patterns, and have learned nothing. A pattern alone is no sign that something was learned.
"""

import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

import attnviz

torch.manual_seed(0)
words = {word: number for number, word in enumerate(["[UNK]", "the", "cat", "sat", "on", "a", "mat", "."])}
splitter = Tokenizer(models.WordLevel(words, unk_token="[UNK]"))
splitter.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
tokenizer = PreTrainedTokenizerFast(tokenizer_object=splitter, unk_token="[UNK]")
sizes = {"hidden_size": 48, "num_hidden_layers": 3, "num_attention_heads": 4, "initializer_range": 0.4}
trace = attnviz.load(BertModel(BertConfig(vocab_size=8, **sizes)), tokenizer).trace("the cat sat on a mat .")
trace.to_html("own_encoder.html", "whole_model")
