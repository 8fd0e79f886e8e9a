// RUN: %test-opt %s -p test-erase-first --split-input-file | filecheck %s

// Where a neighbour has gone, the nearest that is left says where to put an op back.

// CHECK-LABEL: builtin.module {
builtin.module {
  func.func @a() { func.return }
  // CHECK-NEXT: "elsewhere.module"() <{sym_name = "middle"}>
  "elsewhere.module"() <{sym_name = "middle"}> : () -> ()
  // CHECK-NEXT: func.func @b
  func.func @b() { func.return }
  // CHECK: "elsewhere.module"() <{sym_name = "last"}>
  "elsewhere.module"() <{sym_name = "last"}> : () -> ()
}

// -----

// CHECK-LABEL: builtin.module {
builtin.module {
  // CHECK-NEXT: "elsewhere.module"() <{sym_name = "one"}>
  "elsewhere.module"() <{sym_name = "one"}> : () -> ()
  func.func @a() { func.return }
  // CHECK-NEXT: "elsewhere.module"() <{sym_name = "two"}>
  "elsewhere.module"() <{sym_name = "two"}> : () -> ()
}
