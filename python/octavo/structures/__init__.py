"""Structures in a step: clumps, surfaces, power spectra."""
