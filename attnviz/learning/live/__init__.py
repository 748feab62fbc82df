"""Live training: each training runs in its own process, and a visitor watches it."""
