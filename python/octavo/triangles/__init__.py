"""Meshes of triangles alone: polygons, cuts, series over time, ways of particles."""
