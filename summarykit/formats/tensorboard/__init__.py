"""TensorBoard's event files: layout (writing) and parse (reading)."""
