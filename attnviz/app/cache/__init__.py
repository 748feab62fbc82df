"""Models, traces and payloads that were made before, bounded by number or bytes."""
