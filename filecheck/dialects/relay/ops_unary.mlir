// RUN: partita-opt %s | partita-opt | filecheck %s
// RUN: partita-opt %s --print-op-generic | partita-opt | filecheck %s

// Replace negative elements by zero.
func.func @relu(%x : tensor<2x3xf32>) {
  // CHECK:      %y = relay.relu %x : tensor<2x3xf32>
  %y = relay.relu %x : tensor<2x3xf32>
  func.return
}

// Negate elements.
func.func @negative(%x : tensor<2x3xf32>) {
  // CHECK:      %y = relay.negative %x : tensor<2x3xf32>
  %y = relay.negative %x : tensor<2x3xf32>
  func.return
}

// Drop the sign of elements.
func.func @abs(%x : tensor<2x3xf32>) {
  // CHECK:      %y = relay.abs %x : tensor<2x3xf32>
  %y = relay.abs %x : tensor<2x3xf32>
  func.return
}

// Give -1, 0 or 1 as elements are negative, zero or positive; NaN stays NaN.
func.func @sign(%x : tensor<2x3xf32>) {
  // CHECK:      %y = relay.sign %x : tensor<2x3xf32>
  %y = relay.sign %x : tensor<2x3xf32>
  func.return
}

// Raise e to the power of elements.
func.func @exp(%x : tensor<2x3xf32>) {
  // CHECK:      %y = relay.exp %x : tensor<2x3xf32>
  %y = relay.exp %x : tensor<2x3xf32>
  func.return
}

// Take the natural logarithm of elements.
func.func @log(%x : tensor<2x3xf32>) {
  // CHECK:      %y = relay.log %x : tensor<2x3xf32>
  %y = relay.log %x : tensor<2x3xf32>
  func.return
}

// Take the square root of elements.
func.func @sqrt(%x : tensor<2x3xf32>) {
  // CHECK:      %y = relay.sqrt %x : tensor<2x3xf32>
  %y = relay.sqrt %x : tensor<2x3xf32>
  func.return
}

// Take the reciprocal of the square root of elements.
func.func @rsqrt(%x : tensor<2x3xf32>) {
  // CHECK:      %y = relay.rsqrt %x : tensor<2x3xf32>
  %y = relay.rsqrt %x : tensor<2x3xf32>
  func.return
}

// Take the reciprocal of elements.
func.func @reciprocal(%x : tensor<2x3xf32>) {
  // CHECK:      %y = relay.reciprocal %x : tensor<2x3xf32>
  %y = relay.reciprocal %x : tensor<2x3xf32>
  func.return
}

// Take the hyperbolic tangent of elements.
func.func @tanh(%x : tensor<2x3xf32>) {
  // CHECK:      %y = relay.tanh %x : tensor<2x3xf32>
  %y = relay.tanh %x : tensor<2x3xf32>
  func.return
}

// Squash elements into (0, 1).
func.func @sigmoid(%x : tensor<2x3xf32>) {
  // CHECK:      %y = relay.sigmoid %x : tensor<2x3xf32>
  %y = relay.sigmoid %x : tensor<2x3xf32>
  func.return
}

// Take the error function of elements.
func.func @erf(%x : tensor<2x3xf32>) {
  // CHECK:      %y = relay.erf %x : tensor<2x3xf32>
  %y = relay.erf %x : tensor<2x3xf32>
  func.return
}

// Round elements down.
func.func @floor(%x : tensor<2x3xf32>) {
  // CHECK:      %y = relay.floor %x : tensor<2x3xf32>
  %y = relay.floor %x : tensor<2x3xf32>
  func.return
}

// Round elements up.
func.func @ceil(%x : tensor<2x3xf32>) {
  // CHECK:      %y = relay.ceil %x : tensor<2x3xf32>
  %y = relay.ceil %x : tensor<2x3xf32>
  func.return
}

// Round elements to the nearest integer, halves to the even one.
func.func @round(%x : tensor<2x3xf32>) {
  // CHECK:      %y = relay.round %x : tensor<2x3xf32>
  %y = relay.round %x : tensor<2x3xf32>
  func.return
}

// Round elements toward zero.
func.func @trunc(%x : tensor<2x3xf32>) {
  // CHECK:      %y = relay.trunc %x : tensor<2x3xf32>
  %y = relay.trunc %x : tensor<2x3xf32>
  func.return
}

// Take the sine of elements.
func.func @sin(%x : tensor<2x3xf32>) {
  // CHECK:      %y = relay.sin %x : tensor<2x3xf32>
  %y = relay.sin %x : tensor<2x3xf32>
  func.return
}

// Take the cosine of elements.
func.func @cos(%x : tensor<2x3xf32>) {
  // CHECK:      %y = relay.cos %x : tensor<2x3xf32>
  %y = relay.cos %x : tensor<2x3xf32>
  func.return
}

// Take the tangent of elements.
func.func @tan(%x : tensor<2x3xf32>) {
  // CHECK:      %y = relay.tan %x : tensor<2x3xf32>
  %y = relay.tan %x : tensor<2x3xf32>
  func.return
}

// Take the inverse sine of elements.
func.func @asin(%x : tensor<2x3xf32>) {
  // CHECK:      %y = relay.asin %x : tensor<2x3xf32>
  %y = relay.asin %x : tensor<2x3xf32>
  func.return
}

// Take the inverse cosine of elements.
func.func @acos(%x : tensor<2x3xf32>) {
  // CHECK:      %y = relay.acos %x : tensor<2x3xf32>
  %y = relay.acos %x : tensor<2x3xf32>
  func.return
}

// Take the inverse tangent of elements.
func.func @atan(%x : tensor<2x3xf32>) {
  // CHECK:      %y = relay.atan %x : tensor<2x3xf32>
  %y = relay.atan %x : tensor<2x3xf32>
  func.return
}

// Take the hyperbolic sine of elements.
func.func @sinh(%x : tensor<2x3xf32>) {
  // CHECK:      %y = relay.sinh %x : tensor<2x3xf32>
  %y = relay.sinh %x : tensor<2x3xf32>
  func.return
}

// Take the hyperbolic cosine of elements.
func.func @cosh(%x : tensor<2x3xf32>) {
  // CHECK:      %y = relay.cosh %x : tensor<2x3xf32>
  %y = relay.cosh %x : tensor<2x3xf32>
  func.return
}

// Take the inverse hyperbolic sine of elements.
func.func @asinh(%x : tensor<2x3xf32>) {
  // CHECK:      %y = relay.asinh %x : tensor<2x3xf32>
  %y = relay.asinh %x : tensor<2x3xf32>
  func.return
}

// Take the inverse hyperbolic cosine of elements.
func.func @acosh(%x : tensor<2x3xf32>) {
  // CHECK:      %y = relay.acosh %x : tensor<2x3xf32>
  %y = relay.acosh %x : tensor<2x3xf32>
  func.return
}

// Take the inverse hyperbolic tangent of elements.
func.func @atanh(%x : tensor<2x3xf32>) {
  // CHECK:      %y = relay.atanh %x : tensor<2x3xf32>
  %y = relay.atanh %x : tensor<2x3xf32>
  func.return
}

// Negate truth values.
func.func @logical_not(%x : tensor<2x3xi1>) {
  // CHECK:      %y = relay.logical_not %x : tensor<2x3xi1>
  %y = relay.logical_not %x : tensor<2x3xi1>
  func.return
}

// Flip every bit of elements.
func.func @bitwise_not(%x : tensor<2x3xi8>) {
  // CHECK:      %y = relay.bitwise_not %x : tensor<2x3xi8>
  %y = relay.bitwise_not %x : tensor<2x3xi8>
  func.return
}
