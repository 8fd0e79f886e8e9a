// RUN: partita-opt %s | partita-opt | filecheck %s
// RUN: partita-opt %s --print-op-generic | partita-opt | filecheck %s

// Add elements.
func.func @add(%a : tensor<2x3xf32>, %b : tensor<3xf32>) {
  // CHECK:      %y = relay.add %a, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %y = relay.add %a, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  func.return
}

// Subtract elements.
func.func @subtract(%a : tensor<2x3xf32>, %b : tensor<3xf32>) {
  // CHECK:      %y = relay.subtract %a, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %y = relay.subtract %a, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  func.return
}

// Multiply elements.
func.func @multiply(%a : tensor<2x3xf32>, %b : tensor<3xf32>) {
  // CHECK:      %y = relay.multiply %a, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %y = relay.multiply %a, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  func.return
}

// Divide elements; quotients of integers are rounded toward zero.
func.func @divide(%a : tensor<2x3xf32>, %b : tensor<3xf32>) {
  // CHECK:      %y = relay.divide %a, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %y = relay.divide %a, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  func.return
}

// Take the larger of two elements; NaN if one is NaN.
func.func @maximum(%a : tensor<2x3xf32>, %b : tensor<3xf32>) {
  // CHECK:      %y = relay.maximum %a, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %y = relay.maximum %a, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  func.return
}

// Take the smaller of two elements; NaN if one is NaN.
func.func @minimum(%a : tensor<2x3xf32>, %b : tensor<3xf32>) {
  // CHECK:      %y = relay.minimum %a, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %y = relay.minimum %a, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  func.return
}

// Combine bits by and.
func.func @bitwise_and(%a : tensor<2x3xi32>, %b : tensor<3xi32>) {
  // CHECK:      %y = relay.bitwise_and %a, %b : (tensor<2x3xi32>, tensor<3xi32>) -> tensor<2x3xi32>
  %y = relay.bitwise_and %a, %b : (tensor<2x3xi32>, tensor<3xi32>) -> tensor<2x3xi32>
  func.return
}

// Combine bits by or.
func.func @bitwise_or(%a : tensor<2x3xi32>, %b : tensor<3xi32>) {
  // CHECK:      %y = relay.bitwise_or %a, %b : (tensor<2x3xi32>, tensor<3xi32>) -> tensor<2x3xi32>
  %y = relay.bitwise_or %a, %b : (tensor<2x3xi32>, tensor<3xi32>) -> tensor<2x3xi32>
  func.return
}

// Combine bits by exclusive or.
func.func @bitwise_xor(%a : tensor<2x3xi32>, %b : tensor<3xi32>) {
  // CHECK:      %y = relay.bitwise_xor %a, %b : (tensor<2x3xi32>, tensor<3xi32>) -> tensor<2x3xi32>
  %y = relay.bitwise_xor %a, %b : (tensor<2x3xi32>, tensor<3xi32>) -> tensor<2x3xi32>
  func.return
}

// Shift bits toward the most significant; a shift by the width or more gives zero.
func.func @left_shift(%a : tensor<2x3xi32>, %b : tensor<3xi32>) {
  // CHECK:      %y = relay.left_shift %a, %b : (tensor<2x3xi32>, tensor<3xi32>) -> tensor<2x3xi32>
  %y = relay.left_shift %a, %b : (tensor<2x3xi32>, tensor<3xi32>) -> tensor<2x3xi32>
  func.return
}

// Shift bits toward the least significant.
func.func @right_shift(%a : tensor<2x3xi32>, %b : tensor<3xi32>) {
  // CHECK:      %y = relay.right_shift %a, %b : (tensor<2x3xi32>, tensor<3xi32>) -> tensor<2x3xi32>
  %y = relay.right_shift %a, %b : (tensor<2x3xi32>, tensor<3xi32>) -> tensor<2x3xi32>
  func.return
}

// Combine truth values by and.
func.func @logical_and(%a : tensor<2x3xi1>, %b : tensor<3xi1>) {
  // CHECK:      %y = relay.logical_and %a, %b : (tensor<2x3xi1>, tensor<3xi1>) -> tensor<2x3xi1>
  %y = relay.logical_and %a, %b : (tensor<2x3xi1>, tensor<3xi1>) -> tensor<2x3xi1>
  func.return
}

// Combine truth values by or.
func.func @logical_or(%a : tensor<2x3xi1>, %b : tensor<3xi1>) {
  // CHECK:      %y = relay.logical_or %a, %b : (tensor<2x3xi1>, tensor<3xi1>) -> tensor<2x3xi1>
  %y = relay.logical_or %a, %b : (tensor<2x3xi1>, tensor<3xi1>) -> tensor<2x3xi1>
  func.return
}

// Combine truth values by exclusive or.
func.func @logical_xor(%a : tensor<2x3xi1>, %b : tensor<3xi1>) {
  // CHECK:      %y = relay.logical_xor %a, %b : (tensor<2x3xi1>, tensor<3xi1>) -> tensor<2x3xi1>
  %y = relay.logical_xor %a, %b : (tensor<2x3xi1>, tensor<3xi1>) -> tensor<2x3xi1>
  func.return
}

// Say where elements are equal.
func.func @equal(%a : tensor<2x3xf32>, %b : tensor<3xf32>) {
  // CHECK:      %y = relay.equal %a, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xi1>
  %y = relay.equal %a, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xi1>
  func.return
}

// Say where elements differ.
func.func @not_equal(%a : tensor<2x3xf32>, %b : tensor<3xf32>) {
  // CHECK:      %y = relay.not_equal %a, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xi1>
  %y = relay.not_equal %a, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xi1>
  func.return
}

// Say where the left element is smaller.
func.func @less(%a : tensor<2x3xf32>, %b : tensor<3xf32>) {
  // CHECK:      %y = relay.less %a, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xi1>
  %y = relay.less %a, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xi1>
  func.return
}

// Say where the left element is smaller or equal.
func.func @less_equal(%a : tensor<2x3xf32>, %b : tensor<3xf32>) {
  // CHECK:      %y = relay.less_equal %a, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xi1>
  %y = relay.less_equal %a, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xi1>
  func.return
}

// Say where the left element is larger.
func.func @greater(%a : tensor<2x3xf32>, %b : tensor<3xf32>) {
  // CHECK:      %y = relay.greater %a, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xi1>
  %y = relay.greater %a, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xi1>
  func.return
}

// Say where the left element is larger or equal.
func.func @greater_equal(%a : tensor<2x3xf32>, %b : tensor<3xf32>) {
  // CHECK:      %y = relay.greater_equal %a, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xi1>
  %y = relay.greater_equal %a, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xi1>
  func.return
}

// Raise elements to a power, which may be of another element type.
func.func @power(%a : tensor<2x3xf32>, %b : tensor<3xi64>) {
  // CHECK:      %y = relay.power %a, %b : (tensor<2x3xf32>, tensor<3xi64>) -> tensor<2x3xf32>
  %y = relay.power %a, %b : (tensor<2x3xf32>, tensor<3xi64>) -> tensor<2x3xf32>
  func.return
}

// Take the remainder of a division.
func.func @mod(%a : tensor<2x3xi32>, %b : tensor<3xi32>) {
  // CHECK:      %y = relay.mod %a, %b {fmod = false} : (tensor<2x3xi32>, tensor<3xi32>) -> tensor<2x3xi32>
  %y = relay.mod %a, %b {fmod = false} : (tensor<2x3xi32>, tensor<3xi32>) -> tensor<2x3xi32>
  func.return
}

// Choose between the elements of two tensors; all three operands broadcast.
func.func @where(%c : tensor<2x3xi1>, %a : tensor<2x3xf32>, %b : tensor<3xf32>) {
  // CHECK:      %y = relay.where %c, %a, %b : (tensor<2x3xi1>, tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %y = relay.where %c, %a, %b : (tensor<2x3xi1>, tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  func.return
}

// A dynamic dimension beside a static one above 1 takes the static one.
func.func @dynamic(%a : tensor<?x3xf32>, %b : tensor<2x?xf32>) {
  // CHECK:      %y = relay.add %a, %b {partita.origin = "add_1"} : (tensor<?x3xf32>, tensor<2x?xf32>) -> tensor<2x3xf32>
  %y = relay.add %a, %b {partita.origin = "add_1"} : (tensor<?x3xf32>, tensor<2x?xf32>) -> tensor<2x3xf32>
  func.return
}
