"""The commands of `partita`: what each takes on the command line, one file each.

What a command does is a module of `tools` of its own, loaded when the command runs.
"""
