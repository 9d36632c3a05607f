"""What SummaryCollector collects, one part per file."""
