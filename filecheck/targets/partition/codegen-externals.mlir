// RUN: %test-opt %s -p 'codegen-externals' | filecheck %s
// RUN: %test-opt %s -p 'codegen-externals{keep-host-code=true}' | filecheck %s --check-prefix=KEPT

// Reasons go; the call stays.
// CHECK:      func.func @main
// KEPT:       func.func @main
func.func @main(%x : tensor<4xf32>) -> tensor<4xf32> {
// CHECK-NEXT:   %a = relay.erf %x : tensor<4xf32>
  %a = relay.erf %x {byoc.rejected = {example = "no"}} : tensor<4xf32>
// CHECK-NEXT:   %b = byoc.call @example::@main_0(%a) : (tensor<4xf32>) -> tensor<4xf32>
// KEPT:         byoc.call @example::@main_0(%a) {host_code = @example_main_0_host} :
  %b = byoc.call @example::@main_0(%a) : (tensor<4xf32>) -> tensor<4xf32>
// A function that was not kept has no code of the host.
// KEPT:         byoc.call @example::@main_1(%b) :
  %c = byoc.call @example::@main_1(%b) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %c : tensor<4xf32>
}

// Functions become binaries, with the weights that they read; what they use goes, and what was kept.
// CHECK:      byoc.module @example attributes {target = "example"} {
// CHECK-NEXT:   byoc.binary @main_0 : (tensor<4xf32>) -> tensor<4xf32> {files = #byoc.files<"{{[0-9a-f]+}}">, weights = [#partita.weight<"{{[0-9a-f]+}}">], options = "{}"}
// CHECK-NEXT:   byoc.binary @main_1 : (tensor<4xf32>) -> tensor<4xf32> {files = #byoc.files<"{{[0-9a-f]+}}">, weights = [], options = "{}"}
// CHECK-NEXT: }
// CHECK-NEXT: }
// KEPT:       func.func private @example_main_0_host(%x: tensor<4xf32>) -> tensor<4xf32> attributes {byoc.host_code} {
// KEPT-NEXT:    %e = relay.exp %x : tensor<4xf32>
// KEPT-NEXT:    func.return %e
byoc.module @example attributes {target = "example"} {
  builtin.module @originals {
    func.func @main_0(%x : tensor<4xf32>) -> tensor<4xf32> {
      %e = relay.exp %x {byoc.rejected = {other = "no"}} : tensor<4xf32>
      func.return %e : tensor<4xf32>
    }
  }
  func.func @main_0(%x : tensor<4xf32>) -> tensor<4xf32> {
    %0 = relay.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
    %e = relay.multiply %x, %0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    func.return %e : tensor<4xf32>
  }
  func.func @main_1(%x : tensor<4xf32>) -> tensor<4xf32> {
    func.return %x : tensor<4xf32>
  }
  func.func private @helper(%x : tensor<4xf32>) -> tensor<4xf32> {
    func.return %x : tensor<4xf32>
  }
}
