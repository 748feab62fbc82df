"""Training in processes of its own while a visitor watches."""
