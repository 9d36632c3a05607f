"""How it gets to disk: buffer, pump, executor, file."""
