"""One file per framework: its events become our hooks.

Every file offers the same names, in the base class that its framework asks for: ``SummaryCollector`` with the arguments of
``summarykit.SummaryCollector``, and ``Callbacks([...])``, which runs any of our callbacks. Nothing here is imported before it is
asked for.
"""
