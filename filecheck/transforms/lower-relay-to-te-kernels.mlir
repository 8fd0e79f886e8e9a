// RUN: partita-opt %s -p lower-relay-to-te | filecheck %s

// In a module of kernels only these are lowered: the entry keeps its calls and constants.
// CHECK-LABEL: func.func @main
// CHECK-NEXT:   %w = relay.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
// CHECK-NEXT:   %y = func.call @kernel(%x, %w) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
// CHECK-NEXT:   %z = relay.relu %y : tensor<2xf32>
// CHECK-NEXT:   func.return %z : tensor<2xf32>
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> attributes {partita.entry} {
  %w = relay.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %y = func.call @kernel(%x, %w) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %z = relay.relu %y : tensor<2xf32>
  func.return %z : tensor<2xf32>
}

// CHECK-LABEL: func.func private @kernel
// CHECK-NEXT:   %{{.*}} = te.compute "add" (%i0 in 2) {
// CHECK:        %{{.*}} = te.compute "relu" (%{{.*}} in 2) {
// A label that is taken gets a number.
// CHECK:        %{{.*}} = te.compute "relu_1" (%{{.*}} in 2) {
func.func private @kernel(%x: tensor<2xf32>, %w: tensor<2xf32>) -> tensor<2xf32> attributes {partita.kernel} {
  %0 = relay.add %x, %w : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %1 = relay.relu %0 : tensor<2xf32>
  %2 = relay.relu %1 : tensor<2xf32>
  func.return %2 : tensor<2xf32>
}
