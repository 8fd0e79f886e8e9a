// RUN: partita-opt %s -p partition-graph | filecheck %s
// RUN: partita-opt %s -p 'partition-graph{keep-originals=true}' | filecheck %s --check-prefix=KEPT

// Several results and shared inputs, each once; the order of ops follows the calls; a result that is returned twice is one.
// CHECK:      func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
func.func @main(%x : tensor<4xf32>, %y : tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
// CHECK-NEXT:   %h = relay.erf %x : tensor<4xf32>
// CHECK-NEXT:   %a, %b = byoc.call @t::@main_0(%x, %h) {partita.origin = "first, second"} : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
// CHECK-NEXT:   %i = relay.erf %a : tensor<4xf32>
// CHECK-NEXT:   func.return %b, %b, %i
  %c = relay.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %a = relay.add %x, %c {partita.origin = "first", byoc.target = "t{o=1}", byoc.region = 0 : i64} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %i = relay.erf %a : tensor<4xf32>
  %h = relay.erf %x : tensor<4xf32>
  %d = relay.add %a, %h {byoc.target = "t{o=1}", byoc.region = 0 : i64} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %b = relay.add %d, %c {partita.origin = "second", byoc.rejected = {u = "no"}, byoc.target = "t{o=1}", byoc.region = 0 : i64} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %b, %b, %i : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// Names are unique in each module; those of other functions, odd ones too, go into them.
// CHECK:      func.func @"o/dd"
func.func @"o/dd"(%x : tensor<4xf32>) -> tensor<4xf32> {
// CHECK-NEXT:   %a = byoc.call @t::@o_dd_0(%x)
// CHECK-NEXT:   %b = byoc.call @u::@o_dd_1(%a)
// CHECK-NEXT:   %c = byoc.call @t::@o_dd_2(%b)
  %a = relay.exp %x {byoc.target = "t{o=1}", byoc.region = 0 : i64} : tensor<4xf32>
  %b = relay.exp %a {byoc.target = "u", byoc.region = 1 : i64} : tensor<4xf32>
  %c = relay.exp %b {byoc.target = "t{o=1}", byoc.region = 2 : i64} : tensor<4xf32>
  func.return %c : tensor<4xf32>
}

// A region that nobody uses, an op without a region, and one of the host stay; composites become ops again.
// CHECK:      func.func @stays
func.func @stays(%x : tensor<4xf32>) -> tensor<4xf32> {
// CHECK-NEXT:   %a = relay.exp %x : tensor<4xf32>
// CHECK-NEXT:   %b = relay.exp %x : tensor<4xf32>
// CHECK-NEXT:   func.return %b
  %a = relay.exp %x {byoc.target = "u", byoc.region = 0 : i64} : tensor<4xf32>
  %0 = byoc.composite "p" (%x) attributes {byoc.target = "u"} {
  ^bb0(%y : tensor<4xf32>):
    %b = relay.exp %y : tensor<4xf32>
    byoc.yield %b : tensor<4xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}

// CHECK:      byoc.module @u attributes {target = "u"} {
// CHECK-NEXT:   func.func @given
// CHECK:        func.func @o_dd_1
// KEPT:       byoc.module @u attributes {target = "u"} {
// KEPT:         builtin.module @originals {
// KEPT-NEXT:      func.func @o_dd_1
// KEPT:         func.func @o_dd_1
byoc.module @u attributes {target = "u"} {
  func.func @given() {
    func.return
  }
}

// CHECK:      byoc.module @t attributes {target = "t{o=1}"} {
// CHECK-NEXT:   func.func @main_0(%x: tensor<4xf32>, %h: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
// CHECK-NEXT:     %c = relay.constant dense<[1.000000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00]> : tensor<4xf32>
// CHECK-NEXT:     %a = relay.add %x, %c {partita.origin = "first"}
// CHECK-NEXT:     %d = relay.add %a, %h :
// CHECK-NEXT:     %b = relay.add %d, %c {partita.origin = "second", byoc.rejected = {u = "no"}}
// CHECK-NEXT:     func.return %a, %b
// KEPT:       byoc.module @t attributes {target = "t{o=1}"} {
// KEPT-NEXT:    builtin.module @originals {
// KEPT-NEXT:      func.func @main_0
// KEPT:         func.func @main_0
