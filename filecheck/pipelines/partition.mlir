// RUN: %test-opt %s -p 'annotate-target{targets=example},merge-composite{targets=example},merge-regions,prune-regions{targets=example},partition-graph,for-each-external{target=example pipeline=dce},codegen-externals,simplify-inference,fuse-ops,lower-relay-to-te,lower-te-to-tir,plan-memory,collect-weights' | filecheck %s

// A graph from annotation to what a plan is made of.
// CHECK:      builtin.module attributes {partita.weights = [#partita.weight<"[[W:[0-9a-f]+]]">]} {
// CHECK-NEXT:   func.func @main(%x: memref<4xf32>, %y: memref<4xf32>) attributes {partita.entry
// CHECK-NEXT:     %h = memref.alloc() {partita.offset = 0 : i64} : memref<4xf32>
// CHECK-NEXT:     func.call @erf_{{[0-9a-f]+}}(%x, %h) : (memref<4xf32>, memref<4xf32>) -> ()
// CHECK-NEXT:     byoc.call @example::@main_0(%h, %y) : (memref<4xf32>, memref<4xf32>) -> ()
// CHECK-NEXT:     func.return
// CHECK:        byoc.module @example attributes {target = "example"} {
// CHECK-NEXT:     byoc.binary @main_0 : (tensor<4xf32>) -> tensor<4xf32> {files = #byoc.files<"{{[0-9a-f]+}}">, weights = [#partita.weight<"[[W]]">], options = "{}"}
func.func @main(%x : tensor<4xf32>) -> tensor<4xf32> attributes {partita.entry} {
  %c = relay.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %h = relay.erf %x : tensor<4xf32>
  %m = relay.multiply %h, %c : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %a = relay.add %m, %h : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %y = relay.exp %a : tensor<4xf32>
  func.return %y : tensor<4xf32>
}
