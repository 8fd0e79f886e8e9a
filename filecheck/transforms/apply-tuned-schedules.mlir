// RUN: partita-opt %s -p 'apply-tuned-schedules{db="%S/schedules.db"}' --split-input-file 2> %t | filecheck %s
// RUN: filecheck %s --check-prefix TOLD < %t

// Names, origins and what constants hold do not count; the kernel takes the labels of its task.
// CHECK:      sched.sequence @leaky_3_schedule for @leaky_3 {
// CHECK-NEXT:   %b = sched.block "map_0"
// CHECK-NEXT:   %i = sched.loops %b -> 1
// CHECK-NEXT:   sched.vectorize %i
// CHECK-NEXT: }
// CHECK-NEXT: func.func private @leaky_3
// CHECK-NEXT:   te.compute "map_0" {partita.origin = "clip_7"}
func.func private @leaky_3(%unused : tensor<2xf32>, %input : tensor<32xf32>) -> tensor<32xf32> attributes {partita.kernel} {
  %y = te.compute "leaky_2" {partita.origin = "clip_7"} (%k in 32) {
    %v = te.read %input[%k] : tensor<32xf32>
    %least = arith.constant 5.000000e-01 : f32
    %r = arith.maximumf %v, %least : f32
    te.yield %r : f32
  } : tensor<32xf32>
  func.return %y : tensor<32xf32>
}

// A kernel that has a schedule keeps it, and its labels.
// CHECK:      sched.sequence @mine for @scheduled {
// CHECK-NEXT:   %{{.*}} = sched.block "relu"
// CHECK-NEXT: }
// CHECK-NEXT: func.func private @scheduled
// CHECK-NEXT:   te.compute "relu"
sched.sequence @mine for @scheduled {
  %b = sched.block "relu"
}
func.func private @scheduled(%x : tensor<32xf32>) -> tensor<32xf32> attributes {partita.kernel} {
  %y = te.compute "relu" (%i in 32) {
    %v = te.read %x[%i] : tensor<32xf32>
    %zero = arith.constant 0.000000e+00 : f32
    %r = arith.maximumf %v, %zero : f32
    te.yield %r : f32
  } : tensor<32xf32>
  func.return %y : tensor<32xf32>
}

// A kernel without a schedule is left to the rules, and the task is named.
// CHECK-NOT:  sched.sequence
// CHECK:      func.func private @longer
// CHECK-NEXT:   te.compute "relu"
// TOLD: partita-opt: warning: no tuned schedule found for task longer ([[KEY:[0-9a-f]+]])
func.func private @longer(%x : tensor<64xf32>) -> tensor<64xf32> attributes {partita.kernel} {
  %y = te.compute "relu" (%i in 64) {
    %v = te.read %x[%i] : tensor<64xf32>
    %zero = arith.constant 0.000000e+00 : f32
    %r = arith.maximumf %v, %zero : f32
    te.yield %r : f32
  } : tensor<64xf32>
  func.return %y : tensor<64xf32>
}

// A schedule that is not legal is not attached: this one asks for lanes along a reduction.
// CHECK-NOT:  sched.sequence
// CHECK:      func.func private @sum
// CHECK-NEXT:   te.compute "total"
// TOLD: partita-opt: warning: the tuned schedule of task sum ({{[0-9a-f]+}}) does not apply, and rules take its place: sched.vectorize of loop %k of kernel @sum:
func.func private @sum(%x : tensor<32xf32>) -> tensor<f32> attributes {partita.kernel} {
  %y = te.compute "total" () reduce (%k in 32) init (0.000000e+00 : f32) {
    %v = te.read %x[%k] : tensor<32xf32>
    te.yield %v : f32
  } combine (%a : f32, %b : f32) {
    %s = arith.addf %a, %b : f32
    te.yield %s : f32
  } : tensor<f32>
  func.return %y : tensor<f32>
}

// Two computes: labels follow the dataflow, whatever the order of ops.
// CHECK:      sched.sequence @two_schedule for @two {
// CHECK-NEXT:   %[[B:.*]] = sched.block "map_0"
// CHECK-NEXT:   sched.compute_inline %[[B]]
// CHECK-NEXT: }
// CHECK:        te.compute "map_2" (%j in 8)
// CHECK:        te.compute "map_0" (%k in 8)
// CHECK:        te.compute "map_1" (%l in 8)
func.func private @two(%x : tensor<8xf32>) -> (tensor<8xf32>) attributes {partita.kernel} {
  %dead = te.compute "map_0" (%j in 8) {
    %v = te.read %x[%j] : tensor<8xf32>
    te.yield %v : f32
  } : tensor<8xf32>
  %a = te.compute "first" (%k in 8) {
    %v = te.read %x[%k] : tensor<8xf32>
    %s = arith.addf %v, %v : f32
    te.yield %s : f32
  } : tensor<8xf32>
  %b = te.compute "second" (%l in 8) {
    %v = te.read %a[%l] : tensor<8xf32>
    %s = arith.mulf %v, %v : f32
    te.yield %s : f32
  } : tensor<8xf32>
  func.return %b : tensor<8xf32>
}

// -----

// Where no function is a kernel, all count; loops and declarations are none.
// CHECK:      sched.sequence @relu_schedule for @relu
// CHECK:      func.func @relu
// CHECK:      func.func @loops
// CHECK:      func.func private @declared
func.func @relu(%x : tensor<32xf32>) -> tensor<32xf32> {
  %y = te.compute "relu" (%i in 32) {
    %v = te.read %x[%i] : tensor<32xf32>
    %zero = arith.constant 0.000000e+00 : f32
    %r = arith.maximumf %v, %zero : f32
    te.yield %r : f32
  } : tensor<32xf32>
  func.return %y : tensor<32xf32>
}
func.func @loops(%x : memref<32xf32>) {
  func.return
}
func.func private @declared(memref<32xf32>)
