// RUN: partita-opt %s --split-input-file -p lower-te-to-tir,apply-schedules --verify-diagnostics | filecheck %s

// A memory scope has to be stated.
tir.memory "fast" of 64 bytes
func.func @dense(%x: tensor<4x8xi8>, %w: tensor<6x8xi8>) -> tensor<4x6xi32> {
  %y = te.compute "dense" (%i in 4, %j in 6) reduce (%k in 8) init (0 : i32) {
    %v = te.read %x[%i, %k] : tensor<4x8xi8>
    %u = te.read %w[%j, %k] : tensor<6x8xi8>
    %ve = arith.extsi %v : i8 to i32
    %ue = arith.extsi %u : i8 to i32
    %p = arith.muli %ve, %ue : i32
    te.yield %p : i32
  } combine (%a: i32, %b: i32) {
    %s = arith.addi %a, %b : i32
    te.yield %s : i32
  } : tensor<4x6xi32>
  %z = te.compute "relu" (%i in 4, %j in 6) {
    %v = te.read %y[%i, %j] : tensor<4x6xi32>
    %zero = arith.constant 0 : i32
    %m = arith.maxsi %v, %zero : i32
    te.yield %m : i32
  } : tensor<4x6xi32>
  func.return %z : tensor<4x6xi32>
}
sched.sequence @schedule for @dense {
  %b = sched.block "dense"
  // CHECK: sched.cache_read of block "dense" of kernel @dense: no memory scope "fats"; did you mean fast?
  %c = sched.cache_read %b, 0, "fats"
}

// -----

// There may be none that is near.
tir.memory "fast" of 64 bytes
func.func @dense(%x: tensor<4x8xi8>, %w: tensor<6x8xi8>) -> tensor<4x6xi32> {
  %y = te.compute "dense" (%i in 4, %j in 6) reduce (%k in 8) init (0 : i32) {
    %v = te.read %x[%i, %k] : tensor<4x8xi8>
    %u = te.read %w[%j, %k] : tensor<6x8xi8>
    %ve = arith.extsi %v : i8 to i32
    %ue = arith.extsi %u : i8 to i32
    %p = arith.muli %ve, %ue : i32
    te.yield %p : i32
  } combine (%a: i32, %b: i32) {
    %s = arith.addi %a, %b : i32
    te.yield %s : i32
  } : tensor<4x6xi32>
  %z = te.compute "relu" (%i in 4, %j in 6) {
    %v = te.read %y[%i, %j] : tensor<4x6xi32>
    %zero = arith.constant 0 : i32
    %m = arith.maxsi %v, %zero : i32
    te.yield %m : i32
  } : tensor<4x6xi32>
  func.return %z : tensor<4x6xi32>
}
sched.sequence @schedule for @dense {
  %b = sched.block "dense"
  // CHECK: sched.cache_write of block "dense" of kernel @dense: no memory scope "vta.acc"; there is global, local, fast
  %c = sched.cache_write %b, "vta.acc"
}

// -----

// Scopes are the same for all steps.
func.func @dense(%x: tensor<4x8xi8>, %w: tensor<6x8xi8>) -> tensor<4x6xi32> {
  %y = te.compute "dense" (%i in 4, %j in 6) reduce (%k in 8) init (0 : i32) {
    %v = te.read %x[%i, %k] : tensor<4x8xi8>
    %u = te.read %w[%j, %k] : tensor<6x8xi8>
    %ve = arith.extsi %v : i8 to i32
    %ue = arith.extsi %u : i8 to i32
    %p = arith.muli %ve, %ue : i32
    te.yield %p : i32
  } combine (%a: i32, %b: i32) {
    %s = arith.addi %a, %b : i32
    te.yield %s : i32
  } : tensor<4x6xi32>
  %z = te.compute "relu" (%i in 4, %j in 6) {
    %v = te.read %y[%i, %j] : tensor<4x6xi32>
    %zero = arith.constant 0 : i32
    %m = arith.maxsi %v, %zero : i32
    te.yield %m : i32
  } : tensor<4x6xi32>
  func.return %z : tensor<4x6xi32>
}
sched.sequence @schedule for @dense {
  %b = sched.block "dense"
  // CHECK: sched.set_scope of block "dense" of kernel @dense: no memory scope "acc"; there is global, local
  sched.set_scope %b, "acc"
}

// -----

// What is kept in a memory has to fit.
tir.memory "fast" of 64 bytes
func.func @dense(%x: tensor<4x8xi8>, %w: tensor<6x8xi8>) -> tensor<4x6xi32> {
  %y = te.compute "dense" (%i in 4, %j in 6) reduce (%k in 8) init (0 : i32) {
    %v = te.read %x[%i, %k] : tensor<4x8xi8>
    %u = te.read %w[%j, %k] : tensor<6x8xi8>
    %ve = arith.extsi %v : i8 to i32
    %ue = arith.extsi %u : i8 to i32
    %p = arith.muli %ve, %ue : i32
    te.yield %p : i32
  } combine (%a: i32, %b: i32) {
    %s = arith.addi %a, %b : i32
    te.yield %s : i32
  } : tensor<4x6xi32>
  %z = te.compute "relu" (%i in 4, %j in 6) {
    %v = te.read %y[%i, %j] : tensor<4x6xi32>
    %zero = arith.constant 0 : i32
    %m = arith.maxsi %v, %zero : i32
    te.yield %m : i32
  } : tensor<4x6xi32>
  func.return %z : tensor<4x6xi32>
}
// CHECK: sched.sequence of kernel @dense: expected fast buffers of at most 64 bytes, got 144: block "dense" fills 4x6xi32 = 96 bytes, block "dense_read1" fills 6x8xi8 = 48 bytes
sched.sequence @schedule for @dense {
  %b = sched.block "dense"
  %c = sched.cache_read %b, 1, "fast"
  sched.set_scope %b, "fast"
}

// -----

// A block reads so many buffers.
func.func @dense(%x: tensor<4x8xi8>, %w: tensor<6x8xi8>) -> tensor<4x6xi32> {
  %y = te.compute "dense" (%i in 4, %j in 6) reduce (%k in 8) init (0 : i32) {
    %v = te.read %x[%i, %k] : tensor<4x8xi8>
    %u = te.read %w[%j, %k] : tensor<6x8xi8>
    %ve = arith.extsi %v : i8 to i32
    %ue = arith.extsi %u : i8 to i32
    %p = arith.muli %ve, %ue : i32
    te.yield %p : i32
  } combine (%a: i32, %b: i32) {
    %s = arith.addi %a, %b : i32
    te.yield %s : i32
  } : tensor<4x6xi32>
  %z = te.compute "relu" (%i in 4, %j in 6) {
    %v = te.read %y[%i, %j] : tensor<4x6xi32>
    %zero = arith.constant 0 : i32
    %m = arith.maxsi %v, %zero : i32
    te.yield %m : i32
  } : tensor<4x6xi32>
  func.return %z : tensor<4x6xi32>
}
sched.sequence @schedule for @dense {
  %b = sched.block "dense"
  // CHECK: sched.cache_read of block "dense" of kernel @dense: expected the index of one of the 2 buffers that it reads, got 2
  %c = sched.cache_read %b, 2, "local"
}

// -----

// What is read has to be complete in front of the loops.
func.func @dense(%x: tensor<4x8xi8>, %w: tensor<6x8xi8>) -> tensor<4x6xi32> {
  %y = te.compute "dense" (%i in 4, %j in 6) reduce (%k in 8) init (0 : i32) {
    %v = te.read %x[%i, %k] : tensor<4x8xi8>
    %u = te.read %w[%j, %k] : tensor<6x8xi8>
    %ve = arith.extsi %v : i8 to i32
    %ue = arith.extsi %u : i8 to i32
    %p = arith.muli %ve, %ue : i32
    te.yield %p : i32
  } combine (%a: i32, %b: i32) {
    %s = arith.addi %a, %b : i32
    te.yield %s : i32
  } : tensor<4x6xi32>
  %z = te.compute "relu" (%i in 4, %j in 6) {
    %v = te.read %y[%i, %j] : tensor<4x6xi32>
    %zero = arith.constant 0 : i32
    %m = arith.maxsi %v, %zero : i32
    te.yield %m : i32
  } : tensor<4x6xi32>
  func.return %z : tensor<4x6xi32>
}
sched.sequence @schedule for @dense {
  %b = sched.block "dense"
  %i, %j, %k = sched.loops %b -> 3
  %l = sched.block "relu"
  sched.reverse_compute_at %l, %j
  // CHECK: sched.cache_read of block "relu" of kernel @dense: block "dense" in the same loops writes what it reads; cache_read first
  %c = sched.cache_read %l, 0, "local"
}

// -----

// A copy has a label of its own.
func.func @dense(%x: tensor<4x8xi8>, %w: tensor<6x8xi8>) -> tensor<4x6xi32> {
  %y = te.compute "dense" (%i in 4, %j in 6) reduce (%k in 8) init (0 : i32) {
    %v = te.read %x[%i, %k] : tensor<4x8xi8>
    %u = te.read %w[%j, %k] : tensor<6x8xi8>
    %ve = arith.extsi %v : i8 to i32
    %ue = arith.extsi %u : i8 to i32
    %p = arith.muli %ve, %ue : i32
    te.yield %p : i32
  } combine (%a: i32, %b: i32) {
    %s = arith.addi %a, %b : i32
    te.yield %s : i32
  } : tensor<4x6xi32>
  %z = te.compute "relu" (%i in 4, %j in 6) {
    %v = te.read %y[%i, %j] : tensor<4x6xi32>
    %zero = arith.constant 0 : i32
    %m = arith.maxsi %v, %zero : i32
    te.yield %m : i32
  } : tensor<4x6xi32>
  func.return %z : tensor<4x6xi32>
}
sched.sequence @schedule for @dense {
  %b = sched.block "dense"
  %c = sched.cache_read %b, 0, "local"
  // CHECK: sched.cache_read of block "dense" of kernel @dense: block "dense_read0" exists already
  %d = sched.cache_read %b, 0, "local"
}

// -----

// Only reductions have taps.
func.func @dense(%x: tensor<4x8xi8>, %w: tensor<6x8xi8>) -> tensor<4x6xi32> {
  %y = te.compute "dense" (%i in 4, %j in 6) reduce (%k in 8) init (0 : i32) {
    %v = te.read %x[%i, %k] : tensor<4x8xi8>
    %u = te.read %w[%j, %k] : tensor<6x8xi8>
    %ve = arith.extsi %v : i8 to i32
    %ue = arith.extsi %u : i8 to i32
    %p = arith.muli %ve, %ue : i32
    te.yield %p : i32
  } combine (%a: i32, %b: i32) {
    %s = arith.addi %a, %b : i32
    te.yield %s : i32
  } : tensor<4x6xi32>
  %z = te.compute "relu" (%i in 4, %j in 6) {
    %v = te.read %y[%i, %j] : tensor<4x6xi32>
    %zero = arith.constant 0 : i32
    %m = arith.maxsi %v, %zero : i32
    te.yield %m : i32
  } : tensor<4x6xi32>
  func.return %z : tensor<4x6xi32>
}
sched.sequence @schedule for @dense {
  %b = sched.block "relu"
  // CHECK: sched.split_reduction_by_padding of block "relu" of kernel @dense: block "relu" is no reduction
  sched.split_reduction_by_padding %b
}

// -----

// First values have to be written everywhere.
func.func @conv(%x: tensor<8xi32>, %w: tensor<3xi32>) -> tensor<8xi32> {
  %y = te.compute "conv" (%i in 8) reduce (%r in 3) init (0 : i32) {
    %c = arith.constant 0 : i32
    %v = te.read %x[%i + %r - 1] else %c : tensor<8xi32>
    %u = te.read %w[%r] : tensor<3xi32>
    %p = arith.muli %v, %u : i32
    te.yield %p : i32
  } combine (%a: i32, %b: i32) {
    %s = arith.addi %a, %b : i32
    te.yield %s : i32
  } : tensor<8xi32>
  func.return %y : tensor<8xi32>
}
sched.sequence @schedule for @conv {
  %b = sched.block "conv"
  %i, %r = sched.loops %b -> 2
  // CHECK: sched.split_reduction_by_padding of block "conv" of kernel @conv: block "conv" has an init; decompose_reduction first
  sched.split_reduction_by_padding %b
}

// -----

// There has to be padding.
func.func @conv(%x: tensor<8xi32>, %w: tensor<3xi32>) -> tensor<8xi32> {
  %y = te.compute "conv" (%i in 8) reduce (%r in 3) init (0 : i32) {
    %c = arith.constant 0 : i32
    %v = te.read %x[(%i + %r) floordiv 2] else %c : tensor<8xi32>
    %u = te.read %w[%r] : tensor<3xi32>
    %p = arith.muli %v, %u : i32
    te.yield %p : i32
  } combine (%a: i32, %b: i32) {
    %s = arith.addi %a, %b : i32
    te.yield %s : i32
  } : tensor<8xi32>
  func.return %y : tensor<8xi32>
}
sched.sequence @schedule for @conv {
  %b = sched.block "conv"
  %i, %r = sched.loops %b -> 2
  %z = sched.decompose_reduction %b, %i
  // CHECK: sched.split_reduction_by_padding of block "conv" of kernel @conv: block "conv" reads no padding
  sched.split_reduction_by_padding %b
}

// -----

// Where padding begins must not depend on data.
func.func @conv(%x: tensor<8xi32>, %n: tensor<3xi32>) -> tensor<8xi32> {
  %y = te.compute "conv" (%i in 8) reduce (%r in 3) init (0 : i32) {
    %c = arith.constant 0 : i32
    %u = te.read %n[%r] : tensor<3xi32>
    %at = arith.index_cast %u : i32 to index
    %v = te.read %x[%i + %at] else %c : tensor<8xi32>
    te.yield %v : i32
  } combine (%a: i32, %b: i32) {
    %s = arith.addi %a, %b : i32
    te.yield %s : i32
  } : tensor<8xi32>
  func.return %y : tensor<8xi32>
}
sched.sequence @schedule for @conv {
  %b = sched.block "conv"
  %i, %r = sched.loops %b -> 2
  %z = sched.decompose_reduction %b, %i
  // CHECK: sched.split_reduction_by_padding of block "conv" of kernel @conv: block "conv" reads padding at an index that depends on data
  sched.split_reduction_by_padding %b
}

// -----

// Padding must not count.
func.func @conv(%x: tensor<8xi32>, %w: tensor<3xi32>) -> tensor<8xi32> {
  %y = te.compute "conv" (%i in 8) reduce (%r in 3) init (0 : i32) {
    %c = arith.constant 1 : i32
    %v = te.read %x[%i + %r - 1] else %c : tensor<8xi32>
    %u = te.read %w[%r] : tensor<3xi32>
    %p = arith.muli %v, %u : i32
    te.yield %p : i32
  } combine (%a: i32, %b: i32) {
    %s = arith.addi %a, %b : i32
    te.yield %s : i32
  } : tensor<8xi32>
  func.return %y : tensor<8xi32>
}
sched.sequence @schedule for @conv {
  %b = sched.block "conv"
  %i, %r = sched.loops %b -> 2
  %z = sched.decompose_reduction %b, %i
  // CHECK: sched.split_reduction_by_padding of block "conv" of kernel @conv: cannot prove that an update of block "conv" by padding changes nothing
  sched.split_reduction_by_padding %b
}

// -----

// A float product with 0 may be NaN.
func.func @conv(%x: tensor<8xf32>, %w: tensor<3xf32>) -> tensor<8xf32> {
  %y = te.compute "conv" (%i in 8) reduce (%r in 3) init (0.0 : f32) {
    %c = arith.constant 0.0 : f32
    %v = te.read %x[%i + %r - 1] else %c : tensor<8xf32>
    %u = te.read %w[%r] : tensor<3xf32>
    %p = arith.mulf %v, %u : f32
    te.yield %p : f32
  } combine (%a: f32, %b: f32) {
    %s = arith.addf %a, %b : f32
    te.yield %s : f32
  } : tensor<8xf32>
  func.return %y : tensor<8xf32>
}
sched.sequence @schedule for @conv {
  %b = sched.block "conv"
  %i, %r = sched.loops %b -> 2
  %z = sched.decompose_reduction %b, %i
  // CHECK: sched.split_reduction_by_padding of block "conv" of kernel @conv: cannot prove that an update of block "conv" by padding changes nothing
  sched.split_reduction_by_padding %b
}

// -----

// Something has to fill buffers of the loop.
func.func @dense(%x: tensor<4x8xi8>, %w: tensor<6x8xi8>) -> tensor<4x6xi32> {
  %y = te.compute "dense" (%i in 4, %j in 6) reduce (%k in 8) init (0 : i32) {
    %v = te.read %x[%i, %k] : tensor<4x8xi8>
    %u = te.read %w[%j, %k] : tensor<6x8xi8>
    %ve = arith.extsi %v : i8 to i32
    %ue = arith.extsi %u : i8 to i32
    %p = arith.muli %ve, %ue : i32
    te.yield %p : i32
  } combine (%a: i32, %b: i32) {
    %s = arith.addi %a, %b : i32
    te.yield %s : i32
  } : tensor<4x6xi32>
  %z = te.compute "relu" (%i in 4, %j in 6) {
    %v = te.read %y[%i, %j] : tensor<4x6xi32>
    %zero = arith.constant 0 : i32
    %m = arith.maxsi %v, %zero : i32
    te.yield %m : i32
  } : tensor<4x6xi32>
  func.return %z : tensor<4x6xi32>
}
// CHECK: sched.pipeline of loop %i of kernel @dense: nothing in it can run ahead: expected a block that fills a buffer of the loop's own, which others there read, from what the loop does not write
sched.sequence @schedule for @dense {
  %b = sched.block "dense"
  %i, %j, %k = sched.loops %b -> 3
  sched.pipeline %i, 2
}

// -----

// What fills them must not read what the loop writes.
func.func @dense(%x: tensor<4x8xi8>, %w: tensor<6x8xi8>) -> tensor<4x6xi32> {
  %y = te.compute "dense" (%i in 4, %j in 6) reduce (%k in 8) init (0 : i32) {
    %v = te.read %x[%i, %k] : tensor<4x8xi8>
    %u = te.read %w[%j, %k] : tensor<6x8xi8>
    %ve = arith.extsi %v : i8 to i32
    %ue = arith.extsi %u : i8 to i32
    %p = arith.muli %ve, %ue : i32
    te.yield %p : i32
  } combine (%a: i32, %b: i32) {
    %s = arith.addi %a, %b : i32
    te.yield %s : i32
  } : tensor<4x6xi32>
  %z = te.compute "relu" (%i in 4, %j in 6) {
    %v = te.read %y[%i, %j] : tensor<4x6xi32>
    %zero = arith.constant 0 : i32
    %m = arith.maxsi %v, %zero : i32
    te.yield %m : i32
  } : tensor<4x6xi32>
  func.return %z : tensor<4x6xi32>
}
// CHECK: sched.pipeline of loop %i of kernel @dense: nothing in it can run ahead: expected a block that fills a buffer of the loop's own, which others there read, from what the loop does not write
sched.sequence @schedule for @dense {
  %b = sched.block "dense"
  %i, %j, %k = sched.loops %b -> 3
  %l = sched.block "relu"
  %c = sched.cache_read %l, 0, "local"
  sched.reverse_compute_at %c, %i
  sched.reverse_compute_at %l, %i
  sched.pipeline %i, 2
}

// -----

// A loop runs in one way.
func.func @dense(%x: tensor<4x8xi8>, %w: tensor<6x8xi8>) -> tensor<4x6xi32> {
  %y = te.compute "dense" (%i in 4, %j in 6) reduce (%k in 8) init (0 : i32) {
    %v = te.read %x[%i, %k] : tensor<4x8xi8>
    %u = te.read %w[%j, %k] : tensor<6x8xi8>
    %ve = arith.extsi %v : i8 to i32
    %ue = arith.extsi %u : i8 to i32
    %p = arith.muli %ve, %ue : i32
    te.yield %p : i32
  } combine (%a: i32, %b: i32) {
    %s = arith.addi %a, %b : i32
    te.yield %s : i32
  } : tensor<4x6xi32>
  %z = te.compute "relu" (%i in 4, %j in 6) {
    %v = te.read %y[%i, %j] : tensor<4x6xi32>
    %zero = arith.constant 0 : i32
    %m = arith.maxsi %v, %zero : i32
    te.yield %m : i32
  } : tensor<4x6xi32>
  func.return %z : tensor<4x6xi32>
}
sched.sequence @schedule for @dense {
  %b = sched.block "dense"
  %i, %j, %k = sched.loops %b -> 3
  sched.parallel %i
  // CHECK: sched.pipeline of loop %i of kernel @dense: loop %i is parallel already
  sched.pipeline %i, 2
}

// -----

// A pipelined loop stays as it is.
func.func @dense(%x: tensor<4x8xi8>, %w: tensor<6x8xi8>) -> tensor<4x6xi32> {
  %y = te.compute "dense" (%i in 4, %j in 6) reduce (%k in 8) init (0 : i32) {
    %v = te.read %x[%i, %k] : tensor<4x8xi8>
    %u = te.read %w[%j, %k] : tensor<6x8xi8>
    %ve = arith.extsi %v : i8 to i32
    %ue = arith.extsi %u : i8 to i32
    %p = arith.muli %ve, %ue : i32
    te.yield %p : i32
  } combine (%a: i32, %b: i32) {
    %s = arith.addi %a, %b : i32
    te.yield %s : i32
  } : tensor<4x6xi32>
  %z = te.compute "relu" (%i in 4, %j in 6) {
    %v = te.read %y[%i, %j] : tensor<4x6xi32>
    %zero = arith.constant 0 : i32
    %m = arith.maxsi %v, %zero : i32
    te.yield %m : i32
  } : tensor<4x6xi32>
  func.return %z : tensor<4x6xi32>
}
sched.sequence @schedule for @dense {
  %b = sched.block "dense"
  %i, %j, %k = sched.loops %b -> 3
  sched.pipeline %i, 2
  // CHECK: sched.split of loop %i of kernel @dense: loop %i is pipelined already
  %o, %p = sched.split %i [2, 2]
}

// -----

// A note would be lost.
func.func @dense(%x: tensor<4x8xi8>, %w: tensor<6x8xi8>) -> tensor<4x6xi32> {
  %y = te.compute "dense" (%i in 4, %j in 6) reduce (%k in 8) init (0 : i32) {
    %v = te.read %x[%i, %k] : tensor<4x8xi8>
    %u = te.read %w[%j, %k] : tensor<6x8xi8>
    %ve = arith.extsi %v : i8 to i32
    %ue = arith.extsi %u : i8 to i32
    %p = arith.muli %ve, %ue : i32
    te.yield %p : i32
  } combine (%a: i32, %b: i32) {
    %s = arith.addi %a, %b : i32
    te.yield %s : i32
  } : tensor<4x6xi32>
  %z = te.compute "relu" (%i in 4, %j in 6) {
    %v = te.read %y[%i, %j] : tensor<4x6xi32>
    %zero = arith.constant 0 : i32
    %m = arith.maxsi %v, %zero : i32
    te.yield %m : i32
  } : tensor<4x6xi32>
  func.return %z : tensor<4x6xi32>
}
sched.sequence @schedule for @dense {
  %b = sched.block "dense"
  %i, %j, %k = sched.loops %b -> 3
  sched.annotate loop %i, "prefetch", 2 : i64
  // CHECK: sched.fuse of loop %i, loop %j of kernel @dense: loop %i has prefetch already
  %f = sched.fuse %i, %j
}

// -----

// It would be lost with the loop too.
func.func @dense(%x: tensor<4x8xi8>, %w: tensor<6x8xi8>) -> tensor<4x6xi32> {
  %y = te.compute "dense" (%i in 4, %j in 6) reduce (%k in 8) init (0 : i32) {
    %v = te.read %x[%i, %k] : tensor<4x8xi8>
    %u = te.read %w[%j, %k] : tensor<6x8xi8>
    %ve = arith.extsi %v : i8 to i32
    %ue = arith.extsi %u : i8 to i32
    %p = arith.muli %ve, %ue : i32
    te.yield %p : i32
  } combine (%a: i32, %b: i32) {
    %s = arith.addi %a, %b : i32
    te.yield %s : i32
  } : tensor<4x6xi32>
  %z = te.compute "relu" (%i in 4, %j in 6) {
    %v = te.read %y[%i, %j] : tensor<4x6xi32>
    %zero = arith.constant 0 : i32
    %m = arith.maxsi %v, %zero : i32
    te.yield %m : i32
  } : tensor<4x6xi32>
  func.return %z : tensor<4x6xi32>
}
sched.sequence @schedule for @dense {
  %b = sched.block "dense"
  %i, %j, %k = sched.loops %b -> 3
  %l = sched.block "relu"
  %r, %c = sched.loops %l -> 2
  sched.annotate loop %c, "prefetch", 2 : i64
  // CHECK: sched.reverse_compute_at of block "relu", loop %i of kernel @dense: loop %j has prefetch already
  sched.reverse_compute_at %l, %i
}

// -----

// So would the kind of a loop.
func.func @dense(%x: tensor<4x8xi8>, %w: tensor<6x8xi8>) -> tensor<4x6xi32> {
  %y = te.compute "dense" (%i in 4, %j in 6) reduce (%k in 8) init (0 : i32) {
    %v = te.read %x[%i, %k] : tensor<4x8xi8>
    %u = te.read %w[%j, %k] : tensor<6x8xi8>
    %ve = arith.extsi %v : i8 to i32
    %ue = arith.extsi %u : i8 to i32
    %p = arith.muli %ve, %ue : i32
    te.yield %p : i32
  } combine (%a: i32, %b: i32) {
    %s = arith.addi %a, %b : i32
    te.yield %s : i32
  } : tensor<4x6xi32>
  %z = te.compute "relu" (%i in 4, %j in 6) {
    %v = te.read %y[%i, %j] : tensor<4x6xi32>
    %zero = arith.constant 0 : i32
    %m = arith.maxsi %v, %zero : i32
    te.yield %m : i32
  } : tensor<4x6xi32>
  func.return %z : tensor<4x6xi32>
}
sched.sequence @schedule for @dense {
  %b = sched.block "dense"
  %i, %j, %k = sched.loops %b -> 3
  %l = sched.block "relu"
  %r, %c = sched.loops %l -> 2
  sched.vectorize %c
  // CHECK: sched.reverse_compute_at of block "relu", loop %i of kernel @dense: loop %j is vectorized already
  sched.reverse_compute_at %l, %i
}

// -----

// There may be more loops than innermost ones, but not fewer.
func.func @dense(%x: tensor<4x8xi8>, %w: tensor<6x8xi8>) -> tensor<4x6xi32> {
  %y = te.compute "dense" (%i in 4, %j in 6) reduce (%k in 8) init (0 : i32) {
    %v = te.read %x[%i, %k] : tensor<4x8xi8>
    %u = te.read %w[%j, %k] : tensor<6x8xi8>
    %ve = arith.extsi %v : i8 to i32
    %ue = arith.extsi %u : i8 to i32
    %p = arith.muli %ve, %ue : i32
    te.yield %p : i32
  } combine (%a: i32, %b: i32) {
    %s = arith.addi %a, %b : i32
    te.yield %s : i32
  } : tensor<4x6xi32>
  %z = te.compute "relu" (%i in 4, %j in 6) {
    %v = te.read %y[%i, %j] : tensor<4x6xi32>
    %zero = arith.constant 0 : i32
    %m = arith.maxsi %v, %zero : i32
    te.yield %m : i32
  } : tensor<4x6xi32>
  func.return %z : tensor<4x6xi32>
}
sched.sequence @schedule for @dense {
  %b = sched.block "relu"
  %j = sched.loops %b -> 1 innermost
  // CHECK: sched.loops of block "relu" of kernel @dense: expected 3 loops, got 2
  %l:3 = sched.loops %b -> 3 innermost
}

// -----

// Choices have to be made.
func.func @dense(%x: tensor<4x8xi8>, %w: tensor<6x8xi8>) -> tensor<4x6xi32> {
  %y = te.compute "dense" (%i in 4, %j in 6) reduce (%k in 8) init (0 : i32) {
    %v = te.read %x[%i, %k] : tensor<4x8xi8>
    %u = te.read %w[%j, %k] : tensor<6x8xi8>
    %ve = arith.extsi %v : i8 to i32
    %ue = arith.extsi %u : i8 to i32
    %p = arith.muli %ve, %ue : i32
    te.yield %p : i32
  } combine (%a: i32, %b: i32) {
    %s = arith.addi %a, %b : i32
    te.yield %s : i32
  } : tensor<4x6xi32>
  %z = te.compute "relu" (%i in 4, %j in 6) {
    %v = te.read %y[%i, %j] : tensor<4x6xi32>
    %zero = arith.constant 0 : i32
    %m = arith.maxsi %v, %zero : i32
    te.yield %m : i32
  } : tensor<4x6xi32>
  func.return %z : tensor<4x6xi32>
}
sched.sequence @schedule for @dense {
  %b = sched.block "dense"
  %i, %j, %k = sched.loops %b -> 3
  // CHECK: sched.sample_perfect_tile of loop %j of kernel @dense: nothing is decided; run sample-schedules, or give apply-schedules a seed
  %o, %p = sched.sample_perfect_tile %j innermost 4 -> 2
}

// -----

// They have no loop to name, perhaps.
func.func @dense(%x: tensor<4x8xi8>, %w: tensor<6x8xi8>) -> tensor<4x6xi32> {
  %y = te.compute "dense" (%i in 4, %j in 6) reduce (%k in 8) init (0 : i32) {
    %v = te.read %x[%i, %k] : tensor<4x8xi8>
    %u = te.read %w[%j, %k] : tensor<6x8xi8>
    %ve = arith.extsi %v : i8 to i32
    %ue = arith.extsi %u : i8 to i32
    %p = arith.muli %ve, %ue : i32
    te.yield %p : i32
  } combine (%a: i32, %b: i32) {
    %s = arith.addi %a, %b : i32
    te.yield %s : i32
  } : tensor<4x6xi32>
  %z = te.compute "relu" (%i in 4, %j in 6) {
    %v = te.read %y[%i, %j] : tensor<4x6xi32>
    %zero = arith.constant 0 : i32
    %m = arith.maxsi %v, %zero : i32
    te.yield %m : i32
  } : tensor<4x6xi32>
  func.return %z : tensor<4x6xi32>
}
sched.sequence @schedule for @dense {
  // CHECK: sched.sample_categorical of kernel @dense: nothing is decided; run sample-schedules, or give apply-schedules a seed
  %o = sched.sample_categorical [1, 2]
}

// -----

// A decision is about a loop.
func.func @dense(%x: tensor<4x8xi8>, %w: tensor<6x8xi8>) -> tensor<4x6xi32> {
  %y = te.compute "dense" (%i in 4, %j in 6) reduce (%k in 8) init (0 : i32) {
    %v = te.read %x[%i, %k] : tensor<4x8xi8>
    %u = te.read %w[%j, %k] : tensor<6x8xi8>
    %ve = arith.extsi %v : i8 to i32
    %ue = arith.extsi %u : i8 to i32
    %p = arith.muli %ve, %ue : i32
    te.yield %p : i32
  } combine (%a: i32, %b: i32) {
    %s = arith.addi %a, %b : i32
    te.yield %s : i32
  } : tensor<4x6xi32>
  %z = te.compute "relu" (%i in 4, %j in 6) {
    %v = te.read %y[%i, %j] : tensor<4x6xi32>
    %zero = arith.constant 0 : i32
    %m = arith.maxsi %v, %zero : i32
    te.yield %m : i32
  } : tensor<4x6xi32>
  func.return %z : tensor<4x6xi32>
}
sched.sequence @schedule for @dense {
  %b = sched.block "dense"
  %i, %j, %k = sched.loops %b -> 3
  // CHECK: sched.sample_perfect_tile of loop %j of kernel @dense: expected a decision of factors of 6, got 2 * 4 = 8
  %o, %p = sched.sample_perfect_tile %j innermost 4 -> 2 decision [2, 4]
}

// -----

// It is as small as was asked for.
func.func @dense(%x: tensor<4x8xi8>, %w: tensor<6x8xi8>) -> tensor<4x6xi32> {
  %y = te.compute "dense" (%i in 4, %j in 6) reduce (%k in 8) init (0 : i32) {
    %v = te.read %x[%i, %k] : tensor<4x8xi8>
    %u = te.read %w[%j, %k] : tensor<6x8xi8>
    %ve = arith.extsi %v : i8 to i32
    %ue = arith.extsi %u : i8 to i32
    %p = arith.muli %ve, %ue : i32
    te.yield %p : i32
  } combine (%a: i32, %b: i32) {
    %s = arith.addi %a, %b : i32
    te.yield %s : i32
  } : tensor<4x6xi32>
  %z = te.compute "relu" (%i in 4, %j in 6) {
    %v = te.read %y[%i, %j] : tensor<4x6xi32>
    %zero = arith.constant 0 : i32
    %m = arith.maxsi %v, %zero : i32
    te.yield %m : i32
  } : tensor<4x6xi32>
  func.return %z : tensor<4x6xi32>
}
sched.sequence @schedule for @dense {
  %b = sched.block "dense"
  %i, %j, %k = sched.loops %b -> 3
  // CHECK: sched.sample_perfect_tile of loop %j of kernel @dense: expected an innermost factor of at most 4, got 6
  %o, %p = sched.sample_perfect_tile %j innermost 4 -> 2 decision [1, 6]
}

// -----

// An intrinsic has to be stated.
func.func private @dot(%acc: memref<6xi32>, %w: memref<6x8xi8>, %v: memref<8xi8>) attributes {tir.intrinsic} {
  tir.for %j = 0 to 6 {
    tir.for %k = 0 to 8 {
      tir.block "dot" spatial (%a in 6) reduce (%b in 8) at [%j, %k] {
        %old = tir.load %acc[%a] : memref<6xi32>
        %x = tir.load %w[%a, %b] : memref<6x8xi8>
        %y = tir.load %v[%b] : memref<8xi8>
        %xe = arith.extsi %x : i8 to i32
        %ye = arith.extsi %y : i8 to i32
        %p = arith.muli %xe, %ye : i32
        %new = arith.addi %old, %p : i32
        tir.store %new, %acc[%a] : memref<6xi32>
      }
    }
  }
  func.return
}
func.func @dense(%x: tensor<4x8xi8>, %w: tensor<6x8xi8>) -> tensor<4x6xi32> {
  %y = te.compute "dense" (%i in 4, %j in 6) reduce (%k in 8) init (0 : i32) {
    %v = te.read %x[%i, %k] : tensor<4x8xi8>
    %u = te.read %w[%j, %k] : tensor<6x8xi8>
    %ve = arith.extsi %v : i8 to i32
    %ue = arith.extsi %u : i8 to i32
    %p = arith.muli %ve, %ue : i32
    te.yield %p : i32
  } combine (%a: i32, %b: i32) {
    %s = arith.addi %a, %b : i32
    te.yield %s : i32
  } : tensor<4x6xi32>
  %z = te.compute "relu" (%i in 4, %j in 6) {
    %v = te.read %y[%i, %j] : tensor<4x6xi32>
    %zero = arith.constant 0 : i32
    %m = arith.maxsi %v, %zero : i32
    te.yield %m : i32
  } : tensor<4x6xi32>
  func.return %z : tensor<4x6xi32>
}
sched.sequence @schedule for @dense {
  %b = sched.block "dense"
  %i, %j, %k = sched.loops %b -> 3
  %z = sched.decompose_reduction %b, %i
  // CHECK: sched.tensorize of loop %j of kernel @dense: no intrinsic @dott; did you mean dot?
  sched.tensorize %j, @dott
}

// -----

// There may be none.
func.func @dense(%x: tensor<4x8xi8>, %w: tensor<6x8xi8>) -> tensor<4x6xi32> {
  %y = te.compute "dense" (%i in 4, %j in 6) reduce (%k in 8) init (0 : i32) {
    %v = te.read %x[%i, %k] : tensor<4x8xi8>
    %u = te.read %w[%j, %k] : tensor<6x8xi8>
    %ve = arith.extsi %v : i8 to i32
    %ue = arith.extsi %u : i8 to i32
    %p = arith.muli %ve, %ue : i32
    te.yield %p : i32
  } combine (%a: i32, %b: i32) {
    %s = arith.addi %a, %b : i32
    te.yield %s : i32
  } : tensor<4x6xi32>
  %z = te.compute "relu" (%i in 4, %j in 6) {
    %v = te.read %y[%i, %j] : tensor<4x6xi32>
    %zero = arith.constant 0 : i32
    %m = arith.maxsi %v, %zero : i32
    te.yield %m : i32
  } : tensor<4x6xi32>
  func.return %z : tensor<4x6xi32>
}
sched.sequence @schedule for @dense {
  %b = sched.block "dense"
  %i, %j, %k = sched.loops %b -> 3
  %z = sched.decompose_reduction %b, %i
  // CHECK: sched.tensorize of loop %j of kernel @dense: no intrinsic @gemm; there is none
  sched.tensorize %j, @gemm
}

// -----

// It has to say what it does.
func.func private @dot(memref<6xi32>, memref<6x8xi8>, memref<8xi8>) attributes {tir.intrinsic}
func.func @dense(%x: tensor<4x8xi8>, %w: tensor<6x8xi8>) -> tensor<4x6xi32> {
  %y = te.compute "dense" (%i in 4, %j in 6) reduce (%k in 8) init (0 : i32) {
    %v = te.read %x[%i, %k] : tensor<4x8xi8>
    %u = te.read %w[%j, %k] : tensor<6x8xi8>
    %ve = arith.extsi %v : i8 to i32
    %ue = arith.extsi %u : i8 to i32
    %p = arith.muli %ve, %ue : i32
    te.yield %p : i32
  } combine (%a: i32, %b: i32) {
    %s = arith.addi %a, %b : i32
    te.yield %s : i32
  } : tensor<4x6xi32>
  %z = te.compute "relu" (%i in 4, %j in 6) {
    %v = te.read %y[%i, %j] : tensor<4x6xi32>
    %zero = arith.constant 0 : i32
    %m = arith.maxsi %v, %zero : i32
    te.yield %m : i32
  } : tensor<4x6xi32>
  func.return %z : tensor<4x6xi32>
}
sched.sequence @schedule for @dense {
  %b = sched.block "dense"
  %i, %j, %k = sched.loops %b -> 3
  %z = sched.decompose_reduction %b, %i
  // CHECK: sched.tensorize of loop %j of kernel @dense: expected a body of intrinsic @dot, got none
  sched.tensorize %j, @dot
}

// -----

// It says so with loops around one block.
func.func private @dot(%acc: memref<6xi32>, %w: memref<6x8xi8>, %v: memref<8xi8>) attributes {tir.intrinsic} {
  tir.for %j = 0 to 6 {
    tir.for %k = 0 to 8 {
      tir.block "a" {
      }
      tir.block "b" {
      }
    }
  }
  func.return
}
func.func @dense(%x: tensor<4x8xi8>, %w: tensor<6x8xi8>) -> tensor<4x6xi32> {
  %y = te.compute "dense" (%i in 4, %j in 6) reduce (%k in 8) init (0 : i32) {
    %v = te.read %x[%i, %k] : tensor<4x8xi8>
    %u = te.read %w[%j, %k] : tensor<6x8xi8>
    %ve = arith.extsi %v : i8 to i32
    %ue = arith.extsi %u : i8 to i32
    %p = arith.muli %ve, %ue : i32
    te.yield %p : i32
  } combine (%a: i32, %b: i32) {
    %s = arith.addi %a, %b : i32
    te.yield %s : i32
  } : tensor<4x6xi32>
  %z = te.compute "relu" (%i in 4, %j in 6) {
    %v = te.read %y[%i, %j] : tensor<4x6xi32>
    %zero = arith.constant 0 : i32
    %m = arith.maxsi %v, %zero : i32
    te.yield %m : i32
  } : tensor<4x6xi32>
  func.return %z : tensor<4x6xi32>
}
sched.sequence @schedule for @dense {
  %b = sched.block "dense"
  %i, %j, %k = sched.loops %b -> 3
  %z = sched.decompose_reduction %b, %i
  // CHECK: sched.tensorize of loop %j of kernel @dense: expected loops around one block in intrinsic @dot
  sched.tensorize %j, @dot
}

// -----

// It may be nothing else.
func.func private @dot(%acc: memref<6xi32>, %w: memref<6x8xi8>, %v: memref<8xi8>) attributes {tir.intrinsic} {
  func.return
}
func.func @dense(%x: tensor<4x8xi8>, %w: tensor<6x8xi8>) -> tensor<4x6xi32> {
  %y = te.compute "dense" (%i in 4, %j in 6) reduce (%k in 8) init (0 : i32) {
    %v = te.read %x[%i, %k] : tensor<4x8xi8>
    %u = te.read %w[%j, %k] : tensor<6x8xi8>
    %ve = arith.extsi %v : i8 to i32
    %ue = arith.extsi %u : i8 to i32
    %p = arith.muli %ve, %ue : i32
    te.yield %p : i32
  } combine (%a: i32, %b: i32) {
    %s = arith.addi %a, %b : i32
    te.yield %s : i32
  } : tensor<4x6xi32>
  %z = te.compute "relu" (%i in 4, %j in 6) {
    %v = te.read %y[%i, %j] : tensor<4x6xi32>
    %zero = arith.constant 0 : i32
    %m = arith.maxsi %v, %zero : i32
    te.yield %m : i32
  } : tensor<4x6xi32>
  func.return %z : tensor<4x6xi32>
}
sched.sequence @schedule for @dense {
  %b = sched.block "dense"
  %i, %j, %k = sched.loops %b -> 3
  %z = sched.decompose_reduction %b, %i
  // CHECK: sched.tensorize of loop %j of kernel @dense: expected loops around one block in intrinsic @dot
  sched.tensorize %j, @dot
}

// -----

// So does the loop.
func.func private @dot(%acc: memref<6xi32>, %w: memref<6x8xi8>, %v: memref<8xi8>) attributes {tir.intrinsic} {
  tir.for %j = 0 to 6 {
    tir.for %k = 0 to 8 {
      tir.block "dot" spatial (%a in 6) reduce (%b in 8) at [%j, %k] {
        %old = tir.load %acc[%a] : memref<6xi32>
        %x = tir.load %w[%a, %b] : memref<6x8xi8>
        %y = tir.load %v[%b] : memref<8xi8>
        %xe = arith.extsi %x : i8 to i32
        %ye = arith.extsi %y : i8 to i32
        %p = arith.muli %xe, %ye : i32
        %new = arith.addi %old, %p : i32
        tir.store %new, %acc[%a] : memref<6xi32>
      }
    }
  }
  func.return
}
func.func @dense(%x: tensor<4x8xi8>, %w: tensor<6x8xi8>) -> tensor<4x6xi32> {
  %y = te.compute "dense" (%i in 4, %j in 6) reduce (%k in 8) init (0 : i32) {
    %v = te.read %x[%i, %k] : tensor<4x8xi8>
    %u = te.read %w[%j, %k] : tensor<6x8xi8>
    %ve = arith.extsi %v : i8 to i32
    %ue = arith.extsi %u : i8 to i32
    %p = arith.muli %ve, %ue : i32
    te.yield %p : i32
  } combine (%a: i32, %b: i32) {
    %s = arith.addi %a, %b : i32
    te.yield %s : i32
  } : tensor<4x6xi32>
  %z = te.compute "relu" (%i in 4, %j in 6) {
    %v = te.read %y[%i, %j] : tensor<4x6xi32>
    %zero = arith.constant 0 : i32
    %m = arith.maxsi %v, %zero : i32
    te.yield %m : i32
  } : tensor<4x6xi32>
  func.return %z : tensor<4x6xi32>
}
sched.sequence @schedule for @dense {
  %b = sched.block "dense"
  %i, %j, %k = sched.loops %b -> 3
  %z = sched.decompose_reduction %b, %j
  %l = sched.block "relu"
  sched.reverse_compute_at %l, %i
  // CHECK: sched.tensorize of loop %i of kernel @dense: expected loops around one block in loop %i
  sched.tensorize %i, @dot
}

// -----

// Extents are those of the instruction.
func.func private @dot(%acc: memref<6xi32>, %w: memref<6x8xi8>, %v: memref<8xi8>) attributes {tir.intrinsic} {
  tir.for %j = 0 to 6 {
    tir.for %k = 0 to 8 {
      tir.block "dot" spatial (%a in 6) reduce (%b in 8) at [%j, %k] {
        %old = tir.load %acc[%a] : memref<6xi32>
        %x = tir.load %w[%a, %b] : memref<6x8xi8>
        %y = tir.load %v[%b] : memref<8xi8>
        %xe = arith.extsi %x : i8 to i32
        %ye = arith.extsi %y : i8 to i32
        %p = arith.muli %xe, %ye : i32
        %new = arith.addi %old, %p : i32
        tir.store %new, %acc[%a] : memref<6xi32>
      }
    }
  }
  func.return
}
func.func @dense(%x: tensor<4x8xi8>, %w: tensor<6x8xi8>) -> tensor<4x6xi32> {
  %y = te.compute "dense" (%i in 4, %j in 6) reduce (%k in 8) init (0 : i32) {
    %v = te.read %x[%i, %k] : tensor<4x8xi8>
    %u = te.read %w[%j, %k] : tensor<6x8xi8>
    %ve = arith.extsi %v : i8 to i32
    %ue = arith.extsi %u : i8 to i32
    %p = arith.muli %ve, %ue : i32
    te.yield %p : i32
  } combine (%a: i32, %b: i32) {
    %s = arith.addi %a, %b : i32
    te.yield %s : i32
  } : tensor<4x6xi32>
  %z = te.compute "relu" (%i in 4, %j in 6) {
    %v = te.read %y[%i, %j] : tensor<4x6xi32>
    %zero = arith.constant 0 : i32
    %m = arith.maxsi %v, %zero : i32
    te.yield %m : i32
  } : tensor<4x6xi32>
  func.return %z : tensor<4x6xi32>
}
sched.sequence @schedule for @dense {
  %b = sched.block "dense"
  %i, %j, %k = sched.loops %b -> 3
  %z = sched.decompose_reduction %b, %i
  %jo, %ji = sched.split %j [3, 2]
  // CHECK: sched.tensorize of loop %ji of kernel @dense: expected loops 6x8 as @dot has, got 2x8
  sched.tensorize %ji, @dot
}

// -----

// So is their order.
func.func private @dot(%acc: memref<6xi32>, %w: memref<6x8xi8>, %v: memref<8xi8>) attributes {tir.intrinsic} {
  tir.for %j = 0 to 6 {
    tir.for %k = 0 to 8 {
      tir.block "dot" spatial (%a in 6) reduce (%b in 8) at [%j, %k] {
        %old = tir.load %acc[%a] : memref<6xi32>
        %x = tir.load %w[%a, %b] : memref<6x8xi8>
        %y = tir.load %v[%b] : memref<8xi8>
        %xe = arith.extsi %x : i8 to i32
        %ye = arith.extsi %y : i8 to i32
        %p = arith.muli %xe, %ye : i32
        %new = arith.addi %old, %p : i32
        tir.store %new, %acc[%a] : memref<6xi32>
      }
    }
  }
  func.return
}
func.func @dense(%x: tensor<4x8xi8>, %w: tensor<6x8xi8>) -> tensor<4x6xi32> {
  %y = te.compute "dense" (%i in 4, %j in 6) reduce (%k in 8) init (0 : i32) {
    %v = te.read %x[%i, %k] : tensor<4x8xi8>
    %u = te.read %w[%j, %k] : tensor<6x8xi8>
    %ve = arith.extsi %v : i8 to i32
    %ue = arith.extsi %u : i8 to i32
    %p = arith.muli %ve, %ue : i32
    te.yield %p : i32
  } combine (%a: i32, %b: i32) {
    %s = arith.addi %a, %b : i32
    te.yield %s : i32
  } : tensor<4x6xi32>
  %z = te.compute "relu" (%i in 4, %j in 6) {
    %v = te.read %y[%i, %j] : tensor<4x6xi32>
    %zero = arith.constant 0 : i32
    %m = arith.maxsi %v, %zero : i32
    te.yield %m : i32
  } : tensor<4x6xi32>
  func.return %z : tensor<4x6xi32>
}
sched.sequence @schedule for @dense {
  %b = sched.block "dense"
  %i, %j, %k = sched.loops %b -> 3
  %z = sched.decompose_reduction %b, %i
  sched.reorder %k, %j
  // CHECK: sched.tensorize of loop %k of kernel @dense: expected loops 6x8 as @dot has, got 8x6
  sched.tensorize %k, @dot
}

// -----

// It computes the same.
func.func private @dot(%acc: memref<6xi32>, %w: memref<6x8xi8>, %v: memref<8xi8>) attributes {tir.intrinsic} {
  tir.for %j = 0 to 6 {
    tir.for %k = 0 to 8 {
      tir.block "dot" spatial (%a in 6) reduce (%b in 8) at [%j, %k] {
        %old = tir.load %acc[%a] : memref<6xi32>
        %x = tir.load %w[%a, %b] : memref<6x8xi8>
        %y = tir.load %v[%b] : memref<8xi8>
        %xe = arith.extui %x : i8 to i32
        %ye = arith.extsi %y : i8 to i32
        %p = arith.muli %xe, %ye : i32
        %new = arith.addi %old, %p : i32
        tir.store %new, %acc[%a] : memref<6xi32>
      }
    }
  }
  func.return
}
func.func @dense(%x: tensor<4x8xi8>, %w: tensor<6x8xi8>) -> tensor<4x6xi32> {
  %y = te.compute "dense" (%i in 4, %j in 6) reduce (%k in 8) init (0 : i32) {
    %v = te.read %x[%i, %k] : tensor<4x8xi8>
    %u = te.read %w[%j, %k] : tensor<6x8xi8>
    %ve = arith.extsi %v : i8 to i32
    %ue = arith.extsi %u : i8 to i32
    %p = arith.muli %ve, %ue : i32
    te.yield %p : i32
  } combine (%a: i32, %b: i32) {
    %s = arith.addi %a, %b : i32
    te.yield %s : i32
  } : tensor<4x6xi32>
  %z = te.compute "relu" (%i in 4, %j in 6) {
    %v = te.read %y[%i, %j] : tensor<4x6xi32>
    %zero = arith.constant 0 : i32
    %m = arith.maxsi %v, %zero : i32
    te.yield %m : i32
  } : tensor<4x6xi32>
  func.return %z : tensor<4x6xi32>
}
sched.sequence @schedule for @dense {
  %b = sched.block "dense"
  %i, %j, %k = sched.loops %b -> 3
  %z = sched.decompose_reduction %b, %i
  // CHECK: sched.tensorize of loop %j of kernel @dense: expected arith.extui of i32, got arith.extsi of i32
  sched.tensorize %j, @dot
}

// -----

// It finds operands in its memories.
tir.memory "fast" of 64 bytes
func.func private @dot(%acc: memref<6xi32>, %w: memref<6x8xi8, "fast">, %v: memref<8xi8>) attributes {tir.intrinsic} {
  tir.for %j = 0 to 6 {
    tir.for %k = 0 to 8 {
      tir.block "dot" spatial (%a in 6) reduce (%b in 8) at [%j, %k] {
        %old = tir.load %acc[%a] : memref<6xi32>
        %x = tir.load %w[%a, %b] : memref<6x8xi8, "fast">
        %y = tir.load %v[%b] : memref<8xi8>
        %xe = arith.extsi %x : i8 to i32
        %ye = arith.extsi %y : i8 to i32
        %p = arith.muli %xe, %ye : i32
        %new = arith.addi %old, %p : i32
        tir.store %new, %acc[%a] : memref<6xi32>
      }
    }
  }
  func.return
}
func.func @dense(%x: tensor<4x8xi8>, %w: tensor<6x8xi8>) -> tensor<4x6xi32> {
  %y = te.compute "dense" (%i in 4, %j in 6) reduce (%k in 8) init (0 : i32) {
    %v = te.read %x[%i, %k] : tensor<4x8xi8>
    %u = te.read %w[%j, %k] : tensor<6x8xi8>
    %ve = arith.extsi %v : i8 to i32
    %ue = arith.extsi %u : i8 to i32
    %p = arith.muli %ve, %ue : i32
    te.yield %p : i32
  } combine (%a: i32, %b: i32) {
    %s = arith.addi %a, %b : i32
    te.yield %s : i32
  } : tensor<4x6xi32>
  %z = te.compute "relu" (%i in 4, %j in 6) {
    %v = te.read %y[%i, %j] : tensor<4x6xi32>
    %zero = arith.constant 0 : i32
    %m = arith.maxsi %v, %zero : i32
    te.yield %m : i32
  } : tensor<4x6xi32>
  func.return %z : tensor<4x6xi32>
}
sched.sequence @schedule for @dense {
  %b = sched.block "dense"
  %i, %j, %k = sched.loops %b -> 3
  %z = sched.decompose_reduction %b, %i
  // CHECK: sched.tensorize of loop %j of kernel @dense: expected memref<6x8xi8, "fast"> as argument 1, got memref<4x8xi8>
  sched.tensorize %j, @dot
}

// -----

// It finds them in its order.
func.func private @dot(%acc: memref<6xi32>, %w: memref<8x6xi8>, %v: memref<8xi8>) attributes {tir.intrinsic} {
  tir.for %j = 0 to 6 {
    tir.for %k = 0 to 8 {
      tir.block "dot" spatial (%a in 6) reduce (%b in 8) at [%j, %k] {
        %old = tir.load %acc[%a] : memref<6xi32>
        %x = tir.load %w[%b, %a] : memref<8x6xi8>
        %y = tir.load %v[%b] : memref<8xi8>
        %xe = arith.extsi %x : i8 to i32
        %ye = arith.extsi %y : i8 to i32
        %p = arith.muli %xe, %ye : i32
        %new = arith.addi %old, %p : i32
        tir.store %new, %acc[%a] : memref<6xi32>
      }
    }
  }
  func.return
}
func.func @dense(%x: tensor<4x8xi8>, %w: tensor<6x8xi8>) -> tensor<4x6xi32> {
  %y = te.compute "dense" (%i in 4, %j in 6) reduce (%k in 8) init (0 : i32) {
    %v = te.read %x[%i, %k] : tensor<4x8xi8>
    %u = te.read %w[%j, %k] : tensor<6x8xi8>
    %ve = arith.extsi %v : i8 to i32
    %ue = arith.extsi %u : i8 to i32
    %p = arith.muli %ve, %ue : i32
    te.yield %p : i32
  } combine (%a: i32, %b: i32) {
    %s = arith.addi %a, %b : i32
    te.yield %s : i32
  } : tensor<4x6xi32>
  %z = te.compute "relu" (%i in 4, %j in 6) {
    %v = te.read %y[%i, %j] : tensor<4x6xi32>
    %zero = arith.constant 0 : i32
    %m = arith.maxsi %v, %zero : i32
    te.yield %m : i32
  } : tensor<4x6xi32>
  func.return %z : tensor<4x6xi32>
}
sched.sequence @schedule for @dense {
  %b = sched.block "dense"
  %i, %j, %k = sched.loops %b -> 3
  %z = sched.decompose_reduction %b, %i
  // CHECK: sched.tensorize of loop %j of kernel @dense: expected block "dense" to touch a tile of 8x6 as argument 1, with each of its axes along one dimension of the buffer, in order
  sched.tensorize %j, @dot
}

// -----

// It starts from first values, or from what is there.
func.func private @dot(%acc: memref<6xi32>, %w: memref<6x8xi8>, %v: memref<8xi8>) attributes {tir.intrinsic} {
  tir.for %j = 0 to 6 {
    tir.for %k = 0 to 8 {
      tir.block "dot" spatial (%a in 6) reduce (%b in 8) at [%j, %k] {
        %old = tir.load %acc[%a] : memref<6xi32>
        %x = tir.load %w[%a, %b] : memref<6x8xi8>
        %y = tir.load %v[%b] : memref<8xi8>
        %xe = arith.extsi %x : i8 to i32
        %ye = arith.extsi %y : i8 to i32
        %p = arith.muli %xe, %ye : i32
        %new = arith.addi %old, %p : i32
        tir.store %new, %acc[%a] : memref<6xi32>
      }
    }
  }
  func.return
}
func.func @dense(%x: tensor<4x8xi8>, %w: tensor<6x8xi8>) -> tensor<4x6xi32> {
  %y = te.compute "dense" (%i in 4, %j in 6) reduce (%k in 8) init (0 : i32) {
    %v = te.read %x[%i, %k] : tensor<4x8xi8>
    %u = te.read %w[%j, %k] : tensor<6x8xi8>
    %ve = arith.extsi %v : i8 to i32
    %ue = arith.extsi %u : i8 to i32
    %p = arith.muli %ve, %ue : i32
    te.yield %p : i32
  } combine (%a: i32, %b: i32) {
    %s = arith.addi %a, %b : i32
    te.yield %s : i32
  } : tensor<4x6xi32>
  %z = te.compute "relu" (%i in 4, %j in 6) {
    %v = te.read %y[%i, %j] : tensor<4x6xi32>
    %zero = arith.constant 0 : i32
    %m = arith.maxsi %v, %zero : i32
    te.yield %m : i32
  } : tensor<4x6xi32>
  func.return %z : tensor<4x6xi32>
}
sched.sequence @schedule for @dense {
  %b = sched.block "dense"
  %i, %j, %k = sched.loops %b -> 3
  // CHECK: sched.tensorize of loop %j of kernel @dense: block "dense" has an init, and @dot has none; decompose_reduction first
  sched.tensorize %j, @dot
}

// -----

// Both have to.
func.func private @dot(%acc: memref<6xi32>, %w: memref<6x8xi8>, %v: memref<8xi8>) attributes {tir.intrinsic} {
  tir.for %j = 0 to 6 {
    tir.for %k = 0 to 8 {
      tir.block "dot" spatial (%a in 6) reduce (%b in 8) at [%j, %k] {
        %old = tir.load %acc[%a] : memref<6xi32>
        %x = tir.load %w[%a, %b] : memref<6x8xi8>
        %y = tir.load %v[%b] : memref<8xi8>
        %xe = arith.extsi %x : i8 to i32
        %ye = arith.extsi %y : i8 to i32
        %p = arith.muli %xe, %ye : i32
        %new = arith.addi %old, %p : i32
        tir.store %new, %acc[%a] : memref<6xi32>
      } init (%a) {
        %zero = arith.constant 0 : i32
        tir.store %zero, %acc[%a] : memref<6xi32>
      }
    }
  }
  func.return
}
func.func @dense(%x: tensor<4x8xi8>, %w: tensor<6x8xi8>) -> tensor<4x6xi32> {
  %y = te.compute "dense" (%i in 4, %j in 6) reduce (%k in 8) init (0 : i32) {
    %v = te.read %x[%i, %k] : tensor<4x8xi8>
    %u = te.read %w[%j, %k] : tensor<6x8xi8>
    %ve = arith.extsi %v : i8 to i32
    %ue = arith.extsi %u : i8 to i32
    %p = arith.muli %ve, %ue : i32
    te.yield %p : i32
  } combine (%a: i32, %b: i32) {
    %s = arith.addi %a, %b : i32
    te.yield %s : i32
  } : tensor<4x6xi32>
  %z = te.compute "relu" (%i in 4, %j in 6) {
    %v = te.read %y[%i, %j] : tensor<4x6xi32>
    %zero = arith.constant 0 : i32
    %m = arith.maxsi %v, %zero : i32
    te.yield %m : i32
  } : tensor<4x6xi32>
  func.return %z : tensor<4x6xi32>
}
sched.sequence @schedule for @dense {
  %b = sched.block "dense"
  %i, %j, %k = sched.loops %b -> 3
  %z = sched.decompose_reduction %b, %i
  // CHECK: sched.tensorize of loop %j of kernel @dense: @dot has an init, and block "dense" has none
  sched.tensorize %j, @dot
}

// -----

// The whole reduction is inside then.
func.func private @dot(%acc: memref<6xi32>, %w: memref<6x8xi8>, %v: memref<8xi8>) attributes {tir.intrinsic} {
  tir.for %j = 0 to 6 {
    tir.for %k = 0 to 4 {
      tir.block "dot" spatial (%a in 6) reduce (%b in 4) at [%j, %k] {
        %old = tir.load %acc[%a] : memref<6xi32>
        %x = tir.load %w[%a, %b] : memref<6x8xi8>
        %y = tir.load %v[%b] : memref<8xi8>
        %xe = arith.extsi %x : i8 to i32
        %ye = arith.extsi %y : i8 to i32
        %p = arith.muli %xe, %ye : i32
        %new = arith.addi %old, %p : i32
        tir.store %new, %acc[%a] : memref<6xi32>
      } init (%a) {
        %zero = arith.constant 0 : i32
        tir.store %zero, %acc[%a] : memref<6xi32>
      }
    }
  }
  func.return
}
func.func @dense(%x: tensor<4x8xi8>, %w: tensor<6x8xi8>) -> tensor<4x6xi32> {
  %y = te.compute "dense" (%i in 4, %j in 6) reduce (%k in 8) init (0 : i32) {
    %v = te.read %x[%i, %k] : tensor<4x8xi8>
    %u = te.read %w[%j, %k] : tensor<6x8xi8>
    %ve = arith.extsi %v : i8 to i32
    %ue = arith.extsi %u : i8 to i32
    %p = arith.muli %ve, %ue : i32
    te.yield %p : i32
  } combine (%a: i32, %b: i32) {
    %s = arith.addi %a, %b : i32
    te.yield %s : i32
  } : tensor<4x6xi32>
  %z = te.compute "relu" (%i in 4, %j in 6) {
    %v = te.read %y[%i, %j] : tensor<4x6xi32>
    %zero = arith.constant 0 : i32
    %m = arith.maxsi %v, %zero : i32
    te.yield %m : i32
  } : tensor<4x6xi32>
  func.return %z : tensor<4x6xi32>
}
sched.sequence @schedule for @dense {
  %b = sched.block "dense"
  %i, %j, %k = sched.loops %b -> 3
  %ko, %ki = sched.split %k [2, 4]
  sched.reorder %i, %ko, %j, %ki
  // CHECK: sched.tensorize of loop %j of kernel @dense: @dot has an init, and loop %ko around it carries the reduction
  sched.tensorize %j, @dot
}

// -----

// All that it works on is known.
func.func private @dot(%acc: memref<6xi32>, %w: memref<6x8xi8>, %v: memref<8xi8>, %n: memref<8xi8>) attributes {tir.intrinsic} {
  tir.for %j = 0 to 6 {
    tir.for %k = 0 to 8 {
      tir.block "dot" spatial (%a in 6) reduce (%b in 8) at [%j, %k] {
        %old = tir.load %acc[%a] : memref<6xi32>
        %x = tir.load %w[%a, %b] : memref<6x8xi8>
        %y = tir.load %v[%b] : memref<8xi8>
        %xe = arith.extsi %x : i8 to i32
        %ye = arith.extsi %y : i8 to i32
        %p = arith.muli %xe, %ye : i32
        %new = arith.addi %old, %p : i32
        tir.store %new, %acc[%a] : memref<6xi32>
      }
    }
  }
  func.return
}
func.func @dense(%x: tensor<4x8xi8>, %w: tensor<6x8xi8>) -> tensor<4x6xi32> {
  %y = te.compute "dense" (%i in 4, %j in 6) reduce (%k in 8) init (0 : i32) {
    %v = te.read %x[%i, %k] : tensor<4x8xi8>
    %u = te.read %w[%j, %k] : tensor<6x8xi8>
    %ve = arith.extsi %v : i8 to i32
    %ue = arith.extsi %u : i8 to i32
    %p = arith.muli %ve, %ue : i32
    te.yield %p : i32
  } combine (%a: i32, %b: i32) {
    %s = arith.addi %a, %b : i32
    te.yield %s : i32
  } : tensor<4x6xi32>
  %z = te.compute "relu" (%i in 4, %j in 6) {
    %v = te.read %y[%i, %j] : tensor<4x6xi32>
    %zero = arith.constant 0 : i32
    %m = arith.maxsi %v, %zero : i32
    te.yield %m : i32
  } : tensor<4x6xi32>
  func.return %z : tensor<4x6xi32>
}
sched.sequence @schedule for @dense {
  %b = sched.block "dense"
  %i, %j, %k = sched.loops %b -> 3
  %z = sched.decompose_reduction %b, %i
  // CHECK: sched.tensorize of loop %j of kernel @dense: expected argument 3 of @dot to be used
  sched.tensorize %j, @dot
}

// -----

// One argument is one tile.
func.func private @add(%t: memref<6xi32>, %u: memref<6xi32>) attributes {tir.intrinsic} {
  tir.for %j = 0 to 6 {
    tir.block "add" spatial (%a in 6) at [%j] {
      %x = tir.load %u[%a] : memref<6xi32>
      %s = arith.addi %x, %x : i32
      tir.store %s, %t[%a] : memref<6xi32>
    }
  }
  func.return
}
func.func @twice(%x: tensor<2x6xi32>) -> tensor<6xi32> {
  %y = te.compute "add" (%j in 6) {
    %u = te.read %x[0, %j] : tensor<2x6xi32>
    %v = te.read %x[1, %j] : tensor<2x6xi32>
    %s = arith.addi %u, %v : i32
    te.yield %s : i32
  } : tensor<6xi32>
  func.return %y : tensor<6xi32>
}
sched.sequence @schedule for @twice {
  %b = sched.block "add"
  %j = sched.loops %b -> 1
  // CHECK: sched.tensorize of loop %j of kernel @twice: expected one tile as argument 1, got two
  sched.tensorize %j, @add
}

// -----

// An instruction runs always, or never.
func.func private @dot(%acc: memref<4xi32>, %w: memref<4x8xi8>, %v: memref<8xi8>) attributes {tir.intrinsic} {
  tir.for %j = 0 to 4 {
    tir.for %k = 0 to 8 {
      tir.block "dot" spatial (%a in 4) reduce (%b in 8) at [%j, %k] {
        %old = tir.load %acc[%a] : memref<4xi32>
        %x = tir.load %w[%a, %b] : memref<4x8xi8>
        %y = tir.load %v[%b] : memref<8xi8>
        %xe = arith.extsi %x : i8 to i32
        %ye = arith.extsi %y : i8 to i32
        %p = arith.muli %xe, %ye : i32
        %new = arith.addi %old, %p : i32
        tir.store %new, %acc[%a] : memref<4xi32>
      }
    }
  }
  func.return
}
func.func @dense(%x: tensor<4x8xi8>, %w: tensor<6x8xi8>) -> tensor<4x6xi32> {
  %y = te.compute "dense" (%i in 4, %j in 6) reduce (%k in 8) init (0 : i32) {
    %v = te.read %x[%i, %k] : tensor<4x8xi8>
    %u = te.read %w[%j, %k] : tensor<6x8xi8>
    %ve = arith.extsi %v : i8 to i32
    %ue = arith.extsi %u : i8 to i32
    %p = arith.muli %ve, %ue : i32
    te.yield %p : i32
  } combine (%a: i32, %b: i32) {
    %s = arith.addi %a, %b : i32
    te.yield %s : i32
  } : tensor<4x6xi32>
  %z = te.compute "relu" (%i in 4, %j in 6) {
    %v = te.read %y[%i, %j] : tensor<4x6xi32>
    %zero = arith.constant 0 : i32
    %m = arith.maxsi %v, %zero : i32
    te.yield %m : i32
  } : tensor<4x6xi32>
  func.return %z : tensor<4x6xi32>
}
// CHECK: sched.tensorize of loop %ji of kernel @dense: block "dense" does not run in all iterations; split evenly, or peel
sched.sequence @schedule for @dense {
  %b = sched.block "dense"
  %i, %j, %k = sched.loops %b -> 3
  %z = sched.decompose_reduction %b, %i
  %jo, %ji = sched.split %j [2, 4]
  sched.tensorize %ji, @dot
}

// -----

// Constants are part of what it computes.
func.func private @op(%t: memref<6xi32>, %u: memref<6xi32>) attributes {tir.intrinsic} {
  tir.for %j = 0 to 6 {
    tir.block "op" spatial (%a in 6) at [%j] {
      %v = tir.load %u[%a] : memref<6xi32>
      %c = arith.constant 1 : i32
      %r = arith.maxsi %v, %c : i32
      tir.store %r, %t[%a] : memref<6xi32>
    }
  }
  func.return
}
func.func @dense(%x: tensor<4x8xi8>, %w: tensor<6x8xi8>) -> tensor<4x6xi32> {
  %y = te.compute "dense" (%i in 4, %j in 6) reduce (%k in 8) init (0 : i32) {
    %v = te.read %x[%i, %k] : tensor<4x8xi8>
    %u = te.read %w[%j, %k] : tensor<6x8xi8>
    %ve = arith.extsi %v : i8 to i32
    %ue = arith.extsi %u : i8 to i32
    %p = arith.muli %ve, %ue : i32
    te.yield %p : i32
  } combine (%a: i32, %b: i32) {
    %s = arith.addi %a, %b : i32
    te.yield %s : i32
  } : tensor<4x6xi32>
  %z = te.compute "relu" (%i in 4, %j in 6) {
    %v = te.read %y[%i, %j] : tensor<4x6xi32>
    %zero = arith.constant 0 : i32
    %m = arith.maxsi %v, %zero : i32
    te.yield %m : i32
  } : tensor<4x6xi32>
  func.return %z : tensor<4x6xi32>
}
sched.sequence @schedule for @dense {
  %b = sched.block "relu"
  %i, %j = sched.loops %b -> 2
  // CHECK: sched.tensorize of loop %j of kernel @dense: expected %c = arith.constant 1 : i32, got %zero = arith.constant 0 : i32
  sched.tensorize %j, @op
}

// -----

// Two results are too many.
func.func private @op(%t: memref<6xi32>, %u: memref<6xi32>) attributes {tir.intrinsic} {
  tir.for %j = 0 to 6 {
    tir.block "op" spatial (%a in 6) at [%j] {
      %r = tir.load %u[%a] : memref<6xi32>
      tir.store %r, %t[%a] : memref<6xi32>
      tir.store %r, %t[%a] : memref<6xi32>
    }
  }
  func.return
}
func.func @dense(%x: tensor<4x8xi8>, %w: tensor<6x8xi8>) -> tensor<4x6xi32> {
  %y = te.compute "dense" (%i in 4, %j in 6) reduce (%k in 8) init (0 : i32) {
    %v = te.read %x[%i, %k] : tensor<4x8xi8>
    %u = te.read %w[%j, %k] : tensor<6x8xi8>
    %ve = arith.extsi %v : i8 to i32
    %ue = arith.extsi %u : i8 to i32
    %p = arith.muli %ve, %ue : i32
    te.yield %p : i32
  } combine (%a: i32, %b: i32) {
    %s = arith.addi %a, %b : i32
    te.yield %s : i32
  } : tensor<4x6xi32>
  %z = te.compute "relu" (%i in 4, %j in 6) {
    %v = te.read %y[%i, %j] : tensor<4x6xi32>
    %zero = arith.constant 0 : i32
    %m = arith.maxsi %v, %zero : i32
    te.yield %m : i32
  } : tensor<4x6xi32>
  func.return %z : tensor<4x6xi32>
}
sched.sequence @schedule for @dense {
  %b = sched.block "relu"
  %i, %j = sched.loops %b -> 2
  // CHECK: sched.tensorize of loop %j of kernel @dense: expected one result of block "relu" and of the intrinsic, got 1 and 2
  sched.tensorize %j, @op
}

// -----

// Tiles are read along loops.
func.func private @op(%t: memref<6xi32>, %u: memref<6xi32>) attributes {tir.intrinsic} {
  tir.for %j = 0 to 6 {
    tir.block "op" spatial (%a in 6) at [%j] {
      %v = tir.load %u[%a floordiv 2] : memref<6xi32>
      %c = arith.constant 0 : i32
      %r = arith.maxsi %v, %c : i32
      tir.store %r, %t[(%a floordiv 2) * 2 + %a mod 2] : memref<6xi32>
    }
  }
  func.return
}
func.func @dense(%x: tensor<4x8xi8>, %w: tensor<6x8xi8>) -> tensor<4x6xi32> {
  %y = te.compute "dense" (%i in 4, %j in 6) reduce (%k in 8) init (0 : i32) {
    %v = te.read %x[%i, %k] : tensor<4x8xi8>
    %u = te.read %w[%j, %k] : tensor<6x8xi8>
    %ve = arith.extsi %v : i8 to i32
    %ue = arith.extsi %u : i8 to i32
    %p = arith.muli %ve, %ue : i32
    te.yield %p : i32
  } combine (%a: i32, %b: i32) {
    %s = arith.addi %a, %b : i32
    te.yield %s : i32
  } : tensor<4x6xi32>
  %z = te.compute "relu" (%i in 4, %j in 6) {
    %v = te.read %y[%i, %j] : tensor<4x6xi32>
    %zero = arith.constant 0 : i32
    %m = arith.maxsi %v, %zero : i32
    te.yield %m : i32
  } : tensor<4x6xi32>
  func.return %z : tensor<4x6xi32>
}
sched.sequence @schedule for @dense {
  %b = sched.block "relu"
  %i, %j = sched.loops %b -> 2
  // CHECK: sched.tensorize of loop %j of kernel @dense: expected an intrinsic whose indices are sums of its loops
  sched.tensorize %j, @op
}

// -----

// Values that depend on an index are not matched.
func.func private @op(%t: memref<6xi32>, %u: memref<6xi32>) attributes {tir.intrinsic} {
  tir.for %j = 0 to 6 {
    tir.block "op" spatial (%a in 6) at [%j] {
      %x = arith.index_cast %a : index to i32
      %v = tir.load %u[%a] : memref<6xi32>
      %r = arith.addi %v, %x : i32
      tir.store %r, %t[%a] : memref<6xi32>
    }
  }
  func.return
}
func.func @count(%x: tensor<6xi32>) -> tensor<6xi32> {
  %y = te.compute "count" (%j in 6) {
    %v = te.read %x[%j] : tensor<6xi32>
    %i = arith.index_cast %j : index to i32
    %s = arith.addi %v, %i : i32
    te.yield %s : i32
  } : tensor<6xi32>
  func.return %y : tensor<6xi32>
}
sched.sequence @schedule for @count {
  %b = sched.block "count"
  %j = sched.loops %b -> 1
  // CHECK: sched.tensorize of loop %j of kernel @count: expected values that do not depend on an index
  sched.tensorize %j, @op
}

// -----

// It reads tiles, not padding.
func.func private @mac(%t: memref<8xi32>, %u: memref<8xi32>, %v: memref<1xi32>) attributes {tir.intrinsic} {
  tir.for %j = 0 to 8 {
    tir.block "mac" spatial (%a in 8) at [%j] {
      %old = tir.load %t[%a] : memref<8xi32>
      %x = tir.load %u[%a] : memref<8xi32>
      %y = tir.load %v[0] : memref<1xi32>
      %p = arith.muli %x, %y : i32
      %s = arith.addi %old, %p : i32
      tir.store %s, %t[%a] : memref<8xi32>
    }
  }
  func.return
}
func.func @conv(%x: tensor<8xi32>, %w: tensor<3xi32>) -> tensor<8xi32> {
  %y = te.compute "conv" (%i in 8) reduce (%r in 3) init (0 : i32) {
    %c = arith.constant 0 : i32
    %v = te.read %x[%i + %r - 1] else %c : tensor<8xi32>
    %u = te.read %w[%r] : tensor<3xi32>
    %p = arith.muli %v, %u : i32
    te.yield %p : i32
  } combine (%a: i32, %b: i32) {
    %s = arith.addi %a, %b : i32
    te.yield %s : i32
  } : tensor<8xi32>
  func.return %y : tensor<8xi32>
}
sched.sequence @schedule for @conv {
  %b = sched.block "conv"
  %i, %r = sched.loops %b -> 2
  sched.reorder %r, %i
  %z = sched.decompose_reduction %b, %r
  // CHECK: sched.tensorize of loop %i of kernel @conv: block "conv" reads outside a buffer; split_reduction_by_padding first
  sched.tensorize %i, @mac
}
