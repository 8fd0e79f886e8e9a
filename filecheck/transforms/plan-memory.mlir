// RUN: partita-opt %s -p plan-memory --split-input-file | filecheck %s

// Buffers that are needed at different times share memory; what one call reads and writes does not overlap.
// CHECK:      func.func @main{{.*}} attributes {partita.entry, partita.arena = 256 : i64} {
// CHECK-NEXT:   %a = memref.alloc() {partita.offset = 0 : i64} : memref<32xf32>
// CHECK-NEXT:   %b = memref.alloc() {partita.offset = 128 : i64} : memref<32xf32>
// CHECK-NEXT:   %c = memref.alloc() {partita.offset = 0 : i64} : memref<32xf32>
func.func @main(%x : memref<32xf32>, %y : memref<32xf32>) attributes {partita.entry} {
  %a = memref.alloc() : memref<32xf32>
  %b = memref.alloc() : memref<32xf32>
  %c = memref.alloc() : memref<32xf32>
  func.call @f(%x, %a) : (memref<32xf32>, memref<32xf32>) -> ()
  func.call @f(%a, %b) : (memref<32xf32>, memref<32xf32>) -> ()
  func.call @f(%b, %c) : (memref<32xf32>, memref<32xf32>) -> ()
  func.call @f(%c, %y) : (memref<32xf32>, memref<32xf32>) -> ()
  func.return
}
func.func private @f(memref<32xf32>, memref<32xf32>)

// -----

// A buffer that is read again later keeps its place until then; a copy reads, too.
// CHECK:      func.func @main{{.*}} partita.arena = 192 : i64
// CHECK-NEXT:   %a = memref.alloc() {partita.offset = [[A:[0-9]+]] : i64} : memref<16xf32>
// CHECK-NEXT:   %b = memref.alloc() {partita.offset = {{[0-9]+}} : i64} : memref<16xf32>
// CHECK-NEXT:   %c = memref.alloc() {partita.offset = {{[0-9]+}} : i64} : memref<16xf32>
// CHECK-NOT:    partita.offset = [[A]] : i64
func.func @main(%x : memref<16xf32>, %y : memref<16xf32>, %z : memref<16xf32>) attributes {partita.entry} {
  %a = memref.alloc() : memref<16xf32>
  %b = memref.alloc() : memref<16xf32>
  %c = memref.alloc() : memref<16xf32>
  func.call @f(%x, %a) : (memref<16xf32>, memref<16xf32>) -> ()
  func.call @f(%a, %b) : (memref<16xf32>, memref<16xf32>) -> ()
  func.call @f(%b, %c) : (memref<16xf32>, memref<16xf32>) -> ()
  func.call @f(%c, %y) : (memref<16xf32>, memref<16xf32>) -> ()
  "memref.copy"(%a, %z) : (memref<16xf32>, memref<16xf32>) -> ()
  func.return
}
func.func private @f(memref<16xf32>, memref<16xf32>)

// -----

// Every buffer starts at a multiple of 64 bytes, even an empty one; one that nobody uses is gone.
// CHECK:      func.func @main{{.*}} partita.arena = 192 : i64
// CHECK-NEXT:   %a = memref.alloc() {partita.offset = 0 : i64} : memref<3xi8>
// CHECK-NEXT:   %b = memref.alloc() {partita.offset = 64 : i64} : memref<i1>
// CHECK-NEXT:   %c = memref.alloc() {partita.offset = 128 : i64} : memref<0xf64>
// CHECK-NEXT:   func.call
func.func @main() attributes {partita.entry} {
  %unused = memref.alloc() : memref<1000xf32>
  %a = memref.alloc() : memref<3xi8>
  %b = memref.alloc() : memref<i1>
  %c = memref.alloc() : memref<0xf64>
  func.call @f(%a, %b, %c) : (memref<3xi8>, memref<i1>, memref<0xf64>) -> ()
  func.return
}
func.func private @f(memref<3xi8>, memref<i1>, memref<0xf64>)

// -----

// Arguments are not planned, and neither are functions that are no entry.
// CHECK:      func.func @main(%x: memref<8xf32>) attributes {partita.entry, partita.arena = 0 : i64}
// CHECK:      func.func private @kernel
// CHECK-NEXT:   memref.alloc() : memref<8xf32>
func.func @main(%x : memref<8xf32>) attributes {partita.entry} {
  func.return
}
func.func private @kernel() attributes {partita.kernel} {
  %a = memref.alloc() : memref<8xf32>
  func.return
}
