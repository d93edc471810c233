"""Stands for the package that would build a source archive: see unbuilt.py."""
