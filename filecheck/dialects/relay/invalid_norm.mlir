// RUN: partita-opt %s --split-input-file --verify-diagnostics | filecheck %s

func.func @batch_norm_shape(%x : tensor<1x3x8x8xf32>, %g : tensor<3xf32>, %b : tensor<3xf32>, %m : tensor<4xf32>, %v : tensor<3xf32>) {
  // CHECK: expected mean of shape 3, got 4
  %y = relay.batch_norm %x, %g, %b, %m, %v {axis = 1 : i64, epsilon = 1.000000e-05 : f64} : (tensor<1x3x8x8xf32>, tensor<3xf32>, tensor<3xf32>, tensor<4xf32>, tensor<3xf32>) -> tensor<1x3x8x8xf32>
  func.return
}

// -----

func.func @batch_norm_type(%x : tensor<1x3x8x8xf32>, %g : tensor<3xf32>, %b : tensor<3xf32>, %m : tensor<3xf32>, %v : tensor<3xf64>) {
  // CHECK: expected variance of f32 elements, got f64
  %y = relay.batch_norm %x, %g, %b, %m, %v {axis = 1 : i64, epsilon = 1.000000e-05 : f64} : (tensor<1x3x8x8xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf64>) -> tensor<1x3x8x8xf32>
  func.return
}

// -----

func.func @layer_norm_shape(%x : tensor<2x3x4xf32>, %g : tensor<1x1x4xf32>) {
  // CHECK: expected gamma of a shape that broadcasts to 3x4, got 1x1x4
  %y = relay.layer_norm %x, %g, %g {axis = 1 : i64, epsilon = 1.000000e-05 : f64} : (tensor<2x3x4xf32>, tensor<1x1x4xf32>, tensor<1x1x4xf32>) -> tensor<2x3x4xf32>
  func.return
}

// -----

func.func @layer_norm_type(%x : tensor<2x3xf32>, %g : tensor<3xf16>) {
  // CHECK: expected gamma of f32 elements, got f16
  %y = relay.layer_norm %x, %g, %g {axis = 1 : i64, epsilon = 1.000000e-05 : f64} : (tensor<2x3xf32>, tensor<3xf16>, tensor<3xf16>) -> tensor<2x3xf32>
  func.return
}

// -----

func.func @lrn_rank(%x : tensor<3xf32>) {
  // CHECK: expected data of rank 2 or more, got 1
  %y = relay.lrn %x {size = 3 : i64, alpha = 1.000000e-04 : f64, beta = 7.500000e-01 : f64, bias = 1.000000e+00 : f64} : tensor<3xf32>
  func.return
}

// -----

func.func @lrn_size(%x : tensor<1x3x8x8xf32>) {
  // CHECK: expected size of at least 1, got 0
  %y = relay.lrn %x {size = 0 : i64, alpha = 1.000000e-04 : f64, beta = 7.500000e-01 : f64, bias = 1.000000e+00 : f64} : tensor<1x3x8x8xf32>
  func.return
}
