// RUN: %test-opt %s -p 'prune-regions{targets=example,other}' | filecheck %s

// CHECK:      func.func @main
func.func @main(%x : tensor<4xf32>) -> tensor<4xf32> {
// A region that the back end finds too small, and one that is large enough.
// CHECK-NEXT:   %0 = relay.exp %x {byoc.rejected = {other = "a region of 1 op, where at least 2 are worth it"}} : tensor<4xf32>
  %0 = relay.exp %x {byoc.target = "other", byoc.region = 0 : i64} : tensor<4xf32>
// CHECK-NEXT:   %1 = relay.erf %0 : tensor<4xf32>
  %1 = relay.erf %0 : tensor<4xf32>
// CHECK-NEXT:   %2 = relay.exp %1 {byoc.target = "other", byoc.region = 1 : i64} : tensor<4xf32>
  %2 = relay.exp %1 {byoc.target = "other", byoc.region = 1 : i64} : tensor<4xf32>
// CHECK-NEXT:   %3 = relay.relu %2 {byoc.target = "other", byoc.region = 1 : i64} : tensor<4xf32>
  %3 = relay.relu %2 {byoc.target = "other", byoc.region = 1 : i64} : tensor<4xf32>
// A region of another kind that does not pay, with a reason from before.
// CHECK-NEXT:   %4 = relay.dropout %3 {byoc.rejected = {other = "no", example = "its region does nothing"}, rate = 5.000000e-01 : f64} : tensor<4xf32>
  %4 = relay.dropout %3 {rate = 5.000000e-01 : f64, byoc.rejected = {other = "no"}, byoc.target = "example", byoc.region = 2 : i64} : tensor<4xf32>
  func.return %4 : tensor<4xf32>
}

// The ops of a composite count, also nested ones, and its constants do not.
// CHECK:      func.func @composites
func.func @composites(%x : tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
// CHECK-NEXT:   %0 = byoc.composite "two"
  %0 = byoc.composite "two" (%x) attributes {byoc.target = "other", byoc.region = 0 : i64} {
  ^bb0(%a : tensor<4xf32>):
    %b = relay.exp %a : tensor<4xf32>
    %c = relay.relu %b : tensor<4xf32>
    byoc.yield %c : tensor<4xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
// CHECK:        } : (tensor<4xf32>) -> tensor<4xf32>
// A composite that goes back to the host becomes the ops that it was made of.
// CHECK-NEXT:   %d = relay.constant dense<1.000000e+00> : tensor<4xf32>
// CHECK-NEXT:   %e = relay.add %x, %d {byoc.rejected = {other = "a region of 1 op, where at least 2 are worth it"}}
// CHECK-NEXT:   func.return %0, %e
  %1 = byoc.composite "one" (%x) attributes {byoc.target = "other", byoc.region = 1 : i64} {
  ^bb0(%a : tensor<4xf32>):
    %i = byoc.composite "inner" (%a) {
    ^bb0(%b : tensor<4xf32>):
      %d = relay.constant dense<1.0> : tensor<4xf32>
      %e = relay.add %b, %d : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      byoc.yield %e : tensor<4xf32>
    } : (tensor<4xf32>) -> tensor<4xf32>
    byoc.yield %i : tensor<4xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  func.return %0, %1 : tensor<4xf32>, tensor<4xf32>
}
