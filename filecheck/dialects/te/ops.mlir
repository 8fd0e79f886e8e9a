// RUN: partita-opt %s | partita-opt | filecheck %s
// RUN: partita-opt %s --print-op-generic | partita-opt | filecheck %s

// A reduction has axes of its own, a value to start from and a combiner.
// CHECK-LABEL: func.func @sum
func.func @sum(%x: tensor<4x8xf32>) -> tensor<4xf32> {
  // CHECK: %y = te.compute "sum" (%{{.*}} in 4) reduce (%{{.*}} in 8) init (0.000000e+00 : f32) {
  %y = te.compute "sum" (%i in 4) reduce (%k in 8) init (0.000000e+00 : f32) {
    // CHECK-NEXT: %[[V:.*]] = te.read %x[%{{.*}}, %{{.*}}] : tensor<4x8xf32>
    %v = te.read %x[%i, %k] : tensor<4x8xf32>
  // CHECK-NEXT: te.yield %[[V]] : f32
  te.yield %v : f32
  // CHECK-NEXT: } combine (%[[OLD:.*]]: f32, %[[NEW:.*]]: f32) {
  } combine (%old: f32, %new: f32) {
    // CHECK-NEXT: %[[S:.*]] = arith.addf %[[OLD]], %[[NEW]] : f32
    %s = arith.addf %old, %new : f32
    te.yield %s : f32
  } : tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// A read that may lie outside says what there is instead; equal operands are one.
// CHECK-LABEL: func.func @window
func.func @window(%x: tensor<1x8xf32>) -> tensor<1x4x3xf32> {
  %y = te.compute "window" (%n in 1, %h in 4, %r in 3) {
    %zero = arith.constant 0.0 : f32
  // CHECK: te.read %x[%{{.*}}, %{{.*}} * 2 + %{{.*}} - 1] else %{{.*}} : tensor<1x8xf32>
  %v = te.read %x[%n, %h * 2 + %r - 1] else %zero : tensor<1x8xf32>
    te.yield %v : f32
  } : tensor<1x4x3xf32>
  func.return %y : tensor<1x4x3xf32>
}

// Index expressions are affine, with quotients and remainders by constants.
// CHECK-LABEL: func.func @reshape
func.func @reshape(%x: tensor<4x6xf32>) -> tensor<24xf32> {
  %y = te.compute "reshape" (%i in 24) {
    // CHECK: te.read %x[%[[I:.*]] floordiv 6, %[[I]] mod 6] : tensor<4x6xf32>
    %v = te.read %x[%i floordiv 6, %i mod 6] : tensor<4x6xf32>
    te.yield %v : f32
  } : tensor<24xf32>
  func.return %y : tensor<24xf32>
}

// An index may be computed from data; an element of an unsigned tensor is a signless scalar.
// CHECK-LABEL: func.func @gather
func.func @gather(%x: tensor<9xui8>, %at: tensor<4xi64>) -> tensor<4xui8> {
  %y = te.compute "gather" (%i in 4) {
    %none = arith.constant 0 : i8
    %a = te.read %at[%i] : tensor<4xi64>
    %j = arith.index_cast %a : i64 to index
    // CHECK: te.read %x[%{{.*}}] else %{{.*}} : tensor<9xui8>
    %v = te.read %x[%j] else %none : tensor<9xui8>
    te.yield %v : i8
  } : tensor<4xui8>
  func.return %y : tensor<4xui8>
}

// Several results share axes; attributes follow the label.
// CHECK-LABEL: func.func @both
func.func @both(%x: tensor<f32>) -> (tensor<f32>, tensor<i64>) {
  // CHECK: %{{.*}}, %{{.*}} = te.compute "both" {partita.origin = "node"} () {
  %y, %z = te.compute "both" {partita.origin = "node"} () {
    // CHECK: te.read %x[] : tensor<f32>
    %v = te.read %x[] : tensor<f32>
    %one = arith.constant 1 : i64
    // CHECK: te.yield %{{.*}}, %{{.*}} : f32, i64
    te.yield %v, %one : f32, i64
  // CHECK-NEXT: } : tensor<f32>, tensor<i64>
  } : tensor<f32>, tensor<i64>
  func.return %y, %z : tensor<f32>, tensor<i64>
}
