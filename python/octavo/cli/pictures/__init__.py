"""Verbs that make pictures and surfaces."""
