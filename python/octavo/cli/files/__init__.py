"""Verbs for files: their contents, other formats and stores, checks and comparisons."""
