// RUN: partita-opt %s | partita-opt | filecheck %s

// A call on tensors, of a function that is not compiled yet.
// CHECK:      func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> attributes {partita.entry} {
func.func @main(%x : tensor<4xf32>) -> tensor<4xf32> attributes {partita.entry} {
  %0 = relay.exp %x : tensor<4xf32>
// CHECK:        %1 = byoc.call @c::@main_0(%0) {partita.origin = "relu_1"} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = byoc.call @c::@main_0(%0) {partita.origin = "relu_1"} : (tensor<4xf32>) -> tensor<4xf32>
  func.return %1 : tensor<4xf32>
}

// A call on buffers, of a function that is compiled; code of the host can take its place.
// CHECK:      func.func @lowered
func.func @lowered(%x : memref<4xf32>, %y : memref<4xi8>) {
// CHECK:        byoc.call @d::@main_0(%x, %y) {host_code = @main_0_host} : (memref<4xf32>, memref<4xi8>) -> ()
  byoc.call @d::@main_0(%x, %y) {host_code = @main_0_host} : (memref<4xf32>, memref<4xi8>) -> ()
  func.return
}

// CHECK:      byoc.module @c attributes {target = "c"} {
byoc.module @c attributes {target = "c"} {
// CHECK-NEXT:   func.func @main_0
  func.func @main_0(%x : tensor<4xf32>) -> tensor<4xf32> {
    func.return %x : tensor<4xf32>
  }
}

// Attributes of a module that are not its target stay.
// CHECK:      byoc.module @d attributes {target = "d{weights=table}", note = 1 : i64} {
byoc.module @d attributes {target = "d{weights=table}", note = 1 : i64} {
// CHECK-NEXT:   byoc.binary @main_0 : (tensor<4xf32>) -> tensor<4xui8> {files = #byoc.files<"00112233445566778899aabbccddeeff">, weights = [#partita.weight<"00112233445566778899aabbccddeeff">], options = "{\22threads\22: 2}"}
  byoc.binary @main_0 : (tensor<4xf32>) -> tensor<4xui8> {files = #byoc.files<"00112233445566778899aabbccddeeff">, weights = [#partita.weight<"00112233445566778899aabbccddeeff">], options = "{\"threads\": 2}"}
// CHECK:        builtin.module @originals {
  builtin.module @originals {
    func.func @main_0(%x : tensor<4xf32>) -> tensor<4xf32> {
      func.return %x : tensor<4xf32>
    }
  }
}

// CHECK:      byoc.module @empty attributes {target = "empty"} {
// CHECK-NEXT: }
byoc.module @empty attributes {target = "empty"} {
}

// CHECK:      func.func @composites
func.func @composites(%a : tensor<4xf32>, %b : tensor<4xf32>) -> tensor<4xf32> {
// CHECK:        %r = byoc.composite "c.add_relu" (%a, %b) {
// CHECK-NEXT:   ^bb0(%x: tensor<4xf32>, %y: tensor<4xf32>):
// CHECK:          byoc.yield %t : tensor<4xf32>
// CHECK-NEXT:   } : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %r = byoc.composite "c.add_relu" (%a, %b) {
  ^bb0(%x : tensor<4xf32>, %y : tensor<4xf32>):
    %s = relay.add %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %t = relay.relu %s : tensor<4xf32>
    byoc.yield %t : tensor<4xf32>
  } : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// Composites nest, have attributes and need no inputs.
// CHECK:      func.func @nested
func.func @nested() -> tensor<4xf32> {
// CHECK:        byoc.composite "outer" () attributes {partita.origin = "a, b"} {
  %r = byoc.composite "outer" () attributes {partita.origin = "a, b"} {
// CHECK:          byoc.composite "inner" () {
    %c = relay.constant dense<1.0> : tensor<4xf32>
    %i = byoc.composite "inner" () {
      %d = relay.constant dense<2.0> : tensor<4xf32>
      byoc.yield %d : tensor<4xf32>
    } : () -> tensor<4xf32>
    %s = relay.add %c, %i : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    byoc.yield %s : tensor<4xf32>
  } : () -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// Docstring examples that the tests above print otherwise.
// CHECK:      byoc.module @e attributes {target = "e"} {
// CHECK:        byoc.binary @main_0 : (tensor<4xf32>) -> tensor<4xf32> {files = #byoc.files<"00112233445566778899aabbccddeeff">, weights = [], options = "{}"}
byoc.module @e attributes {target = "e"} {
  byoc.binary @main_0 : (tensor<4xf32>) -> tensor<4xf32> {files = #byoc.files<"00112233445566778899aabbccddeeff">, weights = [], options = "{}"}
}
