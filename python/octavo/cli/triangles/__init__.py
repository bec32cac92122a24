"""Verbs for meshes of triangles alone: values and flow over time, TELEMAC's pieces."""
