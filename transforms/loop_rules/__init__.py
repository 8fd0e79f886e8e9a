"""Rules that write the schedule of a kernel for a processor with vectors and caches.

They go by the shape of the kernel's blocks, never by its operator, and know of the processor only its
`Registers`. Back ends for processors share them.
"""
