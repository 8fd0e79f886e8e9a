// RUN: partita-opt %s --split-input-file --verify-diagnostics | filecheck %s

func.func @concatenate_none() {
  // CHECK: expected one input or more, got 0
  %y = relay.concatenate  {axis = 0 : i64} : () -> tensor<1xf32>
  func.return
}

// -----

func.func @concatenate_types(%a : tensor<2x6xf32>, %b : tensor<2x6xf64>) {
  // CHECK: expected inputs of one element type, got f32 and f64
  %y = relay.concatenate %a, %b {axis = 0 : i64} : (tensor<2x6xf32>, tensor<2x6xf64>) -> tensor<2x6xf32>
  func.return
}

// -----

func.func @concatenate_ranks(%a : tensor<2x6xf32>, %b : tensor<2xf32>) {
  // CHECK: expected inputs of one rank, got 2 and 1
  %y = relay.concatenate %a, %b {axis = 0 : i64} : (tensor<2x6xf32>, tensor<2xf32>) -> tensor<2x6xf32>
  func.return
}

// -----

func.func @concatenate_extents(%a : tensor<2x6xf32>, %b : tensor<2x7xf32>) {
  // CHECK: expected inputs of equal extent along axis 1, got 6 and 7
  %y = relay.concatenate %a, %b {axis = 0 : i64} : (tensor<2x6xf32>, tensor<2x7xf32>) -> tensor<2x6xf32>
  func.return
}

// -----

func.func @split_negative(%x : tensor<2x6xf32>) {
  // CHECK: expected sizes that are not negative, got -1, 7
  %y0, %y1 = relay.split %x {sizes = array<i64: -1, 7>, axis = 1 : i64} : (tensor<2x6xf32>) -> (tensor<2x1xf32>, tensor<2x7xf32>)
  func.return
}

// -----

func.func @split_sum(%x : tensor<2x6xf32>) {
  // CHECK: expected sizes that add up to 6, got 2, 3
  %y0, %y1 = relay.split %x {sizes = array<i64: 2, 3>, axis = 1 : i64} : (tensor<2x6xf32>) -> (tensor<2x2xf32>, tensor<2x3xf32>)
  func.return
}

// -----

func.func @split_count(%x : tensor<2x6xf32>) {
  // CHECK: expected 2 results, got 1
  %y0 = relay.split %x {sizes = array<i64: 2, 4>, axis = 1 : i64} : (tensor<2x6xf32>) -> (tensor<2x2xf32>)
  func.return
}

// -----

func.func @slice_length(%x : tensor<2x6xf32>) {
  // CHECK: expected begin of 2 values, got 1
  %y = relay.strided_slice %x {begin = array<i64: 0>, sizes = array<i64: 2, 6>, strides = array<i64: 1, 1>} : tensor<2x6xf32> -> tensor<2x6xf32>
  func.return
}

// -----

func.func @slice_strides(%x : tensor<2x6xf32>) {
  // CHECK: expected strides other than 0, got 0
  %y = relay.strided_slice %x {begin = array<i64: 0, 0>, sizes = array<i64: 2, 6>, strides = array<i64: 1, 0>} : tensor<2x6xf32> -> tensor<2x6xf32>
  func.return
}

// -----

func.func @slice_bounds(%x : tensor<2x6xf32>) {
  // CHECK: expected slice within [0, 6) along axis 1, got 6 elements from 2 by 1
  %y = relay.strided_slice %x {begin = array<i64: 0, 2>, sizes = array<i64: 2, 6>, strides = array<i64: 1, 1>} : tensor<2x6xf32> -> tensor<2x6xf32>
  func.return
}

// -----

func.func @gather_indices(%x : tensor<2x6xf32>, %i : tensor<3xf32>) {
  // CHECK: expected indices of integer elements, got f32
  %y = relay.gather %x, %i {axis = 0 : i64} : (tensor<2x6xf32>, tensor<3xf32>) -> tensor<3x6xf32>
  func.return
}

// -----

func.func @pad_mode(%x : tensor<2x6xf32>) {
  // CHECK: expected mode constant, edge, reflect, wrap, got mirror
  %y = relay.pad %x {before = array<i64: 0, 0>, after = array<i64: 0, 0>, mode = "mirror", value = 0.000000e+00 : f64} : tensor<2x6xf32> -> tensor<2x6xf32>
  func.return
}

// -----

func.func @pad_length(%x : tensor<2x6xf32>) {
  // CHECK: expected before of 2 values, got 1
  %y = relay.pad %x {before = array<i64: 0>, after = array<i64: 0, 0>, mode = "constant", value = 0.000000e+00 : f64} : tensor<2x6xf32> -> tensor<2x6xf32>
  func.return
}

// -----

func.func @pad_value(%x : tensor<2x6xf32>) {
  // CHECK: expected value of type f64, got i64
  %y = relay.pad %x {before = array<i64: 0, 0>, after = array<i64: 0, 0>, mode = "constant", value = 0 : i64} : tensor<2x6xf32> -> tensor<2x6xf32>
  func.return
}

// -----

func.func @pad_negative(%x : tensor<2x6xf32>) {
  // CHECK: expected padding that is not negative in mode edge, got -1
  %y = relay.pad %x {before = array<i64: 0, -1>, after = array<i64: 0, 0>, mode = "edge", value = 0.000000e+00 : f64} : tensor<2x6xf32> -> tensor<2x6xf32>
  func.return
}

// -----

func.func @pad_reach(%x : tensor<2x6xf32>) {
  // CHECK: expected padding of at most 5 along axis 1 in mode reflect, got 6
  %y = relay.pad %x {before = array<i64: 0, 6>, after = array<i64: 0, 0>, mode = "reflect", value = 0.000000e+00 : f64} : tensor<2x6xf32> -> tensor<2x6xf32>
  func.return
}

// -----

func.func @pad_empty(%x : tensor<2x6xf32>) {
  // CHECK: expected padding that leaves elements along axis 1, got 6 -4 -3
  %y = relay.pad %x {before = array<i64: 0, -4>, after = array<i64: 0, -3>, mode = "constant", value = 0.000000e+00 : f64} : tensor<2x6xf32> -> tensor<2x6xf32>
  func.return
}
