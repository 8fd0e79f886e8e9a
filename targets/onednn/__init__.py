"""The `onednn` back end: regions around convolutions, products and pools become lists of ops, which oneDNN runs.

| file | says |
|---|---|
| `rules` | which ops are taken, and what each is in a program |
| `fusion` | what can be done to the results of an op before they are written |
| `program` | how a program is put together |
| `export` | from a function to a program |
| `emit` | programs as text |
| `backend` | what the driver is told |
"""

from partita.targets.onednn.backend import OneDnn

__all__ = ["OneDnn"]
