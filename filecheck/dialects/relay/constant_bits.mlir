// RUN: partita-opt %s | partita-opt | filecheck %s

// Floats without a short decimal form, and those that are no numbers, keep every bit.
func.func @bits() {
  // CHECK:      %c = relay.constant dense<"0x0000807F0000C07F"> : tensor<2xf32>
  %c = relay.constant dense<"0x0000807F0000C07F"> : tensor<2xf32>
  // CHECK-NEXT: %d = relay.constant dense<"0x00000054346F9D41000000000000F03F"> : tensor<2xf64>
  %d = relay.constant dense<"0x00000054346F9D41000000000000F03F"> : tensor<2xf64>
  func.return
}
