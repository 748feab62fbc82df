"""How a checkpoint's tokenizer cuts a text, and which characters each piece covers."""
