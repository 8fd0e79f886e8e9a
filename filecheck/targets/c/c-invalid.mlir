// RUN: partita-opt %s -t c --split-input-file --verify-diagnostics | filecheck %s

// CHECK: expected function @graph over buffers, got relay.relu; run lower-relay-to-te,lower-te-to-tir first
func.func private @graph(%x : tensor<4xf32>) -> tensor<4xf32> {
  %y = relay.relu %x : tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// -----

// CHECK: expected functions to make C of, got none
func.func private @elsewhere(memref<4xf32>)

// -----

// CHECK: expected a kernel with a body, got a call of @elsewhere
func.func private @elsewhere(memref<4xf32>)
func.func @main(%x : memref<4xf32>) attributes {partita.signature = (tensor<4xf32>) -> ()} {
  func.call @elsewhere(%x) : (memref<4xf32>) -> ()
  func.return
}

// -----

// CHECK: expected function @main over buffers; run lower-te-to-tir,plan-memory first
func.func private @elsewhere(memref<4xf32>)
func.func @main(%x : memref<4xf32>) {
  func.call @elsewhere(%x) : (memref<4xf32>) -> ()
  func.return
}

// -----

// CHECK: expected planned buffers in function @main; run plan-memory first
func.func private @step(%x : memref<4xf32>) {
  func.return
}
func.func @main(%x : memref<4xf32>) attributes {partita.signature = (tensor<4xf32>) -> ()} {
  %t = memref.alloc() : memref<4xf32>
  func.call @step(%t) : (memref<4xf32>) -> ()
  func.return
}

// -----

// CHECK: expected buffers, constants, calls and copies in function @main, got arith.constant
func.func private @step(%x : memref<4xf32>) {
  func.return
}
func.func @main(%x : memref<4xf32>) attributes {partita.signature = (tensor<4xf32>) -> ()} {
  %c = arith.constant 1 : i32
  func.call @step(%x) : (memref<4xf32>) -> ()
  func.return
}

// -----

// CHECK: function @large: expected local buffers of at most 262144 bytes, got 400000; run split-stages first, or move the computation into an inner loop
func.func @large(%x : memref<4xf32>) {
  %t = memref.alloc() : memref<100000xf32>
  func.return
}

// -----

// CHECK: function @weight: expected weights to be arguments of a kernel
func.func @weight(%x : memref<4xf32>) {
  %w = tir.constant #partita.weight<"00112233445566778899aabbccddeeff"> -> memref<32xf32>
  func.return
}

// -----

// CHECK: function @types: C has no type for elements of bf16
func.func @types(%x : memref<4xbf16>) {
  func.return
}

// -----

// CHECK: function @number: expected loops, blocks and local buffers, got arith.constant
func.func @number(%x : memref<4xf32>) {
  %c = arith.constant 1 : i32
  func.return
}

// -----

// CHECK: function @sincos (from node_1): C has no counterpart of test.op
func.func @sincos(%x : memref<4xf32>) {
  tir.for %i = 0 to 4 {
    tir.block "sincos" spatial (%a in 4) at [%i] {
      %v = tir.load %x[%a] : memref<4xf32>
      %w = "test.op"(%v) {partita.origin = "node_1"} : (f32) -> f32
      tir.store %w, %x[%a] : memref<4xf32>
    }
  }
  func.return
}

// -----

// CHECK: function @shift: C has no counterpart of arith.shli on i1, i1
func.func @shift(%x : memref<4xi1>) {
  tir.for %i = 0 to 4 {
    tir.block "shift" spatial (%a in 4) at [%i] {
      %v = tir.load %x[%a] : memref<4xi1>
      %w = arith.shli %v, %v : i1
      tir.store %w, %x[%a] : memref<4xi1>
    }
  }
  func.return
}
