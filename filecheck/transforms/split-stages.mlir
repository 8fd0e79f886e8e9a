// RUN: partita-opt %s -p split-stages --split-input-file | filecheck %s

// Each nest becomes a kernel, called in order; the buffer between them is the caller's.
// CHECK:      func.func @main(%x: memref<4xf32>, %y: memref<4xf32>) attributes {partita.entry} {
// CHECK-NEXT:   %t = memref.alloc() : memref<4xf32>
// CHECK-NEXT:   func.call @twice_s0(%x, %t) {partita.origin = "twice_1"} : (memref<4xf32>, memref<4xf32>) -> ()
// CHECK-NEXT:   func.call @twice_s1(%t, %y) {partita.origin = "twice_1"} : (memref<4xf32>, memref<4xf32>) -> ()
// CHECK-NEXT:   func.return
// CHECK:      func.func private @twice_s0(%x: memref<4xf32>, %t: memref<4xf32>) attributes {partita.kernel} {
// CHECK-NEXT:   tir.for %i = 0 to 4 parallel {
// CHECK:      func.func private @twice_s1(%t: memref<4xf32>, %y: memref<4xf32>) attributes {partita.kernel} {
// CHECK-NEXT:   tir.for %j = 0 to 4 {
// CHECK-NOT:  @twice(
func.func @main(%x : memref<4xf32>, %y : memref<4xf32>) attributes {partita.entry} {
  func.call @twice(%x, %y) {partita.origin = "twice_1"} : (memref<4xf32>, memref<4xf32>) -> ()
  func.return
}
func.func private @twice(%x : memref<4xf32>, %y : memref<4xf32>) attributes {partita.kernel} {
  %t = memref.alloc() : memref<4xf32>
  tir.for %i = 0 to 4 parallel {
    tir.block "a" spatial (%a in 4) at [%i] {
      %v = tir.load %x[%a] : memref<4xf32>
      tir.store %v, %t[%a] : memref<4xf32>
    }
  }
  tir.for %j = 0 to 4 {
    tir.block "b" spatial (%b in 4) at [%j] {
      %w = tir.load %t[%b * -1 + 3] : memref<4xf32>
      tir.store %w, %y[%b] : memref<4xf32>
    }
  }
  func.return
}

// -----

// A kernel of one nest stays, with the small buffers that it keeps for itself.
// CHECK:      func.call @one(%x, %y)
// CHECK:      func.func private @one(
// CHECK-NEXT:   %t = memref.alloc() : memref<4xf32>
func.func @main(%x : memref<4xf32>, %y : memref<4xf32>) attributes {partita.entry} {
  func.call @one(%x, %y) : (memref<4xf32>, memref<4xf32>) -> ()
  func.return
}
func.func private @one(%x : memref<4xf32>, %y : memref<4xf32>) attributes {partita.kernel} {
  %t = memref.alloc() : memref<4xf32>
  tir.for %i = 0 to 4 {
    tir.block "a" spatial (%a in 4) at [%i] {
      %v = tir.load %x[%a] : memref<4xf32>
      tir.store %v, %t[%a] : memref<4xf32>
    }
    tir.block "b" spatial (%b in 4) at [%i] {
      %w = tir.load %t[%b] : memref<4xf32>
      tir.store %w, %y[%b] : memref<4xf32>
    }
  }
  func.return
}

// -----

// A buffer that is too large for a stack is the caller's, one for each call.
// CHECK:      func.func @main
// CHECK-NEXT:   %[[T0:.*]] = memref.alloc() : memref<16385xf32>
// CHECK-NEXT:   func.call @large_s0(%x, %[[T0]], %y)
// CHECK-NEXT:   %[[T1:.*]] = memref.alloc() : memref<16385xf32>
// CHECK-NEXT:   func.call @large_s0(%y, %[[T1]], %y)
// CHECK:      func.func private @large_s0(%x: memref<16385xf32>, %t: memref<16385xf32>, %y: memref<16385xf32>)
// CHECK-NOT:    memref.alloc
func.func @main(%x : memref<16385xf32>, %y : memref<16385xf32>) attributes {partita.entry} {
  func.call @large(%x, %y) : (memref<16385xf32>, memref<16385xf32>) -> ()
  func.call @large(%y, %y) : (memref<16385xf32>, memref<16385xf32>) -> ()
  func.return
}
func.func private @large(%x : memref<16385xf32>, %y : memref<16385xf32>) attributes {partita.kernel} {
  %t = memref.alloc() : memref<16385xf32>
  tir.for %i = 0 to 16385 {
    tir.block "a" spatial (%a in 16385) at [%i] {
      %v = tir.load %x[%a] : memref<16385xf32>
      tir.store %v, %t[%a] : memref<16385xf32>
    }
    tir.block "b" spatial (%b in 16385) at [%i] {
      %w = tir.load %t[%b] : memref<16385xf32>
      tir.store %w, %y[%b] : memref<16385xf32>
    }
  }
  func.return
}

// -----

// Copies are the caller's, also of what a kernel computes; a constant stands where it is used.
// CHECK:      func.func @main
// CHECK-NEXT:   func.call @copies_s0(%x, %y) {partita.origin = "o"}
// CHECK-NEXT:   "memref.copy"(%y, %z) {partita.origin = "o"}
// CHECK-NEXT:   %[[C:.*]] = tir.constant dense<[1.000000e+00, 2.000000e+00]>
// CHECK-NEXT:   "memref.copy"(%[[C]], %w) {partita.origin = "o"}
// CHECK-NEXT:   func.return
// CHECK:      func.func private @copies_s0(%x: memref<2xf32>, %y: memref<2xf32>)
// CHECK-NEXT:   %[[D:.*]] = tir.constant
// CHECK-NOT:    memref.copy
func.func @main(%x : memref<2xf32>, %y : memref<2xf32>, %z : memref<2xf32>, %w : memref<2xf32>) attributes {partita.entry} {
  func.call @copies(%x, %y, %z, %w) {partita.origin = "o"} : (memref<2xf32>, memref<2xf32>, memref<2xf32>, memref<2xf32>) -> ()
  func.return
}
func.func private @copies(%x : memref<2xf32>, %y : memref<2xf32>, %z : memref<2xf32>, %w : memref<2xf32>) attributes {partita.kernel} {
  %c = tir.constant dense<[1.0, 2.0]> : tensor<2xf32> -> memref<2xf32>
  tir.for %i = 0 to 2 {
    tir.block "a" spatial (%a in 2) at [%i] {
      %u = tir.load %x[%a] : memref<2xf32>
      %v = tir.load %c[%a] : memref<2xf32>
      %s = arith.addf %u, %v : f32
      tir.store %s, %y[%a] : memref<2xf32>
    }
  }
  "memref.copy"(%y, %z) : (memref<2xf32>, memref<2xf32>) -> ()
  "memref.copy"(%c, %w) : (memref<2xf32>, memref<2xf32>) -> ()
  func.return
}

// -----

// A kernel that computes nothing is gone, and so are its calls.
// CHECK:      func.func @main(%x: memref<0xf32>, %y: memref<0xf32>) attributes {partita.entry} {
// CHECK-NEXT:   func.return
// CHECK-NOT:  @nothing
func.func @main(%x : memref<0xf32>, %y : memref<0xf32>) attributes {partita.entry} {
  func.call @nothing(%x, %y) : (memref<0xf32>, memref<0xf32>) -> ()
  func.return
}
func.func private @nothing(%x : memref<0xf32>, %y : memref<0xf32>) attributes {partita.kernel} {
  func.return
}

// -----

// Names that are in use are left alone, and so are nests of functions that are no kernels.
// CHECK:      func.call @k_s1
// CHECK-NEXT: func.call @k_s2
// CHECK:      func.func private @k_s0
// CHECK:      func.func @other
// CHECK-NEXT:   tir.for
// CHECK:        tir.for
func.func @main(%x : memref<1xf32>) attributes {partita.entry} {
  func.call @k(%x) : (memref<1xf32>) -> ()
  func.return
}
func.func private @k_s0(memref<1xf32>)
func.func @other(%x : memref<1xf32>) {
  tir.for %i = 0 to 1 {
    tir.block "a" spatial (%a in 1) at [%i] {
    }
  }
  tir.for %i = 0 to 1 {
    tir.block "b" spatial (%a in 1) at [%i] {
    }
  }
  func.return
}
func.func private @k(%x : memref<1xf32>) attributes {partita.kernel} {
  tir.for %i = 0 to 1 {
    tir.block "a" spatial (%a in 1) at [%i] {
      %0 = arith.constant 0.0 : f32
      tir.store %0, %x[%a] : memref<1xf32>
    }
  }
  tir.for %i = 0 to 1 {
    tir.block "b" spatial (%a in 1) at [%i] {
      %0 = arith.constant 1.0 : f32
      tir.store %0, %x[%a] : memref<1xf32>
    }
  }
  func.return
}
