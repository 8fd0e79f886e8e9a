// RUN: not partita-opt %s 2>&1 | filecheck %s

// CHECK:      partita-opt: error: {{.*}}parse-error.mlir:9:23: attribute expected
// CHECK-NEXT:   %c = arith.constant : i32
// CHECK-NEXT:                        ^
// CHECK-NOT: {{.}}

func.func @f() {
  %c = arith.constant : i32
  func.return
}
