// RUN: partita-opt %s | partita-opt | filecheck %s
// RUN: partita-opt %s --print-op-generic | partita-opt | filecheck %s

// Put tensors one after another along an axis.
func.func @concatenate(%a : tensor<2x3xf32>, %b : tensor<2x4xf32>) {
  // CHECK:      %y = relay.concatenate %a, %b {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<2x7xf32>
  %y = relay.concatenate %a, %b {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<2x7xf32>
  func.return
}

// Take a tensor apart along an axis.
func.func @split(%x : tensor<3x4xf32>) {
  // CHECK:      %y, %z = relay.split %x {sizes = array<i64: 1, 2>, axis = 0 : i64} : (tensor<3x4xf32>) -> (tensor<1x4xf32>, tensor<2x4xf32>)
  %y, %z = relay.split %x {sizes = array<i64: 1, 2>, axis = 0 : i64} : (tensor<3x4xf32>) -> (tensor<1x4xf32>, tensor<2x4xf32>)
  func.return
}

// Pick elements at regular distances along each axis.
func.func @strided_slice(%x : tensor<4x6xf32>) {
  // CHECK:      %y = relay.strided_slice %x {begin = array<i64: 0, 5>, sizes = array<i64: 2, 3>, strides = array<i64: 1, -2>} : tensor<4x6xf32> -> tensor<2x3xf32>
  %y = relay.strided_slice %x {begin = array<i64: 0, 5>, sizes = array<i64: 2, 3>, strides = array<i64: 1, -2>} : tensor<4x6xf32> -> tensor<2x3xf32>
  func.return
}

// Pick slices of data along an axis by index; a negative index counts from the end.
func.func @gather(%x : tensor<10x4xf32>, %i : tensor<2x3xi64>) {
  // CHECK:      %y = relay.gather %x, %i {axis = 0 : i64} : (tensor<10x4xf32>, tensor<2x3xi64>) -> tensor<2x3x4xf32>
  %y = relay.gather %x, %i {axis = 0 : i64} : (tensor<10x4xf32>, tensor<2x3xi64>) -> tensor<2x3x4xf32>
  func.return
}

// Add elements before and after the data along each axis.
func.func @pad(%x : tensor<2x3xf32>) {
  // CHECK:      %y = relay.pad %x {before = array<i64: 0, 1>, after = array<i64: 0, 2>, mode = "constant", value = 0.000000e+00 : f64} : tensor<2x3xf32> -> tensor<2x6xf32>
  %y = relay.pad %x {before = array<i64: 0, 1>, after = array<i64: 0, 2>, mode = "constant", value = 0.000000e+00 : f64} : tensor<2x3xf32> -> tensor<2x6xf32>
  func.return
}

// Where data is dynamic, a size of -1 takes all that there is.
func.func @dynamic(%x : tensor<?x4xf32>) {
  // CHECK:      %y = relay.strided_slice %x {begin = array<i64: 1, 0>, sizes = array<i64: -1, 2>, strides = array<i64: 1, 3>} : tensor<?x4xf32> -> tensor<?x2xf32>
  %y = relay.strided_slice %x {begin = array<i64: 1, 0>, sizes = array<i64: -1, 2>, strides = array<i64: 1, 3>} : tensor<?x4xf32> -> tensor<?x2xf32>
  // CHECK-NEXT: %z = relay.concatenate %x, %x {axis = 0 : i64} : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  %z = relay.concatenate %x, %x {axis = 0 : i64} : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  func.return
}

// A constant pad may remove elements; integers are padded with an integer.
func.func @crop(%x : tensor<4x4xi32>) {
  // CHECK:      %y = relay.pad %x {before = array<i64: -1, 2>, after = array<i64: 0, -3>, mode = "constant", value = -1 : i64} : tensor<4x4xi32> -> tensor<3x3xi32>
  %y = relay.pad %x {before = array<i64: -1, 2>, after = array<i64: 0, -3>, mode = "constant", value = -1 : i64} : tensor<4x4xi32> -> tensor<3x3xi32>
  func.return
}

// One tensor can be concatenated, and split into itself.
func.func @one(%x : tensor<4xf32>) {
  // CHECK:      %y = relay.concatenate %x {axis = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %y = relay.concatenate %x {axis = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %z = relay.split %x {sizes = array<i64: 4>, axis = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %z = relay.split %x {sizes = array<i64: 4>, axis = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}
