// RUN: partita-opt %s --split-input-file -p apply-schedules --verify-diagnostics | filecheck %s

// What there is, is listed where no label is near.
func.func @dense(%x: memref<4x8xf32>, %w: memref<6x8xf32>, %z: memref<4x6xf32>) {
  %y = memref.alloc() : memref<4x6xf32>
  tir.for %i = 0 to 4 {
    tir.for %j = 0 to 6 {
      tir.for %k = 0 to 8 {
        tir.block "dense" spatial (%a in 4, %b in 6) reduce (%c in 8) at [%i, %j, %k] {
          %u = tir.load %x[%a, %c] : memref<4x8xf32>
          %v = tir.load %w[%b, %c] : memref<6x8xf32>
          %p = arith.mulf %u, %v : f32
          %o = tir.load %y[%a, %b] : memref<4x6xf32>
          %s = arith.addf %o, %p : f32
          tir.store %s, %y[%a, %b] : memref<4x6xf32>
        } init (%a, %b) {
          %zero = arith.constant 0.0 : f32
          tir.store %zero, %y[%a, %b] : memref<4x6xf32>
        }
      }
    }
  }
  tir.for %r = 0 to 4 {
    tir.for %c = 0 to 6 {
      tir.block "neg" spatial (%a in 4, %b in 6) at [%r, %c] {
        %v = tir.load %y[%a, %b] : memref<4x6xf32>
        %n = arith.negf %v : f32
        tir.store %n, %z[%a, %b] : memref<4x6xf32>
      }
    }
  }
  func.return
}
sched.sequence @schedule for @dense {
  // CHECK: sched.block "softmax" of kernel @dense: no such block; there is dense, neg
  %b = sched.block "softmax"
}

// -----

// Something has to be fused.
func.func @dense(%x: memref<4x8xf32>, %w: memref<6x8xf32>, %z: memref<4x6xf32>) {
  %y = memref.alloc() : memref<4x6xf32>
  tir.for %i = 0 to 4 {
    tir.for %j = 0 to 6 {
      tir.for %k = 0 to 8 {
        tir.block "dense" spatial (%a in 4, %b in 6) reduce (%c in 8) at [%i, %j, %k] {
          %u = tir.load %x[%a, %c] : memref<4x8xf32>
          %v = tir.load %w[%b, %c] : memref<6x8xf32>
          %p = arith.mulf %u, %v : f32
          %o = tir.load %y[%a, %b] : memref<4x6xf32>
          %s = arith.addf %o, %p : f32
          tir.store %s, %y[%a, %b] : memref<4x6xf32>
        } init (%a, %b) {
          %zero = arith.constant 0.0 : f32
          tir.store %zero, %y[%a, %b] : memref<4x6xf32>
        }
      }
    }
  }
  tir.for %r = 0 to 4 {
    tir.for %c = 0 to 6 {
      tir.block "neg" spatial (%a in 4, %b in 6) at [%r, %c] {
        %v = tir.load %y[%a, %b] : memref<4x6xf32>
        %n = arith.negf %v : f32
        tir.store %n, %z[%a, %b] : memref<4x6xf32>
      }
    }
  }
  func.return
}
sched.sequence @schedule for @dense {
  // CHECK: sched.fuse of kernel @dense: expected at least one loop
  %f = sched.fuse
}

// -----

// Something has to be reordered.
func.func @dense(%x: memref<4x8xf32>, %w: memref<6x8xf32>, %z: memref<4x6xf32>) {
  %y = memref.alloc() : memref<4x6xf32>
  tir.for %i = 0 to 4 {
    tir.for %j = 0 to 6 {
      tir.for %k = 0 to 8 {
        tir.block "dense" spatial (%a in 4, %b in 6) reduce (%c in 8) at [%i, %j, %k] {
          %u = tir.load %x[%a, %c] : memref<4x8xf32>
          %v = tir.load %w[%b, %c] : memref<6x8xf32>
          %p = arith.mulf %u, %v : f32
          %o = tir.load %y[%a, %b] : memref<4x6xf32>
          %s = arith.addf %o, %p : f32
          tir.store %s, %y[%a, %b] : memref<4x6xf32>
        } init (%a, %b) {
          %zero = arith.constant 0.0 : f32
          tir.store %zero, %y[%a, %b] : memref<4x6xf32>
        }
      }
    }
  }
  tir.for %r = 0 to 4 {
    tir.for %c = 0 to 6 {
      tir.block "neg" spatial (%a in 4, %b in 6) at [%r, %c] {
        %v = tir.load %y[%a, %b] : memref<4x6xf32>
        %n = arith.negf %v : f32
        tir.store %n, %z[%a, %b] : memref<4x6xf32>
      }
    }
  }
  func.return
}
sched.sequence @schedule for @dense {
  // CHECK: sched.reorder of kernel @dense: expected at least one loop
  sched.reorder
}

// -----

// A fused loop may be of two kinds.
func.func @dense(%x: memref<4x8xf32>, %w: memref<6x8xf32>, %z: memref<4x6xf32>) {
  %y = memref.alloc() : memref<4x6xf32>
  tir.for %i = 0 to 4 {
    tir.for %j = 0 to 6 {
      tir.for %k = 0 to 8 {
        tir.block "dense" spatial (%a in 4, %b in 6) reduce (%c in 8) at [%i, %j, %k] {
          %u = tir.load %x[%a, %c] : memref<4x8xf32>
          %v = tir.load %w[%b, %c] : memref<6x8xf32>
          %p = arith.mulf %u, %v : f32
          %o = tir.load %y[%a, %b] : memref<4x6xf32>
          %s = arith.addf %o, %p : f32
          tir.store %s, %y[%a, %b] : memref<4x6xf32>
        } init (%a, %b) {
          %zero = arith.constant 0.0 : f32
          tir.store %zero, %y[%a, %b] : memref<4x6xf32>
        }
      }
    }
  }
  tir.for %r = 0 to 4 {
    tir.for %c = 0 to 6 {
      tir.block "neg" spatial (%a in 4, %b in 6) at [%r, %c] {
        %v = tir.load %y[%a, %b] : memref<4x6xf32>
        %n = arith.negf %v : f32
        tir.store %n, %z[%a, %b] : memref<4x6xf32>
      }
    }
  }
  func.return
}
sched.sequence @schedule for @dense {
  %b = sched.block "dense"
  %i, %j, %k = sched.loops %b -> 3
  %f = sched.fuse %j, %k
  // CHECK: sched.decompose_reduction of block "dense", loop %jk of kernel @dense: loop %jk runs over reduction and spatial axes at once
  %z = sched.decompose_reduction %b, %f
}

// -----

// Who reads in the same loops would read too early.
func.func @dense(%x: memref<4x8xf32>, %w: memref<6x8xf32>, %z: memref<4x6xf32>) {
  %y = memref.alloc() : memref<4x6xf32>
  tir.for %i = 0 to 4 {
    tir.for %j = 0 to 6 {
      tir.for %k = 0 to 8 {
        tir.block "dense" spatial (%a in 4, %b in 6) reduce (%c in 8) at [%i, %j, %k] {
          %u = tir.load %x[%a, %c] : memref<4x8xf32>
          %v = tir.load %w[%b, %c] : memref<6x8xf32>
          %p = arith.mulf %u, %v : f32
          %o = tir.load %y[%a, %b] : memref<4x6xf32>
          %s = arith.addf %o, %p : f32
          tir.store %s, %y[%a, %b] : memref<4x6xf32>
        } init (%a, %b) {
          %zero = arith.constant 0.0 : f32
          tir.store %zero, %y[%a, %b] : memref<4x6xf32>
        }
      }
    }
  }
  tir.for %r = 0 to 4 {
    tir.for %c = 0 to 6 {
      tir.block "neg" spatial (%a in 4, %b in 6) at [%r, %c] {
        %v = tir.load %y[%a, %b] : memref<4x6xf32>
        %n = arith.negf %v : f32
        tir.store %n, %z[%a, %b] : memref<4x6xf32>
      }
    }
  }
  func.return
}
sched.sequence @schedule for @dense {
  %b = sched.block "dense"
  %i, %j, %k = sched.loops %b -> 3
  %n = sched.block "neg"
  sched.reverse_compute_at %n, %j
  // CHECK: sched.cache_write of block "dense" of kernel @dense: block "neg" in the same loops reads what it writes; cache_write first
  %c = sched.cache_write %b, "local"
}

// -----

// First values are not all that is needed.
func.func @dense(%x: memref<4x8xf32>, %w: memref<6x8xf32>, %z: memref<4x6xf32>) {
  %y = memref.alloc() : memref<4x6xf32>
  tir.for %i = 0 to 4 {
    tir.for %j = 0 to 6 {
      tir.for %k = 0 to 8 {
        tir.block "dense" spatial (%a in 4, %b in 6) reduce (%c in 8) at [%i, %j, %k] {
          %u = tir.load %x[%a, %c] : memref<4x8xf32>
          %v = tir.load %w[%b, %c] : memref<6x8xf32>
          %p = arith.mulf %u, %v : f32
          %o = tir.load %y[%a, %b] : memref<4x6xf32>
          %s = arith.addf %o, %p : f32
          tir.store %s, %y[%a, %b] : memref<4x6xf32>
        } init (%a, %b) {
          %zero = arith.constant 0.0 : f32
          tir.store %zero, %y[%a, %b] : memref<4x6xf32>
        }
      }
    }
  }
  tir.for %r = 0 to 4 {
    tir.for %c = 0 to 6 {
      tir.block "neg" spatial (%a in 4, %b in 6) at [%r, %c] {
        %v = tir.load %y[%a, %b] : memref<4x6xf32>
        %n = arith.negf %v : f32
        tir.store %n, %z[%a, %b] : memref<4x6xf32>
      }
    }
  }
  func.return
}
sched.sequence @schedule for @dense {
  %b = sched.block "dense"
  %i, %j, %k = sched.loops %b -> 3
  %z = sched.decompose_reduction %b, %i
  %n = sched.block "neg"
  // CHECK: sched.reverse_compute_at of block "neg", loop %j of kernel @dense: block "dense_init", which it reads, is not complete in loop %j
  sched.reverse_compute_at %n, %j
}

// -----

// Buffers are cached one by one.
func.func @pair(%x: memref<8xf32>, %y: memref<8xf32>) {
  %t = memref.alloc() : memref<8xf32>
  %u = memref.alloc() : memref<8xf32>
  tir.for %i = 0 to 8 {
    tir.block "first" spatial (%a in 8) at [%i] {
      %v = tir.load %x[%a] : memref<8xf32>
      tir.store %v, %t[%a] : memref<8xf32>
      tir.store %v, %u[%a] : memref<8xf32>
    }
  }
  tir.for %j = 0 to 8 {
    tir.block "second" spatial (%a in 8) at [%j] {
      %v = tir.load %t[%a] : memref<8xf32>
      %w = tir.load %u[%a] : memref<8xf32>
      %s = arith.addf %v, %w : f32
      tir.store %s, %y[%a] : memref<8xf32>
    }
  }
  func.return
}
sched.sequence @schedule for @pair {
  %f = sched.block "first"
  // CHECK: sched.cache_write of block "first" of kernel @pair: block "first" writes 2 buffers, not one
  %c = sched.cache_write %f, "local"
}

// -----

// A block takes its loops along, and nothing else.
func.func @pair(%x: memref<8xf32>, %y: memref<8xf32>) {
  %t = memref.alloc() : memref<8xf32>
  %u = memref.alloc() : memref<8xf32>
  tir.for %i = 0 to 8 {
    tir.block "first" spatial (%a in 8) at [%i] {
      %v = tir.load %x[%a] : memref<8xf32>
      tir.store %v, %t[%a] : memref<8xf32>
    }
    tir.block "beside" spatial (%a in 8) at [%i] {
      %v = tir.load %x[%a] : memref<8xf32>
      tir.store %v, %u[%a] : memref<8xf32>
    }
  }
  tir.for %j = 0 to 8 {
    tir.block "second" spatial (%a in 8) at [%j] {
      %v = tir.load %t[%a] : memref<8xf32>
      %w = tir.load %u[%a] : memref<8xf32>
      %s = arith.addf %v, %w : f32
      tir.store %s, %y[%a] : memref<8xf32>
    }
  }
  func.return
}
sched.sequence @schedule for @pair {
  %f = sched.block "first"
  %s = sched.block "second"
  %j = sched.loops %s -> 1
  // CHECK: sched.compute_at of block "first", loop %j of kernel @pair: block "beside" shares the loops of block "first"
  sched.compute_at %f, %j
}

// -----

// Somebody has to read it.
func.func @chain(%x: memref<8xf32>, %y: memref<8xf32>) {
  %t = memref.alloc() : memref<8xf32>
  tir.for %i = 0 to 8 {
    tir.block "first" spatial (%a in 8) at [%i] {
      %v = tir.load %x[%a] : memref<8xf32>
      tir.store %v, %t[%a] : memref<8xf32>
    }
  }
  tir.for %j = 0 to 8 {
    tir.block "second" spatial (%a in 8) at [%j] {
      %zero = arith.constant 0.0 : f32
      %w0 = tir.load %x[%a] else %zero : memref<8xf32>
      tir.store %w0, %y[%a] : memref<8xf32>
    }
  }
  func.return
}
sched.sequence @schedule for @chain {
  %f = sched.block "first"
  %s = sched.block "second"
  %j = sched.loops %s -> 1
  // CHECK: sched.compute_at of block "first", loop %j of kernel @chain: nothing reads what block "first" writes
  sched.compute_at %f, %j
}

// -----

// To inline it as well.
func.func @chain(%x: memref<8xf32>, %y: memref<8xf32>) {
  %t = memref.alloc() : memref<8xf32>
  tir.for %i = 0 to 8 {
    tir.block "first" spatial (%a in 8) at [%i] {
      %v = tir.load %x[%a] : memref<8xf32>
      tir.store %v, %t[%a] : memref<8xf32>
    }
  }
  tir.for %j = 0 to 8 {
    tir.block "second" spatial (%a in 8) at [%j] {
      %zero = arith.constant 0.0 : f32
      %w0 = tir.load %x[%a] else %zero : memref<8xf32>
      tir.store %w0, %y[%a] : memref<8xf32>
    }
  }
  func.return
}
sched.sequence @schedule for @chain {
  %f = sched.block "first"
  // CHECK: sched.compute_inline of block "first" of kernel @chain: nothing reads what block "first" writes
  sched.compute_inline %f
}

// -----

// An element must say where it was computed.
func.func @chain(%x: memref<8xf32>, %y: memref<8xf32>) {
  %t = memref.alloc() : memref<8xf32>
  tir.for %i = 0 to 8 {
    tir.block "first" spatial (%a in 8) at [%i] {
      %v = tir.load %x[%a] : memref<8xf32>
      tir.store %v, %t[7 - %a] : memref<8xf32>
    }
  }
  tir.for %j = 0 to 8 {
    tir.block "second" spatial (%a in 8) at [%j] {
      %zero = arith.constant 0.0 : f32
      %w0 = tir.load %t[%a] else %zero : memref<8xf32>
      tir.store %w0, %y[%a] : memref<8xf32>
    }
  }
  func.return
}
sched.sequence @schedule for @chain {
  %f = sched.block "first"
  // CHECK: sched.compute_inline of block "first" of kernel @chain: block "first" writes at an index that is not one of its axes
  sched.compute_inline %f
}

// -----

// Each axis says something of its own.
func.func @chain(%x: memref<4xf32>, %y: memref<4xf32>) {
  %t = memref.alloc() : memref<4x4xf32>
  tir.for %i = 0 to 4 {
    tir.block "first" spatial (%a in 4) at [%i] {
      %v = tir.load %x[%a] : memref<4xf32>
      tir.store %v, %t[%a, %a] : memref<4x4xf32>
    }
  }
  tir.for %j = 0 to 4 {
    tir.block "second" spatial (%a in 4) at [%j] {
      %v = tir.load %t[%a, %a] : memref<4x4xf32>
      tir.store %v, %y[%a] : memref<4xf32>
    }
  }
  func.return
}
sched.sequence @schedule for @chain {
  %f = sched.block "first"
  // CHECK: sched.compute_inline of block "first" of kernel @chain: block "first" writes at indices that are not each of its axes once
  sched.compute_inline %f
}

// -----

// An element is written once.
func.func @chain(%x: memref<8xf32>, %y: memref<8xf32>) {
  %t = memref.alloc() : memref<8xf32>
  tir.for %i = 0 to 8 {
    tir.block "first" spatial (%a in 8) at [%i] {
      %v = tir.load %x[%a] : memref<8xf32>
      tir.store %v, %t[%a] : memref<8xf32>
      tir.store %v, %t[%a] : memref<8xf32>
    }
  }
  tir.for %j = 0 to 8 {
    tir.block "second" spatial (%a in 8) at [%j] {
      %zero = arith.constant 0.0 : f32
      %w0 = tir.load %t[%a] else %zero : memref<8xf32>
      tir.store %w0, %y[%a] : memref<8xf32>
    }
  }
  func.return
}
sched.sequence @schedule for @chain {
  %f = sched.block "first"
  // CHECK: sched.compute_inline of block "first" of kernel @chain: block "first" does not write its result at once
  sched.compute_inline %f
}

// -----

// It does not depend on what was there.
func.func @chain(%x: memref<8xf32>, %y: memref<8xf32>) {
  %t = memref.alloc() : memref<8xf32>
  tir.for %i = 0 to 8 {
    tir.block "first" spatial (%a in 8) at [%i] {
      %v = tir.load %t[%a] : memref<8xf32>
      tir.store %v, %t[%a] : memref<8xf32>
    }
  }
  tir.for %j = 0 to 8 {
    tir.block "second" spatial (%a in 8) at [%j] {
      %zero = arith.constant 0.0 : f32
      %w0 = tir.load %t[%a] else %zero : memref<8xf32>
      tir.store %w0, %y[%a] : memref<8xf32>
    }
  }
  func.return
}
sched.sequence @schedule for @chain {
  %f = sched.block "first"
  // CHECK: sched.compute_inline of block "first" of kernel @chain: block "first" reads what it writes
  sched.compute_inline %f
}

// -----

// A guard keeps axes inside; what else it says would be lost.
func.func @chain(%x: memref<8xf32>, %y: memref<8xf32>) {
  %t = memref.alloc() : memref<8xf32>
  tir.for %i = 0 to 8 {
    tir.block "first" spatial (%a in 8) at [%i] where [%i - 2] {
      %v = tir.load %x[%a] : memref<8xf32>
      tir.store %v, %t[%a] : memref<8xf32>
    }
  }
  tir.for %j = 0 to 8 {
    tir.block "second" spatial (%a in 8) at [%j] {
      %zero = arith.constant 0.0 : f32
      %w0 = tir.load %t[%a] else %zero : memref<8xf32>
      tir.store %w0, %y[%a] : memref<8xf32>
    }
  }
  func.return
}
sched.sequence @schedule for @chain {
  %f = sched.block "first"
  %s = sched.block "second"
  %j = sched.loops %s -> 1
  // CHECK: sched.compute_at of block "first", loop %j of kernel @chain: the where of block "first" says more than that its axes are inside
  sched.compute_at %f, %j
}

// -----

// A sum of a part is not the sum.
func.func @sum(%x: memref<8xf32>, %y: memref<f32>) {
  %t = memref.alloc() : memref<8xf32>
  tir.for %i = 0 to 8 {
    tir.block "first" spatial (%a in 8) at [%i] {
      %v = tir.load %x[%a] : memref<8xf32>
      tir.store %v, %t[%a] : memref<8xf32>
    }
  }
  tir.for %r = 0 to 8 {
    tir.block "sum" reduce (%a in 8) at [%r] {
      %v = tir.load %t[%a] : memref<8xf32>
      %o = tir.load %y[] : memref<f32>
      %s = arith.addf %o, %v : f32
      tir.store %s, %y[] : memref<f32>
    } init () {
      %zero = arith.constant 0.0 : f32
      tir.store %zero, %y[] : memref<f32>
    }
  }
  func.return
}
sched.sequence @schedule for @sum {
  %f = sched.block "first"
  %i = sched.loops %f -> 1
  %s = sched.block "sum"
  // CHECK: sched.reverse_compute_at of block "sum", loop %i of kernel @sum: block "sum" reduces over axis %a, of which only a part is complete in loop %i
  sched.reverse_compute_at %s, %i
}

// -----

// What is complete is one part.
func.func @chain(%x: memref<8xf32>, %y: memref<8xf32>) {
  %t = memref.alloc() : memref<8xf32>
  tir.for %i = 0 to 4 {
    tir.block "first" spatial (%a in 4) at [%i] {
      %v = tir.load %x[%a] : memref<8xf32>
      tir.store %v, %t[%a] : memref<8xf32>
      tir.store %v, %t[7 - %a] : memref<8xf32>
    }
  }
  tir.for %j = 0 to 8 {
    tir.block "second" spatial (%a in 8) at [%j] {
      %v = tir.load %t[%a] : memref<8xf32>
      tir.store %v, %y[%a] : memref<8xf32>
    }
  }
  func.return
}
sched.sequence @schedule for @chain {
  %f = sched.block "first"
  %i = sched.loops %f -> 1
  %s = sched.block "second"
  // CHECK: sched.reverse_compute_at of block "second", loop %i of kernel @chain: cannot tell which part of dimension 0 of %t is complete
  sched.reverse_compute_at %s, %i
}

// -----

// What is read is one part too.
func.func @chain(%x: memref<8xf32>, %y: memref<8xf32>) {
  %t = memref.alloc() : memref<8xf32>
  tir.for %i = 0 to 8 {
    tir.block "first" spatial (%a in 8) at [%i] {
      %v = tir.load %x[%a] : memref<8xf32>
      tir.store %v, %t[%a] : memref<8xf32>
    }
  }
  tir.for %j = 0 to 7 {
    tir.block "second" spatial (%a in 7) at [%j] {
      %zero = arith.constant 0.0 : f32
      %w0 = tir.load %t[%a] : memref<8xf32>
      %w1 = tir.load %t[%a + 1] : memref<8xf32>
      tir.store %w1, %y[%a] : memref<8xf32>
    }
  }
  func.return
}
sched.sequence @schedule for @chain {
  %f = sched.block "first"
  %i = sched.loops %f -> 1
  %s = sched.block "second"
  // CHECK: sched.reverse_compute_at of block "second", loop %i of kernel @chain: block "second" reads several parts along axis %a
  sched.reverse_compute_at %s, %i
}

// -----

// A choice is no factor if it is 0.
func.func @relu(%x: memref<8xf32>, %y: memref<8xf32>) {
  tir.for %i = 0 to 8 {
    tir.block "relu" spatial (%a in 8) at [%i] {
      %v = tir.load %x[%a] : memref<8xf32>
      tir.store %v, %y[%a] : memref<8xf32>
    }
  }
  func.return
}
sched.sequence @schedule for @relu {
  %b = sched.block "relu"
  %i = sched.loops %b -> 1
  %c = sched.sample_categorical [0, 4] decision 0
  // CHECK: sched.unroll of loop %i of kernel @relu: expected factors of at least 1, got 0
  sched.unroll %i by %c
}
