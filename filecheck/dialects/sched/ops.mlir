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
  // CHECK-NEXT:   %m, %m_1 = sched.loops %b -> 2 innermost {note = "kept"}
  %m:2 = sched.loops %b -> 2 innermost {note = "kept"}
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

// Steps for machines with memories and instructions of their own.
sched.sequence @accelerator for @kernel {
  %b = sched.block "conv2d"
  %l, %m = sched.loops %b -> 2
  // CHECK:      %c = sched.cache_read %b, 0, "local"
  %c = sched.cache_read %b, 0, "local"
  // CHECK-NEXT: sched.split_reduction_by_padding %b
  sched.split_reduction_by_padding %b
  // CHECK-NEXT: sched.pipeline %l, 2
  sched.pipeline %l, 2
  // CHECK-NEXT: sched.tensorize %l, @gemm_1x16x16
  sched.tensorize %l, @gemm_1x16x16
  // CHECK-NEXT: sched.annotate loop %l, "prefetch", 2 : i64
  sched.annotate loop %l, "prefetch", 2 : i64
  // CHECK-NEXT: sched.annotate block %b, "note", "kept" {a = "b"}
  sched.annotate block %b, "note", "kept" {a = "b"}
}

// -----

// Numbers may be choices, which are recorded where they were made.
sched.sequence @space for @kernel {
  %b = sched.block "conv2d"
  %l, %m = sched.loops %b -> 2
  // CHECK:      %o, %i = sched.sample_perfect_tile %l innermost 16 -> 2 decision [4, 16]
  %o, %i = sched.sample_perfect_tile %l innermost 16 -> 2 decision [4, 16]
  // CHECK-NEXT: %p, %q = sched.sample_perfect_tile %m innermost 8 -> 2 {note = "kept"}
  %p, %q = sched.sample_perfect_tile %m innermost 8 -> 2 {note = "kept"}
  // CHECK-NEXT: %u = sched.sample_categorical [1, 2, 4] weights [0.5, 0.25, 0.25] decision 1
  %u = sched.sample_categorical [1, 2, 4] weights [0.5, 0.25, 0.25] decision 1
  // CHECK-NEXT: %v = sched.sample_categorical [1, 2, 4] {note = "kept"}
  %v = sched.sample_categorical [1, 2, 4] {note = "kept"}
  // CHECK-NEXT: %lo, %li = sched.split %l [%o, %i] peel
  %lo, %li = sched.split %l [%o, %i] peel
  // CHECK-NEXT: %mo, %mm, %mi = sched.split %m [?, %u, 4]
  %mo, %mm, %mi = sched.split %m [?, %u, 4]
  // CHECK-NEXT: sched.unroll %mi by %v
  sched.unroll %mi by %v
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
