// RUN: not %test-opt %s -p 'for-each-external{target=t pipeline=nothing}' 2>&1 | filecheck %s --check-prefix=UNKNOWN
// RUN: not partita-opt %s -p 'for-each-external{target=t pipeline="fuse-ops{max-depth=0}"}' 2>&1 | filecheck %s --check-prefix=FAILED

// UNKNOWN: unknown pass nothing
// FAILED: expected max-depth of at least 1, got 0
byoc.module @t attributes {target = "t"} {
  func.func @main_0(%x : tensor<4xf32>) -> tensor<4xf32> {
    func.return %x : tensor<4xf32>
  }
}
