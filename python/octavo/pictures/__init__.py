"""Pictures and movies of arrays."""
