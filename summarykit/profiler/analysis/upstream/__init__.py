"""The figures that other tools give, counted as they count, defects included: to compare with, beside our own.

What is different is told in each module. Nothing in a report is taken from here.
"""
