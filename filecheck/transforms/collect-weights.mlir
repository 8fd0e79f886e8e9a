// RUN: partita-opt %s -p collect-weights | filecheck %s

// Each weight of functions that run, and of the binaries that they call, once and in order; small constants count.
// CHECK:      builtin.module attributes {partita.weights = [#partita.weight<"[[SMALL:[0-9a-f]+]]">, #partita.weight<"00000000000000000000000000000001">, #partita.weight<"00000000000000000000000000000002">]} {
// CHECK-NOT:  00000000000000000000000000000003"]
func.func @main(%x : memref<32xf32>, %y : memref<32xf32>) attributes {partita.entry} {
  %s = tir.constant dense<[1.0, 2.0]> : tensor<2xf32> -> memref<2xf32>
  %w = tir.constant #partita.weight<"00000000000000000000000000000001"> -> memref<32xf32>
  func.call @k(%s, %w, %x, %y) : (memref<2xf32>, memref<32xf32>, memref<32xf32>, memref<32xf32>) -> ()
  byoc.call @t::@main_0(%x, %y) : (memref<32xf32>, memref<32xf32>) -> ()
  byoc.call @t::@main_2(%x, %y) : (memref<32xf32>, memref<32xf32>) -> ()
  func.return
}
func.func private @k(memref<2xf32>, memref<32xf32>, memref<32xf32>, memref<32xf32>)

// A function that does not run.
func.func @unused(%y : memref<32xf32>) {
  %w = tir.constant #partita.weight<"00000000000000000000000000000003"> -> memref<32xf32>
  "memref.copy"(%w, %y) : (memref<32xf32>, memref<32xf32>) -> ()
  func.return
}

byoc.module @t attributes {target = "t"} {
  byoc.binary @main_0 : (tensor<32xf32>) -> tensor<32xf32> {files = #byoc.files<"00112233445566778899aabbccddeeff">, weights = [#partita.weight<"00000000000000000000000000000002">, #partita.weight<"00000000000000000000000000000001">], options = "{}"}
  byoc.binary @main_1 : (tensor<32xf32>) -> tensor<32xf32> {files = #byoc.files<"00112233445566778899aabbccddeeff">, weights = [#partita.weight<"00000000000000000000000000000003">], options = "{}"}
  func.func @main_2(%x : tensor<32xf32>) -> tensor<32xf32> {
    func.return %x : tensor<32xf32>
  }
}
