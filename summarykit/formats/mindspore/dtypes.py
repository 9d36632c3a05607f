"""MindSpore's numbers of data types."""

from __future__ import annotations

DTYPES = {
    1: "bool", 2: "int8", 3: "int16", 4: "int32", 5: "int64", 6: "uint8", 7: "uint16", 8: "uint32", 9: "uint64",
    10: "float16", 11: "float32", 12: "float64", 43: "complex64", 44: "complex128", 46: "bfloat16", 48: "int4",
}  # fmt: skip
"""Number -> name, as far as it is one of a tensor's element."""

NUMBERS = {name: number for number, name in DTYPES.items()}
"""Name -> number."""
