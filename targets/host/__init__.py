"""Host: the processor that runs everything no other target takes; LLVM makes its code."""
