// RUN: partita-opt %s --split-input-file --verify-diagnostics | filecheck %s

func.func @binary_types(%a : tensor<3xf32>, %b : tensor<3xf64>) {
  // CHECK: expected lhs and rhs of one element type, got f32 and f64
  %y = relay.add %a, %b : (tensor<3xf32>, tensor<3xf64>) -> tensor<3xf32>
  func.return
}

// -----

func.func @power_type(%a : tensor<3xf32>, %b : tensor<3xi1>) {
  // CHECK: expected rhs of numeric elements, got i1
  %y = relay.power %a, %b : (tensor<3xf32>, tensor<3xi1>) -> tensor<3xf32>
  func.return
}

// -----

func.func @float_mod(%a : tensor<3xf32>, %b : tensor<3xf32>) {
  // CHECK: expected lhs of integer elements where fmod is false, got f32
  %y = relay.mod %a, %b {fmod = false} : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  func.return
}

// -----

func.func @where_condition(%c : tensor<3xi8>, %a : tensor<3xf32>) {
  // CHECK: expected condition of i1 elements, got i8
  %y = relay.where %c, %a, %a : (tensor<3xi8>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  func.return
}

// -----

func.func @where_types(%c : tensor<3xi1>, %a : tensor<3xf32>, %b : tensor<3xi32>) {
  // CHECK: expected x and y of one element type, got f32 and i32
  %y = relay.where %c, %a, %b : (tensor<3xi1>, tensor<3xf32>, tensor<3xi32>) -> tensor<3xf32>
  func.return
}

// -----

func.func @clip_minimum(%x : tensor<3xi32>) {
  // CHECK: expected minimum of type i64, got f64
  %y = relay.clip %x {minimum = 0.000000e+00 : f64} : tensor<3xi32>
  func.return
}

// -----

func.func @cast_target(%x : tensor<3xf32>) {
  // CHECK: expected to be an element type, got index
  %y = relay.cast %x {to = index} : tensor<3xf32> -> tensor<3xindex>
  func.return
}
