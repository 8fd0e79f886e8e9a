"""The VTA machine: its configuration, its instructions, and programs for it.

What is here depends on no compiler: a program is made by `ProgramBuilder`, read from a file, or loaded from a record.
"""
