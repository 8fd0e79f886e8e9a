// RUN: %test-opt %s -p test-see-host,test-see-all --split-input-file | filecheck %s
// RUN: %test-opt %s -p test-nest --split-input-file | filecheck %s

// A pass sees no op of another target, unless it is target-aware; all ops stay in place.

// CHECK-LABEL: builtin.module attributes {host_sees = "func func", aware_sees = "elsewhere func elsewhere func elsewhere"}
builtin.module {
  // CHECK-NEXT: "elsewhere.module"() <{sym_name = "first"}>
  "elsewhere.module"() <{sym_name = "first"}> : () -> ()
  // CHECK-NEXT: func.func @a
  func.func @a() { func.return }
  // CHECK: "elsewhere.module"() <{sym_name = "middle"}>
  "elsewhere.module"() <{sym_name = "middle"}> : () -> ()
  // CHECK-NEXT: func.func @b
  func.func @b() { func.return }
  // CHECK: "elsewhere.module"() <{sym_name = "last"}>
  "elsewhere.module"() <{sym_name = "last"}> : () -> ()
}

// -----

// So it is in modules within modules.

// CHECK-LABEL: builtin.module attributes {host_sees = "func", aware_sees = "func elsewhere"}
builtin.module {
  // CHECK-NEXT: builtin.module @inner {
  builtin.module @inner {
    // CHECK-NEXT: func.func @a
    func.func @a() { func.return }
    // CHECK: "elsewhere.module"() <{sym_name = "first"}>
    "elsewhere.module"() <{sym_name = "first"}> : () -> ()
  }
}

// -----

// A module of nothing else is put back whole, in order.

// CHECK-LABEL: builtin.module attributes {host_sees = "", aware_sees = "elsewhere elsewhere"}
builtin.module {
  // CHECK-NEXT: "elsewhere.module"() <{sym_name = "one"}>
  "elsewhere.module"() <{sym_name = "one"}> : () -> ()
  // CHECK-NEXT: "elsewhere.module"() <{sym_name = "two"}>
  "elsewhere.module"() <{sym_name = "two"}> : () -> ()
}
