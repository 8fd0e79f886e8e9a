// RUN: partita-opt %s -p 'bind-parameters{weights="%S/parameters.safetensors"}' --split-input-file | filecheck %s

// An argument in the middle goes; those around it keep their attributes.
func.func @middle(%x : tensor<2xf32> {partita.name = "x"}, %w : tensor<2xf32> {partita.param = "w"}, %y : tensor<2xf32> {partita.name = "y"}) -> tensor<2xf32> {
  // CHECK:      func.func @middle(%x: tensor<2xf32> {partita.name = "x"}, %y: tensor<2xf32> {partita.name = "y"}) -> tensor<2xf32> {
  // CHECK-NEXT:   %[[W:.*]] = relay.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
  // CHECK-NEXT:   relay.add %x, %[[W]]
  %0 = relay.add %x, %w : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  func.return %0 : tensor<2xf32>
}

// -----

// A parameter that two arguments name is one constant.
func.func @twice(%v : tensor<2xf32> {partita.param = "w"}, %w : tensor<2xf32> {partita.param = "w"}) -> tensor<2xf32> {
  // CHECK:      func.func @twice() -> tensor<2xf32> {
  // CHECK-NEXT:   %[[W:.*]] = relay.constant
  // CHECK-NEXT:   relay.add %[[W]], %[[W]]
  %0 = relay.add %v, %w : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  func.return %0 : tensor<2xf32>
}

// -----

// A function without parameters stays as it is.
func.func @none(%x : tensor<2xf32> {partita.name = "w"}) -> tensor<2xf32> {
  // CHECK:      func.func @none(%x: tensor<2xf32> {partita.name = "w"}) -> tensor<2xf32> {
  // CHECK-NEXT:   func.return %x
  func.return %x : tensor<2xf32>
}
