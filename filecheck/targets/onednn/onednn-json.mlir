// RUN: partita-opt %s -t onednn-json | filecheck %s

// What follows a convolution, and nothing else uses, is part of it; an addition by channel is its bias.
// CHECK-LABEL: {"name": "conv",
// CHECK-NEXT:   "weights": {"weight0": {"number": 0, "shape": [3, 2, 3, 3]}, "weight1": {"number": 1, "shape": [3]}},
// CHECK-NEXT:   "ops": [
// CHECK-NEXT:    {"op": "convolution", "origin": "conv_1, relu_1", "operands": ["input0", "weight0", "weight1"], "result": "value0", "shape": [1, 3, 4, 4], "strides": [1, 1], "dilation": [1, 1], "padding": [0, 2, 2, 0], "groups": 1, "post": [{"op": "add", "operand": "input1"}, {"op": "relu", "alpha": 0.0, "beta": 0.0}]}],
// CHECK-NEXT:   "outputs": ["value0"]}
func.func @conv(%x: tensor<1x2x4x4xf32>, %y: tensor<1x3x4x4xf32>) -> tensor<1x3x4x4xf32> {
  %w = relay.constant #partita.weight<"00112233445566778899aabbccddeeff"> : tensor<3x2x3x3xf32>
  %b = relay.constant dense<[[[1.0]], [[2.0]], [[3.0]]]> : tensor<3x1x1xf32>
  %0 = relay.conv2d %x, %w {strides = array<i64: 1, 1>, padding = array<i64: 0, 2, 2, 0>, dilation = array<i64: 1, 1>, groups = 1 : i64, partita.origin = "conv_1"} : (tensor<1x2x4x4xf32>, tensor<3x2x3x3xf32>) -> tensor<1x3x4x4xf32>
  %1 = relay.add %0, %b : (tensor<1x3x4x4xf32>, tensor<3x1x1xf32>) -> tensor<1x3x4x4xf32>
  %2 = relay.add %y, %1 : (tensor<1x3x4x4xf32>, tensor<1x3x4x4xf32>) -> tensor<1x3x4x4xf32>
  %3 = relay.relu %2 {partita.origin = "relu_1"} : tensor<1x3x4x4xf32>
  func.return %3 : tensor<1x3x4x4xf32>
}

// A result that is used twice is written.
// CHECK-LABEL: {"name": "twice",
// CHECK:        {"op": "matmul", "operands": ["input0", "input1"], "result": "value0", "shape": [2, 4], "transposed": true, "post": []},
// CHECK-NEXT:   {"op": "tanh", "operands": ["value0"], "result": "value1", "shape": [2, 4], "alpha": 0.0, "beta": 0.0}],
// CHECK-NEXT:   "outputs": ["value0", "value1"]}
func.func @twice(%x: tensor<2x3xf32>, %w: tensor<4x3xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>) {
  %0 = relay.dense %x, %w : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<2x4xf32>
  %1 = relay.tanh %0 : tensor<2x4xf32>
  func.return %0, %1 : tensor<2x4xf32>, tensor<2x4xf32>
}

// Products of vectors are products of matrices, seen in other shapes.
// CHECK-LABEL: {"name": "vectors",
// CHECK:        {"op": "view", "operands": ["input0"], "result": "value0", "shape": [1, 3]},
// CHECK-NEXT:   {"op": "view", "operands": ["input1"], "result": "value1", "shape": [3, 1]},
// CHECK-NEXT:   {"op": "matmul", "operands": ["value0", "value1"], "result": "value2", "shape": [1, 1], "transposed": false, "post": []},
// CHECK-NEXT:   {"op": "view", "operands": ["value2"], "result": "value3", "shape": []}],
func.func @vectors(%x: tensor<3xf32>, %y: tensor<3xf32>) -> tensor<f32> {
  %0 = relay.matmul %x, %y : (tensor<3xf32>, tensor<3xf32>) -> tensor<f32>
  func.return %0 : tensor<f32>
}
