"""How it gets to disk: buffer, pump, executor, file."""

from summarykit.writing.job import Batch, batch
from summarykit.writing.options import WriterOptions
from summarykit.writing.writer import Writer

__all__ = ["Batch", "Writer", "WriterOptions", "batch"]
