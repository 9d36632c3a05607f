"""MindSpore's summary files: layout (writing) and parse (reading)."""
