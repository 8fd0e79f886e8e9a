// RUN: partita-opt %s | partita-opt | filecheck %s
// RUN: partita-opt %s --print-op-generic | partita-opt | filecheck %s

// Add elements along axes; the sum of none is 0.
func.func @sum(%x : tensor<2x3xf32>) {
  // CHECK:      %y = relay.sum %x {axes = array<i64: 1>, keepdims = false} : tensor<2x3xf32> -> tensor<2xf32>
  %y = relay.sum %x {axes = array<i64: 1>, keepdims = false} : tensor<2x3xf32> -> tensor<2xf32>
  func.return
}

// Average elements along axes; the mean of integers is rounded toward zero.
func.func @mean(%x : tensor<2x3xf32>) {
  // CHECK:      %y = relay.mean %x {axes = array<i64: 1>, keepdims = true} : tensor<2x3xf32> -> tensor<2x1xf32>
  %y = relay.mean %x {axes = array<i64: 1>, keepdims = true} : tensor<2x3xf32> -> tensor<2x1xf32>
  func.return
}

// Take the largest element along axes, NaN if there is one; of none, the least value of the type.
func.func @max(%x : tensor<2x3xf32>) {
  // CHECK:      %y = relay.max %x {axes = array<i64: 0, 1>, keepdims = false} : tensor<2x3xf32> -> tensor<f32>
  %y = relay.max %x {axes = array<i64: 0, 1>, keepdims = false} : tensor<2x3xf32> -> tensor<f32>
  func.return
}

// Take the smallest element along axes, NaN if there is one; of none, the largest value of the type.
func.func @min(%x : tensor<2x3xf32>) {
  // CHECK:      %y = relay.min %x {axes = array<i64: 0, 1>, keepdims = false} : tensor<2x3xf32> -> tensor<f32>
  %y = relay.min %x {axes = array<i64: 0, 1>, keepdims = false} : tensor<2x3xf32> -> tensor<f32>
  func.return
}

// Multiply elements along axes; the product of none is 1.
func.func @prod(%x : tensor<2x3xf32>) {
  // CHECK:      %y = relay.prod %x {axes = array<i64: 1>, keepdims = false} : tensor<2x3xf32> -> tensor<2xf32>
  %y = relay.prod %x {axes = array<i64: 1>, keepdims = false} : tensor<2x3xf32> -> tensor<2xf32>
  func.return
}

// Find the largest element along an axis; a NaN is larger than any.
func.func @argmax(%x : tensor<2x3xf32>) {
  // CHECK:      %y = relay.argmax %x {axis = 1 : i64, keepdims = true, select_last_index = false} : tensor<2x3xf32> -> tensor<2x1xi64>
  %y = relay.argmax %x {axis = 1 : i64, keepdims = true, select_last_index = false} : tensor<2x3xf32> -> tensor<2x1xi64>
  func.return
}

// Find the smallest element along an axis; a NaN is smaller than any.
func.func @argmin(%x : tensor<2x3xf32>) {
  // CHECK:      %y = relay.argmin %x {axis = 1 : i64, keepdims = false, select_last_index = true} : tensor<2x3xf32> -> tensor<2xi64>
  %y = relay.argmin %x {axis = 1 : i64, keepdims = false, select_last_index = true} : tensor<2x3xf32> -> tensor<2xi64>
  func.return
}

// Turn elements along an axis into positive ones that add up to 1.
func.func @softmax(%x : tensor<2x3xf32>) {
  // CHECK:      %y = relay.softmax %x {axis = 1 : i64} : tensor<2x3xf32>
  %y = relay.softmax %x {axis = 1 : i64} : tensor<2x3xf32>
  func.return
}

// Take the logarithm of the softmax, without ever leaving the logarithmic scale.
func.func @log_softmax(%x : tensor<2x3xf32>) {
  // CHECK:      %y = relay.log_softmax %x {axis = 1 : i64} : tensor<2x3xf32>
  %y = relay.log_softmax %x {axis = 1 : i64} : tensor<2x3xf32>
  func.return
}

// Reducing no axes gives the data.
func.func @nothing(%x : tensor<2x3xf32>) {
  // CHECK:      %y = relay.sum %x {axes = array<i64>, keepdims = false} : tensor<2x3xf32> -> tensor<2x3xf32>
  %y = relay.sum %x {axes = array<i64>, keepdims = false} : tensor<2x3xf32> -> tensor<2x3xf32>
  func.return
}

// Dynamic dimensions that stay, stay dynamic.
func.func @dynamic(%x : tensor<?x3x?xi1>) {
  // CHECK:      %y = relay.max %x {axes = array<i64: 1, 2>, keepdims = true} : tensor<?x3x?xi1> -> tensor<?x1x1xi1>
  %y = relay.max %x {axes = array<i64: 1, 2>, keepdims = true} : tensor<?x3x?xi1> -> tensor<?x1x1xi1>
  func.return
}
