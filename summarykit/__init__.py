"""summarykit: training-time instrumentation for Python."""

__version__ = "0.1.0"
