"""Live training: a training runs in a worker process while visitors watch."""
