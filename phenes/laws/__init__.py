"""Densities that several rooms use."""
