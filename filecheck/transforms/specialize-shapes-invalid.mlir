// RUN: partita-opt %s -p 'specialize-shapes{shapes="x=2x3"}' --split-input-file --verify-diagnostics | filecheck %s

// CHECK: expected static shapes, got y of type tensor<?xf32>, mask of type tensor<?x?xf32>; set shapes
func.func @main(%x : tensor<?x3xf32>, %y : tensor<?xf32>, %z : tensor<?x?xf32> {partita.name = "mask"}) attributes {partita.entry} {
  func.return
}

// -----

// CHECK: expected a shape of x that fits tensor<4x?xf32>, got 2x3
func.func @main(%x : tensor<4x?xf32>) attributes {partita.entry} {
  func.return
}

// -----

// CHECK: expected a shape of x that fits tensor<3xf32>, got 2x3
func.func @main(%x : tensor<3xf32>) attributes {partita.entry} {
  func.return
}

// -----

// CHECK: expected tensor argument x, got i32
func.func @main(%x : i32) attributes {partita.entry} {
  func.return
}

// -----

// CHECK: expected shapes of arguments a, b, got one of x
func.func @main(%a : tensor<?xf32>, %b : tensor<?xf32>) attributes {partita.entry} {
  func.return
}

// -----

// CHECK: relay.add does not fit the given shapes: expected shapes that broadcast, got 2x3 and 5x3 (from add_1)
func.func @main(%x : tensor<?x3xf32>, %y : tensor<5x3xf32>) attributes {partita.entry} {
  %0 = relay.add %x, %y {partita.origin = "add_1"} : (tensor<?x3xf32>, tensor<5x3xf32>) -> tensor<5x3xf32>
  func.return
}

// -----

// CHECK: expected relay ops, got func.call with dynamic results
func.func private @f(tensor<2x3xf32>) -> tensor<?xf32>
func.func @main(%x : tensor<2x?xf32>, %y : tensor<2x3xf32>) attributes {partita.entry} {
  %0 = func.call @f(%y) : (tensor<2x3xf32>) -> tensor<?xf32>
  func.return
}

// -----

// CHECK: expected one entry function, got @a, @b; set entry
func.func @a() {
  func.return
}
func.func @b() {
  func.return
}

// -----

// CHECK: expected a body of @main, got a declaration
func.func @main(tensor<?x3xf32>) attributes {partita.entry}
