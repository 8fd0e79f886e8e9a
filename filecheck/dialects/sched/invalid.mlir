// RUN: partita-opt %s --split-input-file --verify-diagnostics | filecheck %s

sched.sequence @one_factor for @kernel {
  %b = sched.block "b"
  %l = sched.loops %b -> 1
  // CHECK: expected at least two factors, got 1
  %o = sched.split %l [4]
}

// -----

sched.sequence @results for @kernel {
  %b = sched.block "b"
  %l = sched.loops %b -> 1
  // CHECK: expected 2 loops, got 3
  %o, %m, %i = "sched.split"(%l) <{factors = array<i64: 2, 4>}> : (!sched.loop) -> (!sched.loop, !sched.loop, !sched.loop)
}

// -----

sched.sequence @inferred for @kernel {
  %b = sched.block "b"
  %l = sched.loops %b -> 1
  // CHECK: expected at most one inferred factor
  %o, %i = sched.split %l [?, ?]
}

// -----

sched.sequence @zero for @kernel {
  %b = sched.block "b"
  %l = sched.loops %b -> 1
  // CHECK: expected factors of at least 1
  %o, %i = sched.split %l [?, 0]
}

// -----

sched.sequence @tail for @kernel {
  %b = sched.block "b"
  %l = sched.loops %b -> 1
  // CHECK: expected tail guard or peel, got drop
  %o, %i = "sched.split"(%l) <{factors = array<i64: 2, 4>, tail = "drop"}> : (!sched.loop) -> (!sched.loop, !sched.loop)
}
