// RUN: partita-opt %s -p lower-te-to-tir --split-input-file | filecheck %s

// A result is a buffer that the caller passes; a compute is a loop for each axis around one block.
// CHECK:      func.func @map(%x: memref<4x8xf32>, %y: memref<4x8xf32>) attributes {partita.signature = (tensor<4x8xf32>) -> tensor<4x8xf32>} {
// CHECK-NEXT:   tir.for %i = 0 to 4 {
// CHECK-NEXT:     tir.for %j = 0 to 8 {
// CHECK-NEXT:       tir.block "map" spatial (%[[A:.*]] in 4, %[[B:.*]] in 8) at [%i, %j] {
// CHECK-NEXT:         %v = tir.load %x[%[[A]], %[[B]]] : memref<4x8xf32>
// CHECK-NEXT:         %w = arith.addf %v, %v : f32
// CHECK-NEXT:         tir.store %w, %y[%[[A]], %[[B]]] : memref<4x8xf32>
// CHECK-NEXT:       } attributes {partita.origin = "add_1"}
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT:   func.return
func.func @map(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %y = te.compute "map" {partita.origin = "add_1"} (%i in 4, %j in 8) {
    %v = te.read %x[%i, %j] : tensor<4x8xf32>
    %w = arith.addf %v, %v : f32
    te.yield %w : f32
  } : tensor<4x8xf32>
  func.return %y : tensor<4x8xf32>
}

// -----

// A reduction starts from its init and combines what it wrote before; padding stays an else.
// CHECK:      tir.for %i = 0 to 4 {
// CHECK-NEXT:   tir.for %k = 0 to 3 {
// CHECK-NEXT:     tir.block "sum" spatial (%[[I:.*]] in 4) reduce (%[[K:.*]] in 3) at [%i, %k] {
// CHECK-NEXT:       %zero = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:       %v = tir.load %x[%[[I]] + %[[K]] - 1] else %zero : memref<4xf32>
// CHECK-NEXT:       %[[OLD:.*]] = tir.load %y[%[[I]]] : memref<4xf32>
// CHECK-NEXT:       %[[NEW:.*]] = arith.addf %[[OLD]], %v : f32
// CHECK-NEXT:       tir.store %[[NEW]], %y[%[[I]]] : memref<4xf32>
// CHECK-NEXT:     } init (%[[I0:.*]]) {
// CHECK-NEXT:       %[[START:.*]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:       tir.store %[[START]], %y[%[[I0]]] : memref<4xf32>
// CHECK-NEXT:     }
func.func @reduction(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = te.compute "sum" (%i in 4) reduce (%k in 3) init (0.0 : f32) {
    %zero = arith.constant 0.0 : f32
    %v = te.read %x[%i + %k - 1] else %zero : tensor<4xf32>
    te.yield %v : f32
  } combine (%acc : f32, %new : f32) {
    %s = arith.addf %acc, %new : f32
    te.yield %s : f32
  } : tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// -----

// What is not returned is allocated; what several results start from is stored for each.
// CHECK:      func.func @intermediate(%x: memref<4xi32>, %m: memref<i32>, %a: memref<i32>)
// CHECK-NEXT:   %y = memref.alloc() : memref<4xi32>
// CHECK:        tir.store %{{.*}}, %y
// CHECK:        tir.block "max" reduce (%{{.*}} in 4)
// CHECK:          tir.store %{{.*}}, %m[]
// CHECK-NEXT:     tir.store %{{.*}}, %a[]
// CHECK-NEXT:   } init () {
// CHECK:          tir.store %{{.*}}, %m[]
// CHECK:          tir.store %{{.*}}, %a[]
func.func @intermediate(%x: tensor<4xi32>) -> (tensor<i32>, tensor<i32>) {
  %y = te.compute "square" (%i in 4) {
    %v = te.read %x[%i] : tensor<4xi32>
    %w = arith.muli %v, %v : i32
    te.yield %w : i32
  } : tensor<4xi32>
  %m, %a = te.compute "max" () reduce (%k in 4) init (-2147483648 : i32, 0 : i32) {
    %v = te.read %y[%k] : tensor<4xi32>
    %k32 = arith.index_cast %k : index to i32
    te.yield %v, %k32 : i32, i32
  } combine (%v0 : i32, %k0 : i32, %v1 : i32, %k1 : i32) {
    %c = arith.cmpi sgt, %v1, %v0 : i32
    %v = arith.select %c, %v1, %v0 : i32
    %k = arith.select %c, %k1, %k0 : i32
    te.yield %v, %k : i32, i32
  } : tensor<i32>, tensor<i32>
  func.return %m, %a : tensor<i32>, tensor<i32>
}

// -----

// A call gets buffers; a constant is one; names of results are names of arguments; nothing is signed any more.
// CHECK:      func.func @entry(%x: memref<4xi8> {partita.name = "x"}, %[[OUT:.*]]: memref<4xi8> {partita.name = "y"}) attributes {partita.entry
// CHECK-NEXT:   %c = tir.constant dense<[1, 2, 3, 250]> : tensor<4xui8> -> memref<4xi8>
// CHECK-NEXT:   %[[T:.*]] = memref.alloc() : memref<4xi8>
// CHECK-NEXT:   func.call @k(%x, %c, %[[T]]) {partita.origin = "a"} : (memref<4xi8>, memref<4xi8>, memref<4xi8>) -> ()
// CHECK-NEXT:   func.call @k(%[[T]], %c, %[[OUT]]) : (memref<4xi8>, memref<4xi8>, memref<4xi8>) -> ()
// CHECK-NEXT:   func.return
// CHECK:      func.func private @k(%{{.*}}: memref<4xi8>
func.func @entry(%x: tensor<4xui8> {partita.name = "x"}) -> (tensor<4xui8> {partita.name = "y"}) attributes {partita.entry} {
  %c = relay.constant dense<[1, 2, 3, 250]> : tensor<4xui8>
  %t = func.call @k(%x, %c) {partita.origin = "a"} : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xui8>
  %y = func.call @k(%t, %c) : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xui8>
  func.return %y : tensor<4xui8>
}
func.func private @k(%x: tensor<4xui8>, %c: tensor<4xui8>) -> tensor<4xui8> attributes {partita.kernel} {
  %y = te.compute "k" (%i in 4) {
    %v = te.read %x[%i] : tensor<4xui8>
    te.yield %v : i8
  } : tensor<4xui8>
  func.return %y : tensor<4xui8>
}

// -----

// A result that is an argument, a constant or another result is copied.
// CHECK:      func.func @copies(%x: memref<2xf32>, %[[A:.*]]: memref<2xf32>, %[[B:.*]]: memref<2xf32>, %y: memref<2xf32>, %[[D:.*]]: memref<2xf32>)
// CHECK-NEXT:   %c = tir.constant
// CHECK-NEXT:   func.call @f(%x, %y)
// CHECK-NEXT:   "memref.copy"(%x, %[[A]])
// CHECK-NEXT:   "memref.copy"(%c, %[[B]])
// CHECK-NEXT:   "memref.copy"(%y, %[[D]])
// CHECK-NEXT:   func.return
func.func @copies(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) attributes {partita.entry} {
  %c = relay.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %y = func.call @f(%x) : (tensor<2xf32>) -> tensor<2xf32>
  func.return %x, %c, %y, %y : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}
func.func private @f(tensor<2xf32>) -> tensor<2xf32>

// -----

// Nothing is computed for a tensor without elements.
// CHECK:      func.func @nothing(%x: memref<0x3xf32>, %y: memref<0x3xf32>)
// CHECK-NEXT:   func.return
func.func @nothing(%x: tensor<0x3xf32>) -> tensor<0x3xf32> {
  %y = te.compute "nothing" (%i in 0, %j in 3) {
    %v = te.read %x[%i, %j] : tensor<0x3xf32>
    te.yield %v : f32
  } : tensor<0x3xf32>
  func.return %y : tensor<0x3xf32>
}

// -----

// A sum of nothing is what it starts from, and what lies outside an empty tensor is the else value.
// CHECK:      func.func @of_nothing(%x: memref<0xf32>, %y: memref<3xf32>, %z: memref<2xf32>)
// CHECK-NOT:    reduce
// CHECK:        tir.block "sum" spatial (%[[I:.*]] in 3) at [%{{.*}}] {
// CHECK-NEXT:     %[[START:.*]] = arith.constant 7.000000e+00 : f32
// CHECK-NEXT:     tir.store %[[START]], %y[%[[I]]] : memref<3xf32>
// CHECK-NEXT:   }
// CHECK:        tir.block "pad"
// CHECK-NEXT:     %zero = arith.constant
// CHECK-NEXT:     tir.store %zero, %z
func.func @of_nothing(%x: tensor<0xf32>) -> (tensor<3xf32>, tensor<2xf32>) {
  %y = te.compute "sum" (%i in 3) reduce (%k in 0) init (7.0 : f32) {
    %v = te.read %x[%k] : tensor<0xf32>
    te.yield %v : f32
  } combine (%acc : f32, %new : f32) {
    %s = arith.addf %acc, %new : f32
    te.yield %s : f32
  } : tensor<3xf32>
  %z = te.compute "pad" (%i in 2) {
    %zero = arith.constant 0.0 : f32
    %v = te.read %x[%i - 1] else %zero : tensor<0xf32>
    te.yield %v : f32
  } : tensor<2xf32>
  func.return %y, %z : tensor<3xf32>, tensor<2xf32>
}

// -----

// A declaration changes its type; a function over other things than tensors stays as it is.
// CHECK:      func.func private @declared(memref<4xf32>, memref<4xf32>)
// CHECK:      func.func @scalar(%x: i32) -> i32 {
// CHECK-NEXT:   func.return %x : i32
func.func private @declared(tensor<4xf32>) -> tensor<4xf32>
func.func @scalar(%x: i32) -> i32 {
  func.return %x : i32
}
