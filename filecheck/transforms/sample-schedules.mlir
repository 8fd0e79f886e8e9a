// RUN: partita-opt %s --split-input-file -p 'sample-schedules{seed=1}' | filecheck %s
// RUN: partita-opt %s --split-input-file -p 'sample-schedules{seed=1},apply-schedules' | filecheck %s --check-prefix APPLIED

// What is open is decided, and recorded; what is decided stays. The kernel stays too.
// CHECK:        tir.for %l = 0 to 24 {
// APPLIED:      tir.for %lo = 0 to 2 {
// APPLIED-NEXT:   tir.for %lm = 0 to 6 {
// APPLIED-NEXT:     tir.for %li = 0 to 2 unrolled {
func.func @twice(%x : memref<24xf32>, %y : memref<24xf32>) {
  tir.for %l = 0 to 24 {
    tir.block "twice" spatial (%a in 24) at [%l] {
      %v = tir.load %x[%a] : memref<24xf32>
      %r = arith.addf %v, %v : f32
      tir.store %r, %y[%a] : memref<24xf32>
    }
  }
  func.return
}
sched.sequence @space for @twice {
  %b = sched.block "twice"
  %l = sched.loops %b -> 1
  // CHECK:      %e, %f, %g = sched.sample_perfect_tile %l innermost 2 -> 3 decision [2, 6, 2]
  %e, %f, %g = sched.sample_perfect_tile %l innermost 2 -> 3
  // CHECK-NEXT: %o, %m, %i = sched.split %l [%e, %f, %g]
  %o, %m, %i = sched.split %l [%e, %f, %g]
  // CHECK-NEXT: %u = sched.sample_categorical [1, 2, 4] decision 1
  %u = sched.sample_categorical [1, 2, 4] decision 1
  sched.unroll %i by %u
}
