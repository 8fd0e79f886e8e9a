// RUN: partita-opt %s --split-input-file --verify-diagnostics --parsing-diagnostics | filecheck %s

// CHECK: expected byoc.module @c for target c{weights=table}, got @d
byoc.module @d attributes {target = "c{weights=table}"} {
}

// -----

// CHECK: expected a byoc.module to have a target = "…"
byoc.module @c {
}

// -----

byoc.module @c attributes {target = "c"} {
  // CHECK: expected external function @f to have a body
  func.func @f(tensor<4xf32>) -> tensor<4xf32>
}

// -----

byoc.module @c attributes {target = "c"} {
  // CHECK: expected functions, binaries and @originals in byoc.module, got relay.constant
  %c = relay.constant dense<1.0> : tensor<4xf32>
}

// -----

byoc.module @c attributes {target = "c"} {
  // CHECK: expected functions, binaries and @originals in byoc.module, got builtin.module
  builtin.module @other {
  }
}

// -----

// CHECK: Redefinition of symbol "f"
byoc.module @c attributes {target = "c"} {
  func.func @f() {
    func.return
  }
  func.func @f() {
    func.return
  }
}

// -----

// CHECK: Redefinition of symbol "c"
func.func @c() {
  func.return
}
byoc.module @c attributes {target = "c"} {
}

// -----

func.func @no_function(%x : tensor<4xf32>) {
  // CHECK: expected a function of a byoc.module as @target::@function, got @f
  %0 = byoc.call @f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// -----

func.func @no_module(%x : tensor<4xf32>) {
  // CHECK: expected a byoc.module @c, got none
  %0 = byoc.call @c::@f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// -----

byoc.module @c attributes {target = "c"} {
}

func.func @no_callee(%x : tensor<4xf32>) {
  // CHECK: expected a function @f in byoc.module @c, got none
  %0 = byoc.call @c::@f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// -----

byoc.module @c attributes {target = "c"} {
  func.func @f(%x : tensor<4xf32>) -> tensor<4xf32> {
    func.return %x : tensor<4xf32>
  }
}

func.func @second_call(%x : tensor<4xf32>, %y : tensor<5xf32>) {
  %0 = byoc.call @c::@f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: expected a call of @c::@f to be of type (tensor<4xf32>) -> tensor<4xf32>, got (tensor<5xf32>) -> tensor<5xf32>
  %1 = byoc.call @c::@f(%y) : (tensor<5xf32>) -> tensor<5xf32>
  func.return
}

// -----

byoc.module @c attributes {target = "c"} {
  func.func @f(%x : tensor<4xui8>) -> tensor<4xf32> {
    %0 = relay.cast %x {to = f32} : tensor<4xui8> -> tensor<4xf32>
    func.return %0 : tensor<4xf32>
  }
}

func.func @buffers(%x : memref<4xi8>) {
  // CHECK: expected a call of @c::@f to be of type (memref<4xi8>, memref<4xf32>) -> (), got (memref<4xi8>) -> ()
  byoc.call @c::@f(%x) : (memref<4xi8>) -> ()
  func.return
}

// -----

func.func @composite_arguments(%x : tensor<4xf32>) {
  // CHECK: expected arguments of types tensor<4xf32>, got none
  %0 = byoc.composite "p" (%x) {
    %c = relay.constant dense<1.0> : tensor<4xf32>
    byoc.yield %c : tensor<4xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// -----

func.func @composite_end() {
  // CHECK: expected byoc.composite to end with byoc.yield
  byoc.composite "p" () {
    "test.termop"() : () -> ()
  } : () -> ()
  func.return
}

// -----

func.func @composite_results() {
  // CHECK: expected byoc.yield of types tensor<4xf32>, got none
  %0 = byoc.composite "p" () {
    byoc.yield
  } : () -> tensor<4xf32>
  func.return
}

// -----

func.func @composite_type(%x : tensor<4xf32>) {
  // CHECK: expected a function type
  %0 = byoc.composite "p" (%x) {
  ^bb0(%y : tensor<4xf32>):
    byoc.yield %y : tensor<4xf32>
  } : tensor<4xf32>
  func.return
}

// -----

func.func @composite_is_isolated(%x : tensor<4xf32>) {
  %0 = relay.exp %x : tensor<4xf32>
  // CHECK: Operation using value defined out of its IsolatedFromAbove parent
  %1 = byoc.composite "p" () {
    %y = relay.exp %0 : tensor<4xf32>
    byoc.yield %y : tensor<4xf32>
  } : () -> tensor<4xf32>
  func.return
}

// -----

byoc.module @c attributes {target = "c"} {
  // CHECK: expected options as the text of a JSON object, got '[]'
  byoc.binary @f : () -> () {files = #byoc.files<"00112233445566778899aabbccddeeff">, weights = [], options = "[]"}
}

// -----

byoc.module @c attributes {target = "c"} {
  // CHECK: expected a digest of 32 hexadecimal digits, got '0'
  byoc.binary @f : () -> () {files = #byoc.files<"0">, weights = [], options = "{}"}
}

// -----

func.func @binary_alone() {
  // CHECK: expected byoc.binary directly in a byoc.module
  byoc.binary @f : () -> () {files = #byoc.files<"00112233445566778899aabbccddeeff">, weights = [], options = "{}"}
  func.return
}
