"""Rules that write the schedule of a kernel for the host: by the shape of its blocks, never by its operator."""
