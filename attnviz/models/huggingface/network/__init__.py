"""Run a checkpoint with attnviz's attention in place of its own, through transformers' interface or by its softmax."""
