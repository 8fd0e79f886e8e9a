// RUN: %test-opt %s -p 'merge-composite{targets=other,example}' | filecheck %s

// A pattern in either order of its operands; the constant that it asks for goes inside, others are operands.
// CHECK:      func.func @wrapped
func.func @wrapped(%x : tensor<4xf32>, %y : tensor<4xf32>) -> tensor<4xf32> {
// CHECK-NEXT:   %s = byoc.composite "example.multiply_add" (%x, %y) attributes {partita.origin = "mul, add", byoc.target = "example"} {
// CHECK-NEXT:   ^bb0(%0: tensor<4xf32>, %1: tensor<4xf32>):
// CHECK-NEXT:     %c = relay.constant dense<2.000000e+00> : tensor<4xf32>
// CHECK-NEXT:     %p = relay.multiply %c, %0 {partita.origin = "mul"}
// CHECK-NEXT:     %s_1 = relay.add %1, %p {partita.origin = "add"}
// CHECK-NEXT:     byoc.yield %s_1 : tensor<4xf32>
// CHECK-NEXT:   } : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:   func.return %s
  %c = relay.constant dense<2.0> : tensor<4xf32>
  %p = relay.multiply %c, %x {partita.origin = "mul"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %s = relay.add %y, %p {partita.origin = "add", byoc.target = "example"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %s : tensor<4xf32>
}

// A constant that others use too stays for them.
// CHECK:      func.func @shared_constant
func.func @shared_constant(%x : tensor<4xf32>, %y : tensor<4xf32>) -> tensor<4xf32> {
// CHECK-NEXT:   %c = relay.constant
// CHECK-NEXT:   byoc.composite "example.multiply_add" (%x, %y)
// CHECK:        } : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:   relay.subtract %{{.*}}, %c
  %c = relay.constant dense<2.0> : tensor<4xf32>
  %0 = relay.multiply %x, %c : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = relay.add %0, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = relay.subtract %1, %c : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %2 : tensor<4xf32>
}

// What is computed on the way is used elsewhere.
// CHECK:      func.func @used_elsewhere
func.func @used_elsewhere(%x : tensor<4xf32>, %y : tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
// CHECK-NOT:    byoc.composite
// CHECK:        func.return
  %c = relay.constant dense<2.0> : tensor<4xf32>
  %0 = relay.multiply %x, %c : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = relay.add %0, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// No constant.
// CHECK:      func.func @no_constant
func.func @no_constant(%x : tensor<4xf32>, %y : tensor<4xf32>) -> tensor<4xf32> {
// CHECK-NOT:    byoc.composite
// CHECK:        func.return
  %0 = relay.multiply %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = relay.add %0, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %1 : tensor<4xf32>
}

// An op is another target's, which was named before.
// CHECK:      func.func @not_its_own
func.func @not_its_own(%x : tensor<4xf32>, %y : tensor<4xf32>) -> tensor<4xf32> {
// CHECK-NOT:    byoc.composite
// CHECK:        func.return
  %c = relay.constant dense<2.0> : tensor<4xf32>
  %0 = relay.multiply %x, %c {byoc.target = "other"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = relay.add %0, %y {byoc.target = "example"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %1 : tensor<4xf32>
}
