// RUN: partita-opt %s --split-input-file -p inline-intrinsics | filecheck %s

// A call becomes the intrinsic's loops on the tiles that it names; axes of size 1 come and go.
// CHECK-NOT: tir.memory
// CHECK-NOT: tir.intrinsic
tir.memory "acc" of 64 bytes
func.func private @dot(%acc: memref<1x4xi32, "acc">, %u: memref<4x8xi8>, %v: memref<8xi8>) attributes {tir.intrinsic} {
  tir.for %j = 0 to 4 {
    tir.for %k = 0 to 8 {
      tir.block "dot" spatial (%a in 4) reduce (%b in 8) at [%j, %k] {
        %old = tir.load %acc[0, %a] : memref<1x4xi32, "acc">
        %x = tir.load %u[%a, %b] : memref<4x8xi8>
        %y = tir.load %v[%b] : memref<8xi8>
        %xe = arith.extsi %x : i8 to i32
        %ye = arith.extsi %y : i8 to i32
        %p = arith.muli %xe, %ye : i32
        %new = arith.addi %old, %p : i32
        tir.store %new, %acc[0, %a] : memref<1x4xi32, "acc">
      }
    }
  }
  func.return
}
// CHECK:      func.func @kernel
func.func @kernel(%m: memref<3x12x8xi8>, %v: memref<3x2x8xi8>, %z: memref<3xi32>) {
  // CHECK-NEXT: %t = memref.alloc() : memref<4x2xi32, "local">
  %t = memref.alloc() : memref<4x2xi32, "acc">
  // CHECK-NEXT: tir.for %g = 0 to 3 {
  tir.for %g = 0 to 3 {
    // CHECK-NEXT: tir.for %j = 0 to 4 {
    // CHECK-NEXT:   tir.for %k = 0 to 8 {
    // CHECK-NEXT:     tir.block "dense_tail" spatial (%a in 4) reduce (%b in 8) at [%j, %k] {
    // CHECK-NEXT:       %old = tir.load %t[%a, 1] : memref<4x2xi32, "local">
    // CHECK-NEXT:       %x = tir.load %m[%g, %a + 8, %b] : memref<3x12x8xi8>
    // CHECK-NEXT:       %y = tir.load %v[%g, 1, %b] : memref<3x2x8xi8>
    // CHECK-NEXT:       %xe = arith.extsi %x : i8 to i32
    // CHECK-NEXT:       %ye = arith.extsi %y : i8 to i32
    // CHECK-NEXT:       %p = arith.muli %xe, %ye : i32
    // CHECK-NEXT:       %new = arith.addi %old, %p : i32
    // CHECK-NEXT:       tir.store %new, %t[%a, 1] : memref<4x2xi32, "local">
    // CHECK-NEXT:     } attributes {partita.origin = "fc"}
    tir.call "dense_tail" @dot(%t[0, 1][4, 1], %m[%g, 8, 0][1, 4, 8], %v[%g, 1, 0][1, 1, 8]) {partita.origin = "fc"} : memref<4x2xi32, "acc">, memref<3x12x8xi8>, memref<3x2x8xi8>
  }
  func.return
}

// -----

// Where there are no intrinsics, nothing changes.
// CHECK:      func.func @plain(%x: memref<4xf32>) {
// CHECK-NEXT:   func.return
func.func @plain(%x: memref<4xf32>) {
  func.return
}
