// RUN: partita-opt %s | partita-opt | filecheck %s
// RUN: partita-opt %s --print-op-generic | partita-opt | filecheck %s

// Normalize each channel by mean and variance that are known, then scale and shift it.
func.func @batch_norm(%x : tensor<1x3x8x8xf32>, %g : tensor<3xf32>, %b : tensor<3xf32>, %m : tensor<3xf32>, %v : tensor<3xf32>) {
  // CHECK:      %y = relay.batch_norm %x, %g, %b, %m, %v {axis = 1 : i64, epsilon = 1.000000e-05 : f64} : (tensor<1x3x8x8xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<1x3x8x8xf32>
  %y = relay.batch_norm %x, %g, %b, %m, %v {axis = 1 : i64, epsilon = 1.000000e-05 : f64} : (tensor<1x3x8x8xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<1x3x8x8xf32>
  func.return
}

// Normalize by mean and variance over the last axes, then scale and shift.
func.func @layer_norm(%x : tensor<2x5x8xf32>, %g : tensor<8xf32>, %b : tensor<8xf32>) {
  // CHECK:      %y = relay.layer_norm %x, %g, %b {axis = 2 : i64, epsilon = 1.000000e-05 : f64} : (tensor<2x5x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<2x5x8xf32>
  %y = relay.layer_norm %x, %g, %b {axis = 2 : i64, epsilon = 1.000000e-05 : f64} : (tensor<2x5x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<2x5x8xf32>
  func.return
}

// Divide each element by a power of the squares in a window of channels (local response normalization).
func.func @lrn(%x : tensor<1x16x8x8xf32>) {
  // CHECK:      %y = relay.lrn %x {size = 5 : i64, alpha = 1.000000e-04 : f64, beta = 7.500000e-01 : f64, bias = 1.000000e+00 : f64} : tensor<1x16x8x8xf32>
  %y = relay.lrn %x {size = 5 : i64, alpha = 1.000000e-04 : f64, beta = 7.500000e-01 : f64, bias = 1.000000e+00 : f64} : tensor<1x16x8x8xf32>
  func.return
}
