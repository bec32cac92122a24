"""Verbs that compute tables: statistics, histograms, profiles, lines, spectra, clumps."""
