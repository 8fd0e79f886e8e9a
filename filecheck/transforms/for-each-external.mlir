// RUN: partita-opt %s -p 'for-each-external{target=t pipeline="simplify-inference,fuse-ops"}' | filecheck %s
// RUN: partita-opt %s -p 'for-each-external{target=v pipeline=dce}' | filecheck %s --check-prefix=OTHER
// RUN: partita-opt %s -p 'for-each-external{target=t pipeline="simplify-inference,dce"}' --print-ir-after=simplify-inference -o %t 2>&1 | filecheck %s --check-prefix=WATCHED

// What is watched inside is the target's functions alone.
// WATCHED:      // IR after simplify-inference, external functions of t
// WATCHED-NEXT: builtin.module {
// WATCHED-NEXT:   func.func @main_0(%x: tensor<4xf32>) -> tensor<4xf32> {
// WATCHED-NEXT:     relay.exp %x
// WATCHED-NOT:  IR after

// CHECK:      func.func @main
// OTHER:      func.func @main
func.func @main(%x : tensor<4xf32>) -> tensor<4xf32> {
// CHECK-NEXT:   %0 = relay.dropout
  %0 = relay.dropout %x {rate = 0.5 : f64} : tensor<4xf32>
  %1 = byoc.call @t::@main_0(%0) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %1 : tensor<4xf32>
}

// Functions are changed, and those that passes add stay beside them; what is compiled or kept is left alone.
// CHECK:      byoc.module @t
// CHECK-NEXT:   byoc.binary @main_1
// CHECK-NEXT:   builtin.module @originals {
// CHECK-NEXT:     func.func @main_0(%x: tensor<4xf32>) -> tensor<4xf32> {
// CHECK-NEXT:       relay.dropout
// CHECK:        func.func @main_0(%x: tensor<4xf32>) -> tensor<4xf32> {
// CHECK-NEXT:     %a = func.call @exp_{{[0-9a-f]+}}(%x)
// CHECK-NEXT:     func.return %a
// CHECK:        func.func private @exp_{{[0-9a-f]+}}
// OTHER:      byoc.module @t
// OTHER-NEXT:   func.func @main_0(%x: tensor<4xf32>) -> tensor<4xf32> {
// OTHER-NEXT:     relay.dropout
byoc.module @t attributes {target = "t"} {
  func.func @main_0(%x : tensor<4xf32>) -> tensor<4xf32> {
    %0 = relay.dropout %x {rate = 0.5 : f64} : tensor<4xf32>
    %a = relay.exp %0 : tensor<4xf32>
    func.return %a : tensor<4xf32>
  }
  byoc.binary @main_1 : () -> () {files = #byoc.files<"00112233445566778899aabbccddeeff">, weights = [], options = "{}"}
  builtin.module @originals {
    func.func @main_0(%x : tensor<4xf32>) -> tensor<4xf32> {
      %0 = relay.dropout %x {rate = 0.5 : f64} : tensor<4xf32>
      func.return %0 : tensor<4xf32>
    }
  }
}

// CHECK:      byoc.module @u
// CHECK:          relay.dropout
byoc.module @u attributes {target = "u"} {
  func.func @main_0(%x : tensor<4xf32>) -> tensor<4xf32> {
    %0 = relay.dropout %x {rate = 0.5 : f64} : tensor<4xf32>
    func.return %0 : tensor<4xf32>
  }
}
