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

// -----

sched.sequence @choices for @kernel {
  %b = sched.block "b"
  %l = sched.loops %b -> 1
  // CHECK: expected 1 choices, got 0
  %o, %i = "sched.split"(%l) <{factors = array<i64: -2, 4>}> : (!sched.loop) -> (!sched.loop, !sched.loop)
}

// -----

sched.sequence @unroll for @kernel {
  %b = sched.block "b"
  %l = sched.loops %b -> 1
  %c = sched.sample_categorical [2, 4] decision 0
  // CHECK: expected a factor or a choice, got both
  sched.unroll %l by %c {factor = 4 : i64}
}

// -----

sched.sequence @slots for @kernel {
  %b = sched.block "b"
  %l = sched.loops %b -> 1
  // CHECK: expected at least two slots, got 1
  sched.pipeline %l, 1
}

// -----

sched.sequence @key for @kernel {
  %b = sched.block "b"
  // CHECK: expected a key without dots, got sched.peel
  sched.annotate block %b, "sched.peel", unit
}

// -----

sched.sequence @tile_count for @kernel {
  %b = sched.block "b"
  %l = sched.loops %b -> 1
  // CHECK: expected at least two factors, got 1
  %o = sched.sample_perfect_tile %l innermost 16 -> 1
}

// -----

sched.sequence @innermost for @kernel {
  %b = sched.block "b"
  %l = sched.loops %b -> 1
  // CHECK: expected innermost of at least 1, got 0
  %o, %i = sched.sample_perfect_tile %l innermost 0 -> 2
}

// -----

sched.sequence @tile_decision for @kernel {
  %b = sched.block "b"
  %l = sched.loops %b -> 1
  // CHECK: expected a decision of 2 factors, got 3
  %o, %i = sched.sample_perfect_tile %l innermost 16 -> 2 decision [2, 2, 2]
}

// -----

sched.sequence @nothing for @kernel {
  // CHECK: expected at least one candidate, got none
  %c = sched.sample_categorical []
}

// -----

sched.sequence @weights for @kernel {
  // CHECK: expected 2 weights of at least 0 that add up to 1, got 0.5, 0.75
  %c = sched.sample_categorical [1, 2] weights [0.5, 0.75]
}

// -----

sched.sequence @position for @kernel {
  // CHECK: expected a decision in [0, 2), got 2
  %c = sched.sample_categorical [1, 2] decision 2
}
