"""How a shape lies on disk: framing, checksums, file names and one package per format."""
