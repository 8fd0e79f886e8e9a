"""What ops and functions carry while a graph is divided between targets."""

TARGET = "byoc.target"
"""String attribute of an op of a graph: the target that will run it, with its options."""

REGION = "byoc.region"
"""Integer attribute of an op of a graph: ops of one number become one external function."""

REJECTED = "byoc.rejected"
"""Dictionary attribute of an op of a graph: why each target that could not take it did not."""

HOST_CODE = "byoc.host_code"
"""Unit attribute of a host function that does what an external one does, where that cannot be loaded."""

HOST = "host"
"""The target that has no `byoc.module`: an op that is explicitly given to it goes to no other."""
