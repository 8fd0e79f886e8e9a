// RUN: partita-opt %s --split-input-file | partita-opt --split-input-file | filecheck %s
// RUN: partita-opt %s --split-input-file --print-op-generic | partita-opt --split-input-file | filecheck %s

// Handles of a block and of the loops around it.
builtin.module {
  // CHECK:      sched.sequence @relu_schedule for @relu {
  sched.sequence @relu_schedule for @relu {
  // CHECK-NEXT:   %b = sched.block "conv2d"
  %b = sched.block "conv2d"
  // CHECK-NEXT:   %l, %l_1, %l_2 = sched.loops %b -> 3
  %l:3 = sched.loops %b -> 3
  // CHECK-NEXT:   sched.reorder %l_2, %l_1
  sched.reorder %l#2, %l#1
  // CHECK-NEXT: } attributes {note = "kept"}
  } attributes {note = "kept"}
}

// -----

// Steps, as they are written.
sched.sequence @steps for @kernel {
  %b = sched.block "conv2d"
  %l, %m = sched.loops %b -> 2
  // CHECK:      %o, %i = sched.split %l [?, 16]
  %o, %i = sched.split %l [?, 16]
  // CHECK-NEXT: %o_1, %p, %i_1 = sched.split %m [2, ?, 4] peel {note = "kept"}
  %o_1, %p, %i_1 = sched.split %m [2, ?, 4] peel {note = "kept"}
  // CHECK-NEXT: %f = sched.fuse %o, %i
  %f = sched.fuse %o, %i
  // CHECK-NEXT: sched.reorder %i, %o
  sched.reorder %i, %o
  // CHECK-NEXT: sched.compute_at %b, %l
  sched.compute_at %b, %l
  // CHECK-NEXT: sched.reverse_compute_at %b, %l
  sched.reverse_compute_at %b, %l
  // CHECK-NEXT: sched.compute_inline %b
  sched.compute_inline %b
  // CHECK-NEXT: %c = sched.cache_write %b, "local"
  %c = sched.cache_write %b, "local"
  // CHECK-NEXT: sched.set_scope %b, "local"
  sched.set_scope %b, "local"
  // CHECK-NEXT: sched.vectorize %l
  sched.vectorize %l
  // CHECK-NEXT: sched.parallel %l
  sched.parallel %l
  // CHECK-NEXT: sched.unroll %l
  sched.unroll %l
  // CHECK-NEXT: sched.unroll %l {factor = 4 : i64}
  sched.unroll %l {factor = 4 : i64}
}

// -----

// The block that a step makes has a handle too.
sched.sequence @init for @kernel {
  %b = sched.block "conv2d"
  %l = sched.loops %b -> 1
  // CHECK:      %i = sched.decompose_reduction %b, %l
  %i = sched.decompose_reduction %b, %l
}

// -----

// A schedule may have no steps.
// CHECK:      sched.sequence @empty for @kernel {
// CHECK-NEXT: }
sched.sequence @empty for @kernel {
}
