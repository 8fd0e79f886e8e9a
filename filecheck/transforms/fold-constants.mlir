// RUN: partita-opt %s -p fold-constants --split-input-file | filecheck %s

// What lies between disappears, and the constant comes from all nodes that went into it.
func.func @chain(%x : tensor<2xf32>) -> tensor<2xf32> {
  // CHECK:      func.func @chain
  // CHECK-NEXT:   %[[C:.*]] = relay.constant {partita.origin = "a, b, c, d"} dense<[-4.000000e+00, -5.000000e+00]> : tensor<2xf32>
  // CHECK-NEXT:   relay.multiply %x, %[[C]]
  %a = relay.constant {partita.origin = "a"} dense<[1.0, 2.0]> : tensor<2xf32>
  %b = relay.constant {partita.origin = "b"} dense<3.0> : tensor<2xf32>
  %c = relay.add %a, %b {partita.origin = "c"} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %d = relay.negative %c {partita.origin = "d"} : tensor<2xf32>
  %0 = relay.multiply %x, %d : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  func.return %0 : tensor<2xf32>
}

// -----

// A constant that others use stays for them; several results are several constants.
func.func @shared() -> (tensor<4xf32>, tensor<1xf32>, tensor<3xf32>) {
  // CHECK:      func.func @shared
  // CHECK-DAG:    %[[A:.*]] = relay.constant dense<[1.000000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00]>
  // CHECK-DAG:    %[[B:.*]] = relay.constant dense<1.000000e+00> : tensor<1xf32>
  // CHECK-DAG:    %[[C:.*]] = relay.constant dense<[2.000000e+00, 3.000000e+00, 4.000000e+00]>
  // CHECK-NEXT:   func.return %[[A]], %[[B]], %[[C]]
  %a = relay.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %b, %c = relay.split %a {sizes = array<i64: 1, 3>, axis = 0 : i64} : (tensor<4xf32>) -> (tensor<1xf32>, tensor<3xf32>)
  func.return %a, %b, %c : tensor<4xf32>, tensor<1xf32>, tensor<3xf32>
}

// -----

// One repeated value stays one, however large the tensor.
func.func @splat() -> tensor<1000x20x50000xf32> {
  // CHECK:      func.func @splat
  // CHECK-NEXT:   %[[C:.*]] = relay.constant dense<5.000000e+00> : tensor<1000x20x50000xf32>
  // CHECK-NEXT:   func.return %[[C]]
  %a = relay.constant dense<2.0> : tensor<50000x1000xf32>
  %b = relay.constant dense<3.0> : tensor<1xf32>
  %c = relay.add %a, %b : (tensor<50000x1000xf32>, tensor<1xf32>) -> tensor<50000x1000xf32>
  %d = relay.transpose %c {axes = array<i64: 1, 0>} : tensor<50000x1000xf32> -> tensor<1000x50000xf32>
  %e = relay.expand_dims %d {axes = array<i64: 1>} : tensor<1000x50000xf32> -> tensor<1000x1x50000xf32>
  %f = relay.broadcast_to %e {shape = array<i64: 1000, 20, 50000>} : tensor<1000x1x50000xf32> -> tensor<1000x20x50000xf32>
  func.return %f : tensor<1000x20x50000xf32>
}

// -----

// A small constant does not become a large one, but what it is computed from is folded.
func.func @growth() -> tensor<1000x2xf32> {
  // CHECK:      func.func @growth
  // CHECK-NEXT:   %[[B:.*]] = relay.constant dense<[-1.000000e+00, -2.000000e+00]> : tensor<2xf32>
  // CHECK-NEXT:   %[[C:.*]] = relay.broadcast_to %[[B]]
  // CHECK-NEXT:   func.return %[[C]]
  %a = relay.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %b = relay.negative %a : tensor<2xf32>
  %c = relay.broadcast_to %b {shape = array<i64: 1000, 2>} : tensor<2xf32> -> tensor<1000x2xf32>
  func.return %c : tensor<1000x2xf32>
}

// -----

// Growth counts from the first constants, not step by step.
func.func @steps() -> tensor<2048xf32> {
  // CHECK:      func.func @steps
  // CHECK:        %[[C:.*]] = relay.constant #partita.weight<"{{[0-9a-f]*}}"> : tensor<1024xf32>
  // CHECK-NEXT:   %[[D:.*]] = relay.tile %[[C]]
  // CHECK-NEXT:   func.return %[[D]]
  %a = relay.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %b = relay.tile %a {repeats = array<i64: 256>} : tensor<2xf32> -> tensor<512xf32>
  %c = relay.tile %b {repeats = array<i64: 2>} : tensor<512xf32> -> tensor<1024xf32>
  %d = relay.tile %c {repeats = array<i64: 2>} : tensor<1024xf32> -> tensor<2048xf32>
  func.return %d : tensor<2048xf32>
}

// -----

// The content of a weight that is not loaded is not known.
func.func @handle() -> tensor<5x4xf32> {
  // CHECK:      func.func @handle
  // CHECK-NEXT:   relay.constant #partita.weight<"00112233445566778899aabbccddeeff">
  // CHECK-NEXT:   relay.transpose
  %a = relay.constant #partita.weight<"00112233445566778899aabbccddeeff"> : tensor<4x5xf32>
  %b = relay.transpose %a {axes = array<i64: 1, 0>} : tensor<4x5xf32> -> tensor<5x4xf32>
  func.return %b : tensor<5x4xf32>
}

// -----

// Equal results are one weight.
func.func @equal() -> (tensor<32xi64>, tensor<32xi64>) {
  // CHECK:      func.func @equal
  // CHECK:        relay.constant #partita.weight<"[[DIGEST:[0-9a-f]*]]">
  // CHECK-NEXT:   relay.constant #partita.weight<"[[DIGEST]]">
  // CHECK-NEXT:   func.return
  %a = relay.constant dense<[1, 2]> : tensor<2xi64>
  %b = relay.tile %a {repeats = array<i64: 16>} : tensor<2xi64> -> tensor<32xi64>
  %c = relay.tile %a {repeats = array<i64: 16>} : tensor<2xi64> -> tensor<32xi64>
  func.return %b, %c : tensor<32xi64>, tensor<32xi64>
}
