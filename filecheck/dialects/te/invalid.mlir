// RUN: partita-opt %s --split-input-file --verify-diagnostics --parsing-diagnostics | filecheck %s

// CHECK: expected body to end with te.yield
func.func @f() {
  %y = te.compute "a" (%i in 4) {
    "test.termop"() : () -> ()
  } : tensor<4xf32>
  func.return
}

// -----

// CHECK: expected body to yield f32, got i64
func.func @f() {
  %y = te.compute "a" (%i in 4) {
    %v = arith.constant 0 : i64
    te.yield %v : i64
  } : tensor<4xf32>
  func.return
}

// -----

// CHECK: expected body to yield f32, got nothing
func.func @f() {
  %y = te.compute "a" (%i in 4) {
    te.yield
  } : tensor<4xf32>
  func.return
}

// -----

// CHECK: expected a map of 1 dimensions and no symbols, got (d0, d1) -> (d1)
func.func @f(%x: tensor<4xf32>) {
  %y = te.compute "a" (%i in 4) {
    %v = "te.read"(%x, %i) <{map = affine_map<(d0, d1) -> (d1)>, operandSegmentSizes = array<i32: 1, 1, 0>}> : (tensor<4xf32>, index) -> f32
    te.yield %v : f32
  } : tensor<4xf32>
  func.return
}

// -----

// CHECK: expected 2 indices, got 1
func.func @f(%x: tensor<4x4xf32>) {
  %y = te.compute "a" (%i in 4) {
    %v = te.read %x[%i] : tensor<4x4xf32>
    te.yield %v : f32
  } : tensor<4xf32>
  func.return
}

// -----

// CHECK: expected result i8, got i16
func.func @f(%x: tensor<4xui8>) {
  %y = te.compute "a" (%i in 4) {
    %v = "te.read"(%x, %i) <{map = affine_map<(d0) -> (d0)>, operandSegmentSizes = array<i32: 1, 1, 0>}> : (tensor<4xui8>, index) -> i16
    te.yield %v : i16
  } : tensor<4xi16>
  func.return
}

// -----

// CHECK: expected else value f32, got f64
func.func @f(%x: tensor<4xf32>) {
  %y = te.compute "a" (%i in 4) {
    %e = arith.constant 0.0 : f64
    %v = "te.read"(%x, %i, %e) <{map = affine_map<(d0) -> (d0)>, operandSegmentSizes = array<i32: 1, 1, 1>}> : (tensor<4xf32>, index, f64) -> f32
    te.yield %v : f32
  } : tensor<4xf32>
  func.return
}

// -----

// CHECK: expected an else value for an index that depends on data, got none
func.func @f(%x: tensor<4xf32>, %at: tensor<4xi64>) {
  %y = te.compute "a" (%i in 4) {
    %a = te.read %at[%i] : tensor<4xi64>
    %j = arith.index_cast %a : i64 to index
    %v = te.read %x[%j] : tensor<4xf32>
    te.yield %v : f32
  } : tensor<4xf32>
  func.return
}

// -----

// CHECK: expected index 0 in [0, 4), got [-1, 3]; state an else value
func.func @f(%x: tensor<4xf32>) {
  %y = te.compute "a" (%i in 5) {
    %v = te.read %x[%i - 1] : tensor<4xf32>
    te.yield %v : f32
  } : tensor<5xf32>
  func.return
}

// -----

// CHECK: expected a tensor type, got f32
func.func @f(%x: f32) {
  %y = te.compute "a" (%i in 5) {
    %v = te.read %x[%i] : f32
    te.yield %v : f32
  } : tensor<5xf32>
  func.return
}

// -----

// CHECK: expected at least one result, got none
func.func @f() {
  "te.compute"() <{label = "a", reduction = array<i64>, inits = []}> ({
    "te.yield"() : () -> ()
  }, {}) : () -> ()
  func.return
}

// -----

// CHECK: expected results of one shape, got (4,) and (5,)
func.func @f() {
  %y, %z = te.compute "a" (%i in 4) {
    %v = arith.constant 0.0 : f32
    te.yield %v, %v : f32, f32
  } : tensor<4xf32>, tensor<5xf32>
  func.return
}

// -----

// CHECK: expected a body of 2 index axes
func.func @f() {
  %y = te.compute "a" (%i in 4) {
    %v = arith.constant 0.0 : f32
    te.yield %v : f32
  } : tensor<4x4xf32>
  func.return
}

// -----

// CHECK: expected neither init nor combine without reduction axes
func.func @f() {
  %y = te.compute "a" (%i in 4) {
    %v = arith.constant 0.0 : f32
    te.yield %v : f32
  } combine (%a: f32, %b: f32) {
    te.yield %a : f32
  } : tensor<4xf32>
  func.return
}

// -----

// CHECK: expected an init of each result's element type, got 0 : i64
func.func @f() {
  %y = te.compute "a" (%i in 4) reduce (%k in 2) init (0 : i64) {
    %v = arith.constant 0.0 : f32
    te.yield %v : f32
  } combine (%a: f32, %b: f32) {
    te.yield %a : f32
  } : tensor<4xf32>
  func.return
}

// -----

// CHECK: expected an init of each result's element type, got none
func.func @f() {
  %y = te.compute "a" (%i in 4) reduce (%k in 2) init () {
    %v = arith.constant 0.0 : f32
    te.yield %v : f32
  } combine (%a: f32, %b: f32) {
    te.yield %a : f32
  } : tensor<4xf32>
  func.return
}

// -----

// CHECK: expected a combine region with reduction axes
func.func @f() {
  %y = te.compute "a" (%i in 4) reduce (%k in 2) init (0.0 : f32) {
    %v = arith.constant 0.0 : f32
    te.yield %v : f32
  } : tensor<4xf32>
  func.return
}

// -----

// CHECK: expected combine to take accumulated and new values of the results' element types
func.func @f() {
  %y = te.compute "a" (%i in 4) reduce (%k in 2) init (0.0 : f32) {
    %v = arith.constant 0.0 : f32
    te.yield %v : f32
  } combine (%a: f32) {
    te.yield %a : f32
  } : tensor<4xf32>
  func.return
}

// -----

// CHECK: expected combine to yield f32, got i1
func.func @f() {
  %y = te.compute "a" (%i in 4) reduce (%k in 2) init (0.0 : f32) {
    %v = arith.constant 0.0 : f32
    te.yield %v : f32
  } combine (%a: f32, %b: f32) {
    %c = arith.cmpf ogt, %a, %b : f32
    te.yield %c : i1
  } : tensor<4xf32>
  func.return
}
