// RUN: partita-opt %s -p partition-graph --split-input-file --verify-diagnostics | filecheck %s

func.func @main(%x : tensor<4xf32>) -> tensor<4xf32> {
  %a = relay.exp %x {byoc.target = "t", byoc.region = 0 : i64} : tensor<4xf32>
  func.return %a : tensor<4xf32>
}
// CHECK: expected no symbol @t beside the functions of target t; rename it
func.func @t() {
  func.return
}

// -----

// CHECK: expected target t{o=1}, which byoc.module @t is for already, got t{o=2}
func.func @main(%x : tensor<4xf32>) -> tensor<4xf32> {
  %a = relay.exp %x {byoc.target = "t{o=2}", byoc.region = 0 : i64} : tensor<4xf32>
  func.return %a : tensor<4xf32>
}
byoc.module @t attributes {target = "t{o=1}"} {
}

// -----

func.func @main(%x : tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: expected regions that do not wait for each other; run merge-regions first (from first)
  %a = relay.exp %x {partita.origin = "first", byoc.target = "t", byoc.region = 0 : i64} : tensor<4xf32>
  %h = relay.erf %a : tensor<4xf32>
  %b = relay.exp %h {byoc.target = "t", byoc.region = 0 : i64} : tensor<4xf32>
  func.return %b : tensor<4xf32>
}
