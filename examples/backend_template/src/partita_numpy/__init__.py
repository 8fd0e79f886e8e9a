"""The `numpy` target: regions of a graph run by numpy. Nothing is imported here, so that running needs no compiler."""
