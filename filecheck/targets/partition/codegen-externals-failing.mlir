// RUN: not %test-opt %s -p 'codegen-externals{on-failure=error}' 2>&1 | filecheck %s --check-prefix=ERROR
// RUN: %test-opt %s -p codegen-externals 2>/dev/null | filecheck %s
// RUN: not %test-opt %s -p 'codegen-externals{on-failure=never}' 2>&1 | filecheck %s --check-prefix=POLICY

// ERROR: target example cannot compile @main_0: relay.erf is not among its ops; set --on-external-failure=host to let the host run it
// POLICY: expected on-failure of host or error, got never

// What was kept takes the place of the call, and no module is left.
// CHECK:      func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
// CHECK-NEXT:   %e = relay.exp %x : tensor<4xf32>
// CHECK-NEXT:   func.return %e : tensor<4xf32>
// CHECK-NEXT: }
// CHECK-NOT:  byoc.module
func.func @main(%x : tensor<4xf32>) -> tensor<4xf32> {
  %b = byoc.call @example::@main_0(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %b : tensor<4xf32>
}

byoc.module @example attributes {target = "example"} {
  builtin.module @originals {
    func.func @main_0(%x : tensor<4xf32>) -> tensor<4xf32> {
      %e = relay.exp %x : tensor<4xf32>
      func.return %e : tensor<4xf32>
    }
  }
  func.func @main_0(%x : tensor<4xf32>) -> tensor<4xf32> {
    %e = relay.erf %x : tensor<4xf32>
    func.return %e : tensor<4xf32>
  }
}
