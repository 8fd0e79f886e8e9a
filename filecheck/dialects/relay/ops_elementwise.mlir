// RUN: partita-opt %s | partita-opt | filecheck %s
// RUN: partita-opt %s --print-op-generic | partita-opt | filecheck %s

// Say which elements are not a number.
func.func @isnan(%x : tensor<2x3xf32>) {
  // CHECK:      %y = relay.isnan %x : tensor<2x3xf32> -> tensor<2x3xi1>
  %y = relay.isnan %x : tensor<2x3xf32> -> tensor<2x3xi1>
  func.return
}

// Say which elements are infinite, of the signs that are asked for.
func.func @isinf(%x : tensor<2x3xf32>) {
  // CHECK:      %y = relay.isinf %x {positive = true, negative = false} : tensor<2x3xf32> -> tensor<2x3xi1>
  %y = relay.isinf %x {positive = true, negative = false} : tensor<2x3xf32> -> tensor<2x3xi1>
  func.return
}

// Scale negative elements.
func.func @leaky_relu(%x : tensor<2x3xf32>) {
  // CHECK:      %y = relay.leaky_relu %x {alpha = 1.000000e-01 : f64} : tensor<2x3xf32>
  %y = relay.leaky_relu %x {alpha = 1.000000e-01 : f64} : tensor<2x3xf32>
  func.return
}

// Squash elements into [0, 1] by a line that is cut off.
func.func @hard_sigmoid(%x : tensor<2x3xf32>) {
  // CHECK:      %y = relay.hard_sigmoid %x {alpha = 2.000000e-01 : f64, beta = 5.000000e-01 : f64} : tensor<2x3xf32>
  %y = relay.hard_sigmoid %x {alpha = 2.000000e-01 : f64, beta = 5.000000e-01 : f64} : tensor<2x3xf32>
  func.return
}

// Limit elements to a range; NaN stays NaN, and where the range is empty, `maximum` wins.
func.func @clip(%x : tensor<2x3xf32>) {
  // CHECK:      %y = relay.clip %x {minimum = 0.000000e+00 : f64, maximum = 6.000000e+00 : f64} : tensor<2x3xf32>
  %y = relay.clip %x {minimum = 0.000000e+00 : f64, maximum = 6.000000e+00 : f64} : tensor<2x3xf32>
  func.return
}

// Convert elements to another type.
func.func @cast(%x : tensor<2x3xf32>) {
  // CHECK:      %y = relay.cast %x {to = i32} : tensor<2x3xf32> -> tensor<2x3xi32>
  %y = relay.cast %x {to = i32} : tensor<2x3xf32> -> tensor<2x3xi32>
  func.return
}

// Zero elements at random in training; at inference, which is all we do, give the data.
func.func @dropout(%x : tensor<2x3xf32>) {
  // CHECK:      %y = relay.dropout %x {rate = 5.000000e-01 : f64} : tensor<2x3xf32>
  %y = relay.dropout %x {rate = 5.000000e-01 : f64} : tensor<2x3xf32>
  func.return
}

// Limits of integers are integers, and either may be absent.
func.func @integer_limits(%x : tensor<4xui8>) {
  // CHECK:      %y = relay.clip %x {maximum = 6 : i64} : tensor<4xui8>
  %y = relay.clip %x {maximum = 6 : i64} : tensor<4xui8>
  // CHECK-NEXT: %z = relay.clip %x : tensor<4xui8>
  %z = relay.clip %x : tensor<4xui8>
  func.return
}

// Limits may be infinite.
func.func @infinite_limit(%x : tensor<4xf32>) {
  // CHECK:      %y = relay.clip %x {minimum = 0xfff0000000000000 : f64} : tensor<4xf32>
  %y = relay.clip %x {minimum = 0xfff0000000000000 : f64} : tensor<4xf32>
  func.return
}
