// RUN: partita-opt %s -t llvm-ir --split-input-file --verify-diagnostics | filecheck %s

// CHECK: expected function @graph over buffers, got relay.relu; run lower-relay-to-te,lower-te-to-tir first
func.func private @graph(%x : tensor<4xf32>) -> tensor<4xf32> attributes {partita.kernel} {
  %y = relay.relu %x : tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// -----

// CHECK: expected function @tensors over buffers, got te.compute; run lower-te-to-tir first
func.func private @tensors(%x : tensor<4xf32>) -> tensor<4xf32> attributes {partita.kernel} {
  %y = te.compute "copy" (%i0 in 4) {
    %0 = te.read %x[%i0] : tensor<4xf32>
    te.yield %0 : f32
  } : tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// -----

// CHECK: expected function @argument over buffers, got an argument of type tensor<4xf32>; run lower-te-to-tir first
func.func @argument(%x : tensor<4xf32>) {
  func.return
}

// -----

// CHECK: expected function @result over buffers, got a result of type f32
func.func @result() -> f32 {
  %c = arith.constant 1.0 : f32
  func.return %c : f32
}

// -----

// CHECK: expected functions to make host code of, got none
func.func private @elsewhere(memref<4xf32>)

// -----

// CHECK: kernel @call: expected loops, blocks and local buffers, got func.call
func.func private @callee(memref<4xf32>)
func.func private @call(%x : memref<4xf32>) attributes {partita.kernel} {
  func.call @callee(%x) : (memref<4xf32>) -> ()
  func.return
}
