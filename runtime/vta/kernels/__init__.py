"""What the simulator's compiled functions do, written as LLVM for one configuration."""
