"""How it comes back: scan, columns, run, frames."""
