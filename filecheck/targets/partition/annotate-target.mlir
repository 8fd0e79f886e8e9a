// RUN: %test-opt %s -p 'annotate-target{targets="example{ops=exp,add}",other}' | filecheck %s
// RUN: %test-opt %s -p 'annotate-target{targets=host,other}' | filecheck %s --check-prefix=HOST

// An op that both targets support goes to the first; one that the first rejects goes to the second, with the reason.
// CHECK:      func.func @main
// HOST:       func.func @main
func.func @main(%x : tensor<4xf32>) -> tensor<4xf32> {
// CHECK-NEXT:   %c = relay.constant dense<1.000000e+00> : tensor<4xf32>
  %c = relay.constant dense<1.0> : tensor<4xf32>
// CHECK-NEXT:   %0 = relay.exp %x {byoc.target = "example{ops=exp,add}"} : tensor<4xf32>
// The host takes first what it supports, if it is named first.
// HOST:         relay.exp %x {byoc.target = "host"}
  %0 = relay.exp %x : tensor<4xf32>
// CHECK-NEXT:   %1 = relay.negative %0 {byoc.rejected = {example = "relay.negative is not among its ops"}, byoc.target = "other"} : tensor<4xf32>
  %1 = relay.negative %0 : tensor<4xf32>
// An op that no target supports has all reasons.
// CHECK-NEXT:   %2 = relay.erf %1 {byoc.rejected = {example = "relay.erf is not among its ops", other = "relay.erf is not among its ops"}} : tensor<4xf32>
  %2 = relay.erf %1 : tensor<4xf32>
// What was given away before stays there.
// CHECK-NEXT:   %3 = relay.add %2, %c {byoc.target = "other"}
  %3 = relay.add %2, %c {byoc.target = "other"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %3 : tensor<4xf32>
}

// Kernels are no graphs.
// CHECK:      func.func private @kernel
func.func private @kernel(%x : tensor<4xf32>) -> tensor<4xf32> attributes {partita.kernel} {
// CHECK-NEXT:   %0 = relay.exp %x : tensor<4xf32>
  %0 = relay.exp %x : tensor<4xf32>
  func.return %0 : tensor<4xf32>
}
