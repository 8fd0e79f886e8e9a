"""What rules write: a `Schedule` under construction, of whose steps each rule adds some."""

from partita.dialects.sched import Schedule

Steps = Schedule
