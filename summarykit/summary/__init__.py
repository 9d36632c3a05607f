"""How you ask for it: SummaryRecord and its relatives."""
