"""Several server processes behind HAProxy, started and watched by one command."""
