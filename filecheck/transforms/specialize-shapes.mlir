// RUN: partita-opt %s -p 'specialize-shapes{shapes="image=2x3;scale=1x3"}' | filecheck %s
// RUN: partita-opt %s -p 'specialize-shapes{shapes="image=2x3","scale=1x3"}' | filecheck %s

// Results follow from the arguments, down to the function's type.
func.func @main(%x : tensor<?x3xf32> {partita.name = "image"}, %scale : tensor<?x3xf32>) -> tensor<3x?xf32> attributes {partita.entry} {
  // CHECK:      func.func @main(%{{.*}}: tensor<2x3xf32> {partita.name = "image"}, %{{.*}}: tensor<1x3xf32>) -> tensor<3x2xf32>
  // CHECK-NEXT:   %[[M:.*]] = relay.multiply %{{.*}}, %{{.*}} : (tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>
  // CHECK-NEXT:   %[[T:.*]] = relay.transpose %[[M]] {axes = array<i64: 1, 0>} : tensor<2x3xf32> -> tensor<3x2xf32>
  // CHECK-NEXT:   func.return %[[T]] : tensor<3x2xf32>
  %0 = relay.multiply %x, %scale : (tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  %1 = relay.transpose %0 {axes = array<i64: 1, 0>} : tensor<?x3xf32> -> tensor<3x?xf32>
  func.return %1 : tensor<3x?xf32>
}

// Only the entry is specialized.
func.func private @other(%x : tensor<?xf32>) -> tensor<?xf32> {
  // CHECK:      func.func private @other(%{{.*}}: tensor<?xf32>) -> tensor<?xf32>
  func.return %x : tensor<?xf32>
}
