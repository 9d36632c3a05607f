"""How it gets to disk: buffer, pump, executor, file."""

from summarykit.writing.job import Job, Task
from summarykit.writing.options import WriterOptions
from summarykit.writing.writer import Writer

__all__ = ["Job", "Task", "Writer", "WriterOptions"]
