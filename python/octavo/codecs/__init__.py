"""The codec beside its peers, measured on values of a file."""
