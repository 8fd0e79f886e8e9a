// RUN: partita-opt %s --split-input-file -p apply-schedules --verify-diagnostics | filecheck %s

// A label must exist.
func.func @matmul(%x: memref<8x6xf32>, %w: memref<6x10xf32>, %y: memref<8x10xf32>) {
  %t = memref.alloc() : memref<8x10xf32>
  tir.for %i = 0 to 8 {
  tir.for %j = 0 to 10 {
  tir.for %k = 0 to 6 {
    tir.block "matmul" spatial (%a in 8, %b in 10) reduce (%c in 6) at [%i, %j, %k] {
      %u = tir.load %x[%a, %c] : memref<8x6xf32>
      %v = tir.load %w[%c, %b] : memref<6x10xf32>
      %p = arith.mulf %u, %v : f32
      %o = tir.load %t[%a, %b] : memref<8x10xf32>
      %s = arith.addf %o, %p : f32
      tir.store %s, %t[%a, %b] : memref<8x10xf32>
    } init (%a, %b) {
      %z = arith.constant 0.0 : f32
      tir.store %z, %t[%a, %b] : memref<8x10xf32>
    }
  }
  }
  }
  tir.for %m = 0 to 8 {
  tir.for %n = 0 to 10 {
    tir.block "relu" spatial (%a in 8, %b in 10) at [%m, %n] {
      %v = tir.load %t[%a, %b] : memref<8x10xf32>
      %z = arith.constant 0.0 : f32
      %r = arith.maximumf %v, %z : f32
      tir.store %r, %y[%a, %b] : memref<8x10xf32>
    }
  }
  }
  func.return
}
sched.sequence @schedule for @matmul {
  // CHECK: sched.block "matmull" of kernel @matmul: no such block; did you mean matmul?
  %b = sched.block "matmull"
}

// -----

// Handles are asked for one by one.
func.func @matmul(%x: memref<8x6xf32>, %w: memref<6x10xf32>, %y: memref<8x10xf32>) {
  %t = memref.alloc() : memref<8x10xf32>
  tir.for %i = 0 to 8 {
  tir.for %j = 0 to 10 {
  tir.for %k = 0 to 6 {
    tir.block "matmul" spatial (%a in 8, %b in 10) reduce (%c in 6) at [%i, %j, %k] {
      %u = tir.load %x[%a, %c] : memref<8x6xf32>
      %v = tir.load %w[%c, %b] : memref<6x10xf32>
      %p = arith.mulf %u, %v : f32
      %o = tir.load %t[%a, %b] : memref<8x10xf32>
      %s = arith.addf %o, %p : f32
      tir.store %s, %t[%a, %b] : memref<8x10xf32>
    } init (%a, %b) {
      %z = arith.constant 0.0 : f32
      tir.store %z, %t[%a, %b] : memref<8x10xf32>
    }
  }
  }
  }
  tir.for %m = 0 to 8 {
  tir.for %n = 0 to 10 {
    tir.block "relu" spatial (%a in 8, %b in 10) at [%m, %n] {
      %v = tir.load %t[%a, %b] : memref<8x10xf32>
      %z = arith.constant 0.0 : f32
      %r = arith.maximumf %v, %z : f32
      tir.store %r, %y[%a, %b] : memref<8x10xf32>
    }
  }
  }
  func.return
}
sched.sequence @schedule for @matmul {
  %b = sched.block "matmul"
  // CHECK: sched.loops of block "matmul" of kernel @matmul: expected 2 loops, got 3
  %l:2 = sched.loops %b -> 2
}

// -----

// A handle ends with what it stands for.
func.func @matmul(%x: memref<8x6xf32>, %w: memref<6x10xf32>, %y: memref<8x10xf32>) {
  %t = memref.alloc() : memref<8x10xf32>
  tir.for %i = 0 to 8 {
  tir.for %j = 0 to 10 {
  tir.for %k = 0 to 6 {
    tir.block "matmul" spatial (%a in 8, %b in 10) reduce (%c in 6) at [%i, %j, %k] {
      %u = tir.load %x[%a, %c] : memref<8x6xf32>
      %v = tir.load %w[%c, %b] : memref<6x10xf32>
      %p = arith.mulf %u, %v : f32
      %o = tir.load %t[%a, %b] : memref<8x10xf32>
      %s = arith.addf %o, %p : f32
      tir.store %s, %t[%a, %b] : memref<8x10xf32>
    } init (%a, %b) {
      %z = arith.constant 0.0 : f32
      tir.store %z, %t[%a, %b] : memref<8x10xf32>
    }
  }
  }
  }
  tir.for %m = 0 to 8 {
  tir.for %n = 0 to 10 {
    tir.block "relu" spatial (%a in 8, %b in 10) at [%m, %n] {
      %v = tir.load %t[%a, %b] : memref<8x10xf32>
      %z = arith.constant 0.0 : f32
      %r = arith.maximumf %v, %z : f32
      tir.store %r, %y[%a, %b] : memref<8x10xf32>
    }
  }
  }
  func.return
}
sched.sequence @schedule for @matmul {
  %b = sched.block "matmul"
  %i, %j, %k = sched.loops %b -> 3
  %o, %p = sched.split %i [?, 2]
  // CHECK: sched.unroll of %i of kernel @matmul: %i stands for what an earlier step replaced
  sched.unroll %i
}

// -----

// Factors must cover the loop.
func.func @matmul(%x: memref<8x6xf32>, %w: memref<6x10xf32>, %y: memref<8x10xf32>) {
  %t = memref.alloc() : memref<8x10xf32>
  tir.for %i = 0 to 8 {
  tir.for %j = 0 to 10 {
  tir.for %k = 0 to 6 {
    tir.block "matmul" spatial (%a in 8, %b in 10) reduce (%c in 6) at [%i, %j, %k] {
      %u = tir.load %x[%a, %c] : memref<8x6xf32>
      %v = tir.load %w[%c, %b] : memref<6x10xf32>
      %p = arith.mulf %u, %v : f32
      %o = tir.load %t[%a, %b] : memref<8x10xf32>
      %s = arith.addf %o, %p : f32
      tir.store %s, %t[%a, %b] : memref<8x10xf32>
    } init (%a, %b) {
      %z = arith.constant 0.0 : f32
      tir.store %z, %t[%a, %b] : memref<8x10xf32>
    }
  }
  }
  }
  tir.for %m = 0 to 8 {
  tir.for %n = 0 to 10 {
    tir.block "relu" spatial (%a in 8, %b in 10) at [%m, %n] {
      %v = tir.load %t[%a, %b] : memref<8x10xf32>
      %z = arith.constant 0.0 : f32
      %r = arith.maximumf %v, %z : f32
      tir.store %r, %y[%a, %b] : memref<8x10xf32>
    }
  }
  }
  func.return
}
sched.sequence @schedule for @matmul {
  %b = sched.block "matmul"
  %i, %j, %k = sched.loops %b -> 3
  // CHECK: sched.split of loop %j of kernel @matmul: expected factors that cover 10 iterations, got 3 * 3 = 9
  %o, %p = sched.split %j [3, 3]
}

// -----

// A loop that has a kind is not split.
func.func @matmul(%x: memref<8x6xf32>, %w: memref<6x10xf32>, %y: memref<8x10xf32>) {
  %t = memref.alloc() : memref<8x10xf32>
  tir.for %i = 0 to 8 {
  tir.for %j = 0 to 10 {
  tir.for %k = 0 to 6 {
    tir.block "matmul" spatial (%a in 8, %b in 10) reduce (%c in 6) at [%i, %j, %k] {
      %u = tir.load %x[%a, %c] : memref<8x6xf32>
      %v = tir.load %w[%c, %b] : memref<6x10xf32>
      %p = arith.mulf %u, %v : f32
      %o = tir.load %t[%a, %b] : memref<8x10xf32>
      %s = arith.addf %o, %p : f32
      tir.store %s, %t[%a, %b] : memref<8x10xf32>
    } init (%a, %b) {
      %z = arith.constant 0.0 : f32
      tir.store %z, %t[%a, %b] : memref<8x10xf32>
    }
  }
  }
  }
  tir.for %m = 0 to 8 {
  tir.for %n = 0 to 10 {
    tir.block "relu" spatial (%a in 8, %b in 10) at [%m, %n] {
      %v = tir.load %t[%a, %b] : memref<8x10xf32>
      %z = arith.constant 0.0 : f32
      %r = arith.maximumf %v, %z : f32
      tir.store %r, %y[%a, %b] : memref<8x10xf32>
    }
  }
  }
  func.return
}
sched.sequence @schedule for @matmul {
  %b = sched.block "matmul"
  %i, %j, %k = sched.loops %b -> 3
  sched.unroll %j
  // CHECK: sched.split of loop %j of kernel @matmul: loop %j is unrolled already
  %o, %p = sched.split %j [?, 2]
}

// -----

// Only directly nested loops are fused.
func.func @matmul(%x: memref<8x6xf32>, %w: memref<6x10xf32>, %y: memref<8x10xf32>) {
  %t = memref.alloc() : memref<8x10xf32>
  tir.for %i = 0 to 8 {
  tir.for %j = 0 to 10 {
  tir.for %k = 0 to 6 {
    tir.block "matmul" spatial (%a in 8, %b in 10) reduce (%c in 6) at [%i, %j, %k] {
      %u = tir.load %x[%a, %c] : memref<8x6xf32>
      %v = tir.load %w[%c, %b] : memref<6x10xf32>
      %p = arith.mulf %u, %v : f32
      %o = tir.load %t[%a, %b] : memref<8x10xf32>
      %s = arith.addf %o, %p : f32
      tir.store %s, %t[%a, %b] : memref<8x10xf32>
    } init (%a, %b) {
      %z = arith.constant 0.0 : f32
      tir.store %z, %t[%a, %b] : memref<8x10xf32>
    }
  }
  }
  }
  tir.for %m = 0 to 8 {
  tir.for %n = 0 to 10 {
    tir.block "relu" spatial (%a in 8, %b in 10) at [%m, %n] {
      %v = tir.load %t[%a, %b] : memref<8x10xf32>
      %z = arith.constant 0.0 : f32
      %r = arith.maximumf %v, %z : f32
      tir.store %r, %y[%a, %b] : memref<8x10xf32>
    }
  }
  }
  func.return
}
sched.sequence @schedule for @matmul {
  %b = sched.block "matmul"
  %i, %j, %k = sched.loops %b -> 3
  // CHECK: sched.fuse of loop %i, loop %k of kernel @matmul: expected loops that are directly nested, outermost first, got loop %i, loop %k
  %f = sched.fuse %i, %k
}

// -----

// Loops of different nests are not reordered.
func.func @matmul(%x: memref<8x6xf32>, %w: memref<6x10xf32>, %y: memref<8x10xf32>) {
  %t = memref.alloc() : memref<8x10xf32>
  tir.for %i = 0 to 8 {
  tir.for %j = 0 to 10 {
  tir.for %k = 0 to 6 {
    tir.block "matmul" spatial (%a in 8, %b in 10) reduce (%c in 6) at [%i, %j, %k] {
      %u = tir.load %x[%a, %c] : memref<8x6xf32>
      %v = tir.load %w[%c, %b] : memref<6x10xf32>
      %p = arith.mulf %u, %v : f32
      %o = tir.load %t[%a, %b] : memref<8x10xf32>
      %s = arith.addf %o, %p : f32
      tir.store %s, %t[%a, %b] : memref<8x10xf32>
    } init (%a, %b) {
      %z = arith.constant 0.0 : f32
      tir.store %z, %t[%a, %b] : memref<8x10xf32>
    }
  }
  }
  }
  tir.for %m = 0 to 8 {
  tir.for %n = 0 to 10 {
    tir.block "relu" spatial (%a in 8, %b in 10) at [%m, %n] {
      %v = tir.load %t[%a, %b] : memref<8x10xf32>
      %z = arith.constant 0.0 : f32
      %r = arith.maximumf %v, %z : f32
      tir.store %r, %y[%a, %b] : memref<8x10xf32>
    }
  }
  }
  func.return
}
sched.sequence @schedule for @matmul {
  %b = sched.block "matmul"
  %i, %j, %k = sched.loops %b -> 3
  %r = sched.block "relu"
  %m, %n = sched.loops %r -> 2
  // CHECK: sched.reorder of loop %i, loop %m of kernel @matmul: loop %m is not perfectly nested in loop %k
  sched.reorder %i, %m
}

// -----

// A loop is named once in an order.
func.func @matmul(%x: memref<8x6xf32>, %w: memref<6x10xf32>, %y: memref<8x10xf32>) {
  %t = memref.alloc() : memref<8x10xf32>
  tir.for %i = 0 to 8 {
  tir.for %j = 0 to 10 {
  tir.for %k = 0 to 6 {
    tir.block "matmul" spatial (%a in 8, %b in 10) reduce (%c in 6) at [%i, %j, %k] {
      %u = tir.load %x[%a, %c] : memref<8x6xf32>
      %v = tir.load %w[%c, %b] : memref<6x10xf32>
      %p = arith.mulf %u, %v : f32
      %o = tir.load %t[%a, %b] : memref<8x10xf32>
      %s = arith.addf %o, %p : f32
      tir.store %s, %t[%a, %b] : memref<8x10xf32>
    } init (%a, %b) {
      %z = arith.constant 0.0 : f32
      tir.store %z, %t[%a, %b] : memref<8x10xf32>
    }
  }
  }
  }
  tir.for %m = 0 to 8 {
  tir.for %n = 0 to 10 {
    tir.block "relu" spatial (%a in 8, %b in 10) at [%m, %n] {
      %v = tir.load %t[%a, %b] : memref<8x10xf32>
      %z = arith.constant 0.0 : f32
      %r = arith.maximumf %v, %z : f32
      tir.store %r, %y[%a, %b] : memref<8x10xf32>
    }
  }
  }
  func.return
}
sched.sequence @schedule for @matmul {
  %b = sched.block "matmul"
  %i, %j, %k = sched.loops %b -> 3
  // CHECK: sched.reorder of loop %i, loop %j, loop %i of kernel @matmul: the same loop is named twice
  sched.reorder %i, %j, %i
}

// -----

// Lanes cannot add to the same sum.
func.func @matmul(%x: memref<8x6xf32>, %w: memref<6x10xf32>, %y: memref<8x10xf32>) {
  %t = memref.alloc() : memref<8x10xf32>
  tir.for %i = 0 to 8 {
  tir.for %j = 0 to 10 {
  tir.for %k = 0 to 6 {
    tir.block "matmul" spatial (%a in 8, %b in 10) reduce (%c in 6) at [%i, %j, %k] {
      %u = tir.load %x[%a, %c] : memref<8x6xf32>
      %v = tir.load %w[%c, %b] : memref<6x10xf32>
      %p = arith.mulf %u, %v : f32
      %o = tir.load %t[%a, %b] : memref<8x10xf32>
      %s = arith.addf %o, %p : f32
      tir.store %s, %t[%a, %b] : memref<8x10xf32>
    } init (%a, %b) {
      %z = arith.constant 0.0 : f32
      tir.store %z, %t[%a, %b] : memref<8x10xf32>
    }
  }
  }
  }
  tir.for %m = 0 to 8 {
  tir.for %n = 0 to 10 {
    tir.block "relu" spatial (%a in 8, %b in 10) at [%m, %n] {
      %v = tir.load %t[%a, %b] : memref<8x10xf32>
      %z = arith.constant 0.0 : f32
      %r = arith.maximumf %v, %z : f32
      tir.store %r, %y[%a, %b] : memref<8x10xf32>
    }
  }
  }
  func.return
}
sched.sequence @schedule for @matmul {
  %b = sched.block "matmul"
  %i, %j, %k = sched.loops %b -> 3
  // CHECK: sched.vectorize of loop %k of kernel @matmul: it carries the reduction over axis %c of block "matmul"
  sched.vectorize %k
}

// -----

// Threads cannot either.
func.func @matmul(%x: memref<8x6xf32>, %w: memref<6x10xf32>, %y: memref<8x10xf32>) {
  %t = memref.alloc() : memref<8x10xf32>
  tir.for %i = 0 to 8 {
  tir.for %j = 0 to 10 {
  tir.for %k = 0 to 6 {
    tir.block "matmul" spatial (%a in 8, %b in 10) reduce (%c in 6) at [%i, %j, %k] {
      %u = tir.load %x[%a, %c] : memref<8x6xf32>
      %v = tir.load %w[%c, %b] : memref<6x10xf32>
      %p = arith.mulf %u, %v : f32
      %o = tir.load %t[%a, %b] : memref<8x10xf32>
      %s = arith.addf %o, %p : f32
      tir.store %s, %t[%a, %b] : memref<8x10xf32>
    } init (%a, %b) {
      %z = arith.constant 0.0 : f32
      tir.store %z, %t[%a, %b] : memref<8x10xf32>
    }
  }
  }
  }
  tir.for %m = 0 to 8 {
  tir.for %n = 0 to 10 {
    tir.block "relu" spatial (%a in 8, %b in 10) at [%m, %n] {
      %v = tir.load %t[%a, %b] : memref<8x10xf32>
      %z = arith.constant 0.0 : f32
      %r = arith.maximumf %v, %z : f32
      tir.store %r, %y[%a, %b] : memref<8x10xf32>
    }
  }
  }
  func.return
}
sched.sequence @schedule for @matmul {
  %b = sched.block "matmul"
  %i, %j, %k = sched.loops %b -> 3
  // CHECK: sched.parallel of loop %k of kernel @matmul: it carries the reduction over axis %c of block "matmul"
  sched.parallel %k
}

// -----

// What threads compute for each of them needs a buffer of its own.
func.func @window(%x: memref<10xf32>, %y: memref<8xf32>) {
  %t = memref.alloc() : memref<10xf32>
  tir.for %h = 0 to 10 {
    tir.block "copy" spatial (%a in 10) at [%h] {
      %v = tir.load %x[%a] : memref<10xf32>
      tir.store %v, %t[%a] : memref<10xf32>
    }
  }
  tir.for %i = 0 to 8 {
  tir.for %r = 0 to 3 {
    tir.block "sum" spatial (%a in 8) reduce (%b in 3) at [%i, %r] {
      %v = tir.load %t[%a + %b] : memref<10xf32>
      %o = tir.load %y[%a] : memref<8xf32>
      %s = arith.addf %o, %v : f32
      tir.store %s, %y[%a] : memref<8xf32>
    } init (%a) {
      %z = arith.constant 0.0 : f32
      tir.store %z, %y[%a] : memref<8xf32>
    }
  }
  }
  func.return
}
// CHECK: sched.parallel of loop %i of kernel @window: cannot prove that its iterations write different elements of what block "copy" writes; set_scope local, or move the block out of the loop
sched.sequence @schedule for @window {
  %b = sched.block "copy"
  %s = sched.block "sum"
  %i, %r = sched.loops %s -> 2
  sched.compute_at %b, %i
  sched.parallel %i
}

// -----

// Local buffers fit on a stack.
func.func @big(%x: memref<2x80000xf32>, %y: memref<2x80000xf32>) {
  %t = memref.alloc() : memref<2x80000xf32>
  tir.for %h = 0 to 2 {
  tir.for %k = 0 to 80000 {
    tir.block "copy" spatial (%a in 2, %b in 80000) at [%h, %k] {
      %v = tir.load %x[%a, %b] : memref<2x80000xf32>
      tir.store %v, %t[%a, %b] : memref<2x80000xf32>
    }
  }
  }
  tir.for %i = 0 to 2 {
  tir.for %j = 0 to 80000 {
    tir.block "exp" spatial (%a in 2, %b in 80000) at [%i, %j] {
      %v = tir.load %t[%a, %b] : memref<2x80000xf32>
      %e = math.exp %v : f32
      tir.store %e, %y[%a, %b] : memref<2x80000xf32>
    }
  }
  }
  func.return
}
// CHECK: sched.sequence of kernel @big: expected local buffers of at most 262144 bytes, got 320000
sched.sequence @schedule for @big {
  %b = sched.block "copy"
  %s = sched.block "exp"
  %i, %j = sched.loops %s -> 2
  sched.compute_at %b, %i
  sched.set_scope %b, "local"
}

// -----

// A reduction is not computed where it is read.
func.func @matmul(%x: memref<8x6xf32>, %w: memref<6x10xf32>, %y: memref<8x10xf32>) {
  %t = memref.alloc() : memref<8x10xf32>
  tir.for %i = 0 to 8 {
  tir.for %j = 0 to 10 {
  tir.for %k = 0 to 6 {
    tir.block "matmul" spatial (%a in 8, %b in 10) reduce (%c in 6) at [%i, %j, %k] {
      %u = tir.load %x[%a, %c] : memref<8x6xf32>
      %v = tir.load %w[%c, %b] : memref<6x10xf32>
      %p = arith.mulf %u, %v : f32
      %o = tir.load %t[%a, %b] : memref<8x10xf32>
      %s = arith.addf %o, %p : f32
      tir.store %s, %t[%a, %b] : memref<8x10xf32>
    } init (%a, %b) {
      %z = arith.constant 0.0 : f32
      tir.store %z, %t[%a, %b] : memref<8x10xf32>
    }
  }
  }
  }
  tir.for %m = 0 to 8 {
  tir.for %n = 0 to 10 {
    tir.block "relu" spatial (%a in 8, %b in 10) at [%m, %n] {
      %v = tir.load %t[%a, %b] : memref<8x10xf32>
      %z = arith.constant 0.0 : f32
      %r = arith.maximumf %v, %z : f32
      tir.store %r, %y[%a, %b] : memref<8x10xf32>
    }
  }
  }
  func.return
}
sched.sequence @schedule for @matmul {
  %b = sched.block "matmul"
  %i, %j, %k = sched.loops %b -> 3
  // CHECK: sched.compute_inline of block "matmul" of kernel @matmul: block "matmul" is a reduction
  sched.compute_inline %b
}

// -----

// What the caller gets is not inlined.
func.func @matmul(%x: memref<8x6xf32>, %w: memref<6x10xf32>, %y: memref<8x10xf32>) {
  %t = memref.alloc() : memref<8x10xf32>
  tir.for %i = 0 to 8 {
  tir.for %j = 0 to 10 {
  tir.for %k = 0 to 6 {
    tir.block "matmul" spatial (%a in 8, %b in 10) reduce (%c in 6) at [%i, %j, %k] {
      %u = tir.load %x[%a, %c] : memref<8x6xf32>
      %v = tir.load %w[%c, %b] : memref<6x10xf32>
      %p = arith.mulf %u, %v : f32
      %o = tir.load %t[%a, %b] : memref<8x10xf32>
      %s = arith.addf %o, %p : f32
      tir.store %s, %t[%a, %b] : memref<8x10xf32>
    } init (%a, %b) {
      %z = arith.constant 0.0 : f32
      tir.store %z, %t[%a, %b] : memref<8x10xf32>
    }
  }
  }
  }
  tir.for %m = 0 to 8 {
  tir.for %n = 0 to 10 {
    tir.block "relu" spatial (%a in 8, %b in 10) at [%m, %n] {
      %v = tir.load %t[%a, %b] : memref<8x10xf32>
      %z = arith.constant 0.0 : f32
      %r = arith.maximumf %v, %z : f32
      tir.store %r, %y[%a, %b] : memref<8x10xf32>
    }
  }
  }
  func.return
}
sched.sequence @schedule for @matmul {
  %r = sched.block "relu"
  %m, %n = sched.loops %r -> 2
  // CHECK: sched.compute_inline of block "relu" of kernel @matmul: block "relu" writes %y, which belongs to the caller
  sched.compute_inline %r
}

// -----

// A reduction moves before it is decomposed.
func.func @matmul(%x: memref<8x6xf32>, %w: memref<6x10xf32>, %y: memref<8x10xf32>) {
  %t = memref.alloc() : memref<8x10xf32>
  tir.for %i = 0 to 8 {
  tir.for %j = 0 to 10 {
  tir.for %k = 0 to 6 {
    tir.block "matmul" spatial (%a in 8, %b in 10) reduce (%c in 6) at [%i, %j, %k] {
      %u = tir.load %x[%a, %c] : memref<8x6xf32>
      %v = tir.load %w[%c, %b] : memref<6x10xf32>
      %p = arith.mulf %u, %v : f32
      %o = tir.load %t[%a, %b] : memref<8x10xf32>
      %s = arith.addf %o, %p : f32
      tir.store %s, %t[%a, %b] : memref<8x10xf32>
    } init (%a, %b) {
      %z = arith.constant 0.0 : f32
      tir.store %z, %t[%a, %b] : memref<8x10xf32>
    }
  }
  }
  }
  tir.for %m = 0 to 8 {
  tir.for %n = 0 to 10 {
    tir.block "relu" spatial (%a in 8, %b in 10) at [%m, %n] {
      %v = tir.load %t[%a, %b] : memref<8x10xf32>
      %z = arith.constant 0.0 : f32
      %r = arith.maximumf %v, %z : f32
      tir.store %r, %y[%a, %b] : memref<8x10xf32>
    }
  }
  }
  func.return
}
sched.sequence @schedule for @matmul {
  %b = sched.block "matmul"
  %i, %j, %k = sched.loops %b -> 3
  %r = sched.block "relu"
  %m, %n = sched.loops %r -> 2
  %init = sched.decompose_reduction %b, %k
  // CHECK: sched.compute_at of block "matmul", loop %m of kernel @matmul: block "matmul_init" writes the same as block "matmul"; move it before decompose_reduction
  sched.compute_at %b, %m
}

// -----

// All loops of a reduction are behind its init.
func.func @matmul(%x: memref<8x6xf32>, %w: memref<6x10xf32>, %y: memref<8x10xf32>) {
  %t = memref.alloc() : memref<8x10xf32>
  tir.for %i = 0 to 8 {
  tir.for %j = 0 to 10 {
  tir.for %k = 0 to 6 {
    tir.block "matmul" spatial (%a in 8, %b in 10) reduce (%c in 6) at [%i, %j, %k] {
      %u = tir.load %x[%a, %c] : memref<8x6xf32>
      %v = tir.load %w[%c, %b] : memref<6x10xf32>
      %p = arith.mulf %u, %v : f32
      %o = tir.load %t[%a, %b] : memref<8x10xf32>
      %s = arith.addf %o, %p : f32
      tir.store %s, %t[%a, %b] : memref<8x10xf32>
    } init (%a, %b) {
      %z = arith.constant 0.0 : f32
      tir.store %z, %t[%a, %b] : memref<8x10xf32>
    }
  }
  }
  }
  tir.for %m = 0 to 8 {
  tir.for %n = 0 to 10 {
    tir.block "relu" spatial (%a in 8, %b in 10) at [%m, %n] {
      %v = tir.load %t[%a, %b] : memref<8x10xf32>
      %z = arith.constant 0.0 : f32
      %r = arith.maximumf %v, %z : f32
      tir.store %r, %y[%a, %b] : memref<8x10xf32>
    }
  }
  }
  func.return
}
sched.sequence @schedule for @matmul {
  %b = sched.block "matmul"
  %i, %j, %k = sched.loops %b -> 3
  sched.reorder %k, %j
  // CHECK: sched.decompose_reduction of block "matmul", loop %j of kernel @matmul: loop %k around it carries the reduction of block "matmul"
  %init = sched.decompose_reduction %b, %j
}

// -----

// A block without init has none to separate.
func.func @matmul(%x: memref<8x6xf32>, %w: memref<6x10xf32>, %y: memref<8x10xf32>) {
  %t = memref.alloc() : memref<8x10xf32>
  tir.for %i = 0 to 8 {
  tir.for %j = 0 to 10 {
  tir.for %k = 0 to 6 {
    tir.block "matmul" spatial (%a in 8, %b in 10) reduce (%c in 6) at [%i, %j, %k] {
      %u = tir.load %x[%a, %c] : memref<8x6xf32>
      %v = tir.load %w[%c, %b] : memref<6x10xf32>
      %p = arith.mulf %u, %v : f32
      %o = tir.load %t[%a, %b] : memref<8x10xf32>
      %s = arith.addf %o, %p : f32
      tir.store %s, %t[%a, %b] : memref<8x10xf32>
    } init (%a, %b) {
      %z = arith.constant 0.0 : f32
      tir.store %z, %t[%a, %b] : memref<8x10xf32>
    }
  }
  }
  }
  tir.for %m = 0 to 8 {
  tir.for %n = 0 to 10 {
    tir.block "relu" spatial (%a in 8, %b in 10) at [%m, %n] {
      %v = tir.load %t[%a, %b] : memref<8x10xf32>
      %z = arith.constant 0.0 : f32
      %r = arith.maximumf %v, %z : f32
      tir.store %r, %y[%a, %b] : memref<8x10xf32>
    }
  }
  }
  func.return
}
sched.sequence @schedule for @matmul {
  %r = sched.block "relu"
  %m, %n = sched.loops %r -> 2
  // CHECK: sched.decompose_reduction of block "relu", loop %n of kernel @matmul: block "relu" has no init
  %init = sched.decompose_reduction %r, %n
}

// -----

// The loop must be around the block.
func.func @matmul(%x: memref<8x6xf32>, %w: memref<6x10xf32>, %y: memref<8x10xf32>) {
  %t = memref.alloc() : memref<8x10xf32>
  tir.for %i = 0 to 8 {
  tir.for %j = 0 to 10 {
  tir.for %k = 0 to 6 {
    tir.block "matmul" spatial (%a in 8, %b in 10) reduce (%c in 6) at [%i, %j, %k] {
      %u = tir.load %x[%a, %c] : memref<8x6xf32>
      %v = tir.load %w[%c, %b] : memref<6x10xf32>
      %p = arith.mulf %u, %v : f32
      %o = tir.load %t[%a, %b] : memref<8x10xf32>
      %s = arith.addf %o, %p : f32
      tir.store %s, %t[%a, %b] : memref<8x10xf32>
    } init (%a, %b) {
      %z = arith.constant 0.0 : f32
      tir.store %z, %t[%a, %b] : memref<8x10xf32>
    }
  }
  }
  }
  tir.for %m = 0 to 8 {
  tir.for %n = 0 to 10 {
    tir.block "relu" spatial (%a in 8, %b in 10) at [%m, %n] {
      %v = tir.load %t[%a, %b] : memref<8x10xf32>
      %z = arith.constant 0.0 : f32
      %r = arith.maximumf %v, %z : f32
      tir.store %r, %y[%a, %b] : memref<8x10xf32>
    }
  }
  }
  func.return
}
sched.sequence @schedule for @matmul {
  %b = sched.block "matmul"
  %i, %j, %k = sched.loops %b -> 3
  %r = sched.block "relu"
  %m, %n = sched.loops %r -> 2
  // CHECK: sched.decompose_reduction of block "matmul", loop %n of kernel @matmul: block "matmul" does not stand in loop %n
  %init = sched.decompose_reduction %b, %n
}

// -----

// A consumer runs where sums are complete.
func.func @matmul(%x: memref<8x6xf32>, %w: memref<6x10xf32>, %y: memref<8x10xf32>) {
  %t = memref.alloc() : memref<8x10xf32>
  tir.for %i = 0 to 8 {
  tir.for %j = 0 to 10 {
  tir.for %k = 0 to 6 {
    tir.block "matmul" spatial (%a in 8, %b in 10) reduce (%c in 6) at [%i, %j, %k] {
      %u = tir.load %x[%a, %c] : memref<8x6xf32>
      %v = tir.load %w[%c, %b] : memref<6x10xf32>
      %p = arith.mulf %u, %v : f32
      %o = tir.load %t[%a, %b] : memref<8x10xf32>
      %s = arith.addf %o, %p : f32
      tir.store %s, %t[%a, %b] : memref<8x10xf32>
    } init (%a, %b) {
      %z = arith.constant 0.0 : f32
      tir.store %z, %t[%a, %b] : memref<8x10xf32>
    }
  }
  }
  }
  tir.for %m = 0 to 8 {
  tir.for %n = 0 to 10 {
    tir.block "relu" spatial (%a in 8, %b in 10) at [%m, %n] {
      %v = tir.load %t[%a, %b] : memref<8x10xf32>
      %z = arith.constant 0.0 : f32
      %r = arith.maximumf %v, %z : f32
      tir.store %r, %y[%a, %b] : memref<8x10xf32>
    }
  }
  }
  func.return
}
sched.sequence @schedule for @matmul {
  %b = sched.block "matmul"
  %i, %j, %k = sched.loops %b -> 3
  %r = sched.block "relu"
  %m, %n = sched.loops %r -> 2
  // CHECK: sched.reverse_compute_at of block "relu", loop %k of kernel @matmul: the reduction of block "matmul" is not complete there: loop %k carries it
  sched.reverse_compute_at %r, %k
}

// -----

// A consumer moves to what it reads.
func.func @matmul(%x: memref<8x6xf32>, %w: memref<6x10xf32>, %y: memref<8x10xf32>) {
  %t = memref.alloc() : memref<8x10xf32>
  tir.for %i = 0 to 8 {
  tir.for %j = 0 to 10 {
  tir.for %k = 0 to 6 {
    tir.block "matmul" spatial (%a in 8, %b in 10) reduce (%c in 6) at [%i, %j, %k] {
      %u = tir.load %x[%a, %c] : memref<8x6xf32>
      %v = tir.load %w[%c, %b] : memref<6x10xf32>
      %p = arith.mulf %u, %v : f32
      %o = tir.load %t[%a, %b] : memref<8x10xf32>
      %s = arith.addf %o, %p : f32
      tir.store %s, %t[%a, %b] : memref<8x10xf32>
    } init (%a, %b) {
      %z = arith.constant 0.0 : f32
      tir.store %z, %t[%a, %b] : memref<8x10xf32>
    }
  }
  }
  }
  tir.for %m = 0 to 8 {
  tir.for %n = 0 to 10 {
    tir.block "relu" spatial (%a in 8, %b in 10) at [%m, %n] {
      %v = tir.load %t[%a, %b] : memref<8x10xf32>
      %z = arith.constant 0.0 : f32
      %r = arith.maximumf %v, %z : f32
      tir.store %r, %y[%a, %b] : memref<8x10xf32>
    }
  }
  }
  func.return
}
sched.sequence @schedule for @matmul {
  %b = sched.block "matmul"
  %i, %j, %k = sched.loops %b -> 3
  %r = sched.block "relu"
  %m, %n = sched.loops %r -> 2
  // CHECK: sched.reverse_compute_at of block "matmul", loop %n of kernel @matmul: block "matmul" reads nothing that is written in loop %n
  sched.reverse_compute_at %b, %n
}

// -----

// A block is not moved into a loop that it stands in.
func.func @matmul(%x: memref<8x6xf32>, %w: memref<6x10xf32>, %y: memref<8x10xf32>) {
  %t = memref.alloc() : memref<8x10xf32>
  tir.for %i = 0 to 8 {
  tir.for %j = 0 to 10 {
  tir.for %k = 0 to 6 {
    tir.block "matmul" spatial (%a in 8, %b in 10) reduce (%c in 6) at [%i, %j, %k] {
      %u = tir.load %x[%a, %c] : memref<8x6xf32>
      %v = tir.load %w[%c, %b] : memref<6x10xf32>
      %p = arith.mulf %u, %v : f32
      %o = tir.load %t[%a, %b] : memref<8x10xf32>
      %s = arith.addf %o, %p : f32
      tir.store %s, %t[%a, %b] : memref<8x10xf32>
    } init (%a, %b) {
      %z = arith.constant 0.0 : f32
      tir.store %z, %t[%a, %b] : memref<8x10xf32>
    }
  }
  }
  }
  tir.for %m = 0 to 8 {
  tir.for %n = 0 to 10 {
    tir.block "relu" spatial (%a in 8, %b in 10) at [%m, %n] {
      %v = tir.load %t[%a, %b] : memref<8x10xf32>
      %z = arith.constant 0.0 : f32
      %r = arith.maximumf %v, %z : f32
      tir.store %r, %y[%a, %b] : memref<8x10xf32>
    }
  }
  }
  func.return
}
sched.sequence @schedule for @matmul {
  %b = sched.block "matmul"
  %i, %j, %k = sched.loops %b -> 3
  // CHECK: sched.compute_at of block "matmul", loop %j of kernel @matmul: block "matmul" stands in loop %j already
  sched.compute_at %b, %j
}

// -----

// All readers are in the loop.
func.func @chain(%x: memref<8xf32>, %y: memref<8xf32>, %z: memref<8xf32>) {
  %t = memref.alloc() : memref<8xf32>
  tir.for %i = 0 to 8 {
    tir.block "copy" spatial (%a in 8) at [%i] {
      %v = tir.load %x[%a] : memref<8xf32>
      tir.store %v, %t[%a] : memref<8xf32>
    }
  }
  tir.for %j = 0 to 8 {
    tir.block "reverse" spatial (%a in 8) at [%j] {
      %v = tir.load %t[7 - %a] : memref<8xf32>
      tir.store %v, %y[%a] : memref<8xf32>
    }
  }
  tir.for %k = 0 to 8 {
    tir.block "exp" spatial (%a in 8) at [%k] {
      %v = tir.load %t[%a] : memref<8xf32>
      %e = math.exp %v : f32
      tir.store %e, %z[%a] : memref<8xf32>
    }
  }
  func.return
}
sched.sequence @schedule for @chain {
  %c = sched.block "copy"
  %i = sched.loops %c -> 1
  %v = sched.block "reverse"
  %j = sched.loops %v -> 1
  %e = sched.block "exp"
  %k = sched.loops %e -> 1
  // CHECK: sched.compute_at of block "copy", loop %j of kernel @chain: block "exp", which reads it, does not stand in loop %j
  sched.compute_at %c, %j
}

// -----

// What the caller gets cannot be partly computed.
func.func @chain(%x: memref<8xf32>, %y: memref<8xf32>, %z: memref<8xf32>) {
  %t = memref.alloc() : memref<8xf32>
  tir.for %i = 0 to 8 {
    tir.block "copy" spatial (%a in 8) at [%i] {
      %v = tir.load %x[%a] : memref<8xf32>
      tir.store %v, %t[%a] : memref<8xf32>
    }
  }
  tir.for %j = 0 to 8 {
    tir.block "reverse" spatial (%a in 8) at [%j] {
      %v = tir.load %t[7 - %a] : memref<8xf32>
      tir.store %v, %y[%a] : memref<8xf32>
    }
  }
  tir.for %k = 0 to 8 {
    tir.block "exp" spatial (%a in 8) at [%k] {
      %v = tir.load %t[%a] : memref<8xf32>
      %e = math.exp %v : f32
      tir.store %e, %z[%a] : memref<8xf32>
    }
  }
  func.return
}
sched.sequence @schedule for @chain {
  %c = sched.block "copy"
  %i = sched.loops %c -> 1
  %v = sched.block "reverse"
  %j = sched.loops %v -> 1
  %e = sched.block "exp"
  %k = sched.loops %e -> 1
  // CHECK: sched.compute_at of block "reverse", loop %k of kernel @chain: block "reverse" writes %y, which belongs to the caller
  sched.compute_at %v, %k
}

// -----

// A part that is complete must be a part of the consumer's axes.
func.func @chain(%x: memref<8xf32>, %y: memref<8xf32>, %z: memref<8xf32>) {
  %t = memref.alloc() : memref<8xf32>
  tir.for %i = 0 to 8 {
    tir.block "copy" spatial (%a in 8) at [%i] {
      %v = tir.load %x[%a] : memref<8xf32>
      tir.store %v, %t[%a] : memref<8xf32>
    }
  }
  tir.for %j = 0 to 8 {
    tir.block "reverse" spatial (%a in 8) at [%j] {
      %v = tir.load %t[7 - %a] : memref<8xf32>
      tir.store %v, %y[%a] : memref<8xf32>
    }
  }
  tir.for %k = 0 to 8 {
    tir.block "exp" spatial (%a in 8) at [%k] {
      %v = tir.load %t[%a] : memref<8xf32>
      %e = math.exp %v : f32
      tir.store %e, %z[%a] : memref<8xf32>
    }
  }
  func.return
}
sched.sequence @schedule for @chain {
  %c = sched.block "copy"
  %i = sched.loops %c -> 1
  %v = sched.block "reverse"
  %j = sched.loops %v -> 1
  %e = sched.block "exp"
  %k = sched.loops %e -> 1
  // CHECK: sched.reverse_compute_at of block "reverse", loop %i of kernel @chain: block "reverse" reads dimension 0 of %t at an index that is not an axis plus a constant
  sched.reverse_compute_at %v, %i
}

// -----

// The caller's buffers keep their scope.
func.func @chain(%x: memref<8xf32>, %y: memref<8xf32>, %z: memref<8xf32>) {
  %t = memref.alloc() : memref<8xf32>
  tir.for %i = 0 to 8 {
    tir.block "copy" spatial (%a in 8) at [%i] {
      %v = tir.load %x[%a] : memref<8xf32>
      tir.store %v, %t[%a] : memref<8xf32>
    }
  }
  tir.for %j = 0 to 8 {
    tir.block "reverse" spatial (%a in 8) at [%j] {
      %v = tir.load %t[7 - %a] : memref<8xf32>
      tir.store %v, %y[%a] : memref<8xf32>
    }
  }
  tir.for %k = 0 to 8 {
    tir.block "exp" spatial (%a in 8) at [%k] {
      %v = tir.load %t[%a] : memref<8xf32>
      %e = math.exp %v : f32
      tir.store %e, %z[%a] : memref<8xf32>
    }
  }
  func.return
}
sched.sequence @schedule for @chain {
  %c = sched.block "copy"
  %i = sched.loops %c -> 1
  %v = sched.block "reverse"
  %j = sched.loops %v -> 1
  %e = sched.block "exp"
  %k = sched.loops %e -> 1
  // CHECK: sched.set_scope of block "reverse" of kernel @chain: block "reverse" writes %y, which belongs to the caller
  sched.set_scope %v, "local"
}

// -----

// A schedule is for a kernel with a body.
// CHECK: expected a kernel @missing with a body, got none
sched.sequence @schedule for @missing {
}

// -----

// A schedule holds steps only.
func.func @empty() {
  func.return
}
sched.sequence @schedule for @empty {
  // CHECK: expected a step of a schedule, got arith.constant
  %c = arith.constant 0 : index
}
