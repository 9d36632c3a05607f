"""How it gets to disk: buffer, pump, executor, file."""

from summarykit.writing.batch import Batch, Job
from summarykit.writing.options import WriterOptions
from summarykit.writing.writer import Writer

__all__ = ["Batch", "Job", "Writer", "WriterOptions"]
