// RUN: partita-opt %s -p merge-regions | filecheck %s

// Neighbours of one target are one region; the constant between them is in none.
// CHECK:      func.func @chain
func.func @chain(%x : tensor<4xf32>) -> tensor<4xf32> {
// CHECK-NEXT:   %a = relay.exp %x {byoc.target = "t", byoc.region = 0 : i64}
  %a = relay.exp %x {byoc.target = "t"} : tensor<4xf32>
// CHECK-NEXT:   %c = relay.constant dense<1.000000e+00> : tensor<4xf32>
  %c = relay.constant dense<1.0> : tensor<4xf32>
// CHECK-NEXT:   %b = relay.add %a, %c {byoc.target = "t", byoc.region = 0 : i64}
  %b = relay.add %a, %c {byoc.target = "t"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %b : tensor<4xf32>
}

// What the host computes from the one, the other needs: they stay apart.
// CHECK:      func.func @around
func.func @around(%x : tensor<4xf32>) -> tensor<4xf32> {
// CHECK-NEXT:   %a = relay.exp %x {byoc.target = "t", byoc.region = 0 : i64}
  %a = relay.exp %x {byoc.target = "t"} : tensor<4xf32>
// CHECK-NEXT:   %h = relay.erf %a : tensor<4xf32>
  %h = relay.erf %a : tensor<4xf32>
// CHECK-NEXT:   %b = relay.add %a, %h {byoc.target = "t", byoc.region = 1 : i64}
  %b = relay.add %a, %h {byoc.target = "t"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %b : tensor<4xf32>
}

// The other target can go first.
// CHECK:      func.func @one_waits
func.func @one_waits(%x : tensor<4xf32>) -> tensor<4xf32> {
// CHECK-NEXT:   %a = relay.exp %x {byoc.target = "t", byoc.region = 1 : i64}
  %a = relay.exp %x {byoc.target = "t"} : tensor<4xf32>
// CHECK-NEXT:   %u = relay.erf %x {byoc.target = "u", byoc.region = 0 : i64}
  %u = relay.erf %x {byoc.target = "u"} : tensor<4xf32>
// CHECK-NEXT:   %b = relay.add %a, %u {byoc.target = "t", byoc.region = 1 : i64}
  %b = relay.add %a, %u {byoc.target = "t"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %b : tensor<4xf32>
}

// Two targets would wait for each other: one of them is divided.
// CHECK:      func.func @crossed
func.func @crossed(%x : tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
// CHECK-NEXT:   %t1 = relay.exp %x {byoc.target = "t", byoc.region = 1 : i64}
  %t1 = relay.exp %x {byoc.target = "t"} : tensor<4xf32>
// CHECK-NEXT:   %u1 = relay.erf %x {byoc.target = "u", byoc.region = 0 : i64}
  %u1 = relay.erf %x {byoc.target = "u"} : tensor<4xf32>
// CHECK-NEXT:   %t2 = relay.add %t1, %u1 {byoc.target = "t", byoc.region = 1 : i64}
  %t2 = relay.add %t1, %u1 {byoc.target = "t"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:   %u2 = relay.subtract %u1, %t1 {byoc.target = "u", byoc.region = 2 : i64}
  %u2 = relay.subtract %u1, %t1 {byoc.target = "u"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %t2, %u2 : tensor<4xf32>, tensor<4xf32>
}

// Ops that do not use each other's results stay apart; what was explicitly given to the host is in no region.
// CHECK:      func.func @apart
func.func @apart(%x : tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
// CHECK-NEXT:   %a = relay.exp %x {byoc.target = "t", byoc.region = 0 : i64}
  %a = relay.exp %x {byoc.target = "t"} : tensor<4xf32>
// CHECK-NEXT:   %b = relay.erf %x {byoc.target = "t", byoc.region = 1 : i64}
  %b = relay.erf %x {byoc.target = "t"} : tensor<4xf32>
// CHECK-NEXT:   %c = relay.erf %b {byoc.target = "host"}
  %c = relay.erf %b {byoc.target = "host"} : tensor<4xf32>
  func.return %a, %b, %c : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// Nothing is anybody's, and there is nothing at all.
// CHECK:      func.func @none
func.func @none(%x : tensor<4xf32>) -> tensor<4xf32> {
// CHECK-NEXT:   %a = relay.exp %x : tensor<4xf32>
  %a = relay.exp %x : tensor<4xf32>
  func.return %a : tensor<4xf32>
}
// CHECK:      func.func @empty
func.func @empty() {
  func.return
}
