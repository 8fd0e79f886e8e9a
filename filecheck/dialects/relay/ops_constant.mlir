// RUN: partita-opt %s | partita-opt | filecheck %s
// RUN: partita-opt %s --print-op-generic | partita-opt | filecheck %s

// Give a tensor that is known at compile time.
func.func @constant() {
  // CHECK:      %c = relay.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
  %c = relay.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
  func.return
}

// A large constant is known by its digest, and needs no content to be read.
func.func @weight() {
  // CHECK:      %c = relay.constant #partita.weight<"00112233445566778899aabbccddeeff"> : tensor<4x8xf32>
  %c = relay.constant #partita.weight<"00112233445566778899aabbccddeeff"> : tensor<4x8xf32>
  func.return
}

// Equal elements are one element, however many there are.
func.func @splat() {
  // CHECK:      %c = relay.constant dense<-1> : tensor<100x100xi64>
  %c = relay.constant dense<-1> : tensor<100x100xi64>
  // CHECK-NEXT: %d = relay.constant dense<true> : tensor<20xi1>
  %d = relay.constant dense<true> : tensor<20xi1>
  // CHECK-NEXT: %e = relay.constant dense<> : tensor<0x3xf32>
  %e = relay.constant dense<> : tensor<0x3xf32>
  func.return
}

// A constant carries attributes.
func.func @origin() {
  // CHECK:      %c = relay.constant {partita.origin = "weight_1"} dense<[1, 2]> : tensor<2xi32>
  %c = relay.constant {partita.origin = "weight_1"} dense<[1, 2]> : tensor<2xi32>
  func.return
}
