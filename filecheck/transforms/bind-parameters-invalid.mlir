// RUN: partita-opt %s -p 'bind-parameters{weights="%S/parameters.safetensors"}' --split-input-file --verify-diagnostics | filecheck %s

// CHECK: expected contents of all parameters, got none of p, q; set weights
func.func @missing(%q : tensor<2xf32> {partita.param = "q"}, %w : tensor<2xf32> {partita.param = "w"}, %p : tensor<2xf32> {partita.param = "p"}) {
  func.return
}

// -----

// CHECK: expected parameter w of type tensor<1x2xf32>, got float32 of shape (2,)
func.func @shape(%w : tensor<1x2xf32> {partita.param = "w"}) {
  func.return
}

// -----

// CHECK: expected parameter w of type tensor<2xf64>, got float32 of shape (2,)
func.func @dtype(%w : tensor<2xf64> {partita.param = "w"}) {
  func.return
}

// -----

// CHECK: expected tensor parameter w, got f32
func.func @scalar(%w : f32 {partita.param = "w"}) {
  func.return
}
