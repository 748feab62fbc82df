"""The built-in translator: its generation, its recorded decoding steps, and deliberate faults in decoding."""
