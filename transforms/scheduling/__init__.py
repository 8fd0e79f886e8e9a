"""What each step of a schedule does to `tir`: one step a file, each a function of the state and of handles.

Handles are the ops themselves, `tir.for` and `tir.block`. A step that is not legal, or
that we cannot prove to be, changes nothing and raises `ScheduleError`.
"""
