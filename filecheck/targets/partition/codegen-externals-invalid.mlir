// RUN: %test-opt %s -p codegen-externals --split-input-file --verify-diagnostics | filecheck %s

// CHECK: target host compiles no external functions
byoc.module @host attributes {target = "host"} {
}

// -----

// CHECK: target example cannot compile @main_0: relay.erf is not among its ops; the host cannot run it, as it was not kept
byoc.module @example attributes {target = "example"} {
  func.func @main_0(%x : tensor<4xf32>) -> tensor<4xf32> {
    %e = relay.erf %x : tensor<4xf32>
    func.return %e : tensor<4xf32>
  }
}

// -----

// CHECK: unknown target nobody
byoc.module @nobody attributes {target = "nobody"} {
}
