"""Verbs for the machine and the shell: measurements, checks of the installation, completion, manual pages."""
