"""A selection for other programs: files, and tables, cubes and grids of other libraries (docs/export.md)."""
