// RUN: partita-opt %s --split-input-file | partita-opt --split-input-file | filecheck %s
// RUN: partita-opt %s --split-input-file --print-op-generic | partita-opt --split-input-file | filecheck %s

// A constant holds its elements, or a handle on them.
func.func @constant() {
  // CHECK:      %w = tir.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32> -> memref<2xf32>
  %w = tir.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32> -> memref<2xf32>
  // CHECK-NEXT: %h = tir.constant #partita.weight<"00112233445566778899aabbccddeeff"> {note = "kept"} -> memref<64xf32>
  %h = tir.constant #partita.weight<"00112233445566778899aabbccddeeff"> {note = "kept"} -> memref<64xf32>
  func.return
}

// -----

// A loop runs in one of four ways, serially unless it says.
func.func @loops() {
  // CHECK:      tir.for %i = 0 to 16 vectorized {
  tir.for %i = 0 to 16 vectorized {
  }
  // CHECK:      tir.for %j = 2 to 4 {
  // CHECK-NEXT:   tir.for %k = 0 to 4 unrolled {
  tir.for %j = 2 to 4 {
    tir.for %k = 0 to 4 unrolled {
    }
  }
  // CHECK:      tir.for %p = 0 to 4 parallel {
  // CHECK-NEXT: } attributes {note = "kept"}
  tir.for %p = 0 to 4 parallel {
  } attributes {note = "kept"}
  func.return
}

// -----

// A reduction has axes of two roles, an init, and a guard where a split does not divide.
func.func @reduction(%x : memref<4x8xf32>, %y : memref<4xf32>) {
  tir.for %i = 0 to 4 {
  tir.for %j = 0 to 3 {
  tir.for %k = 0 to 4 {
  // CHECK:      tir.block "sum" spatial (%a in 4) reduce (%b in 8) at [%i, %j * 4 + %k] where [7 - %j * 4 - %k] {
  tir.block "sum" spatial (%a in 4) reduce (%b in 8) at [%i, %j * 4 + %k] where [7 - %j * 4 - %k] {
    // CHECK-NEXT: %acc = tir.load %y[%a] : memref<4xf32>
    // CHECK-NEXT: %v = tir.load %x[%a, %b] : memref<4x8xf32>
    // CHECK-NEXT: %s = arith.addf %acc, %v : f32
    // CHECK-NEXT: tir.store %s, %y[%a] : memref<4xf32>
    // CHECK-NEXT: } init (%a_1) {
    %acc = tir.load %y[%a] : memref<4xf32>
    %v = tir.load %x[%a, %b] : memref<4x8xf32>
    %s = arith.addf %acc, %v : f32
    tir.store %s, %y[%a] : memref<4xf32>
  } init (%a) {
    // CHECK-NEXT: %zero = arith.constant 0.000000e+00 : f32
    // CHECK-NEXT: tir.store %zero, %y[%a_1] : memref<4xf32>
    // CHECK-NEXT: } attributes {partita.origin = "sum_1"}
    %zero = arith.constant 0.0 : f32
    tir.store %zero, %y[%a] : memref<4xf32>
  } attributes {partita.origin = "sum_1"}
  }
  }
  }
  func.return
}

// -----

// A read outside the buffer takes the value that it names; one inside needs none.
func.func @access(%x : memref<4x16xf32>, %y : memref<4x16xf32>) {
  tir.for %i = 0 to 4 {
  tir.for %j = 0 to 8 {
  // CHECK:      tir.block "shift" spatial (%a in 4, %b in 8) at [%i, %j] {
  tir.block "shift" spatial (%a in 4, %b in 8) at [%i, %j] {
  // CHECK-NEXT:   %zero = arith.constant 0.000000e+00 : f32
  %zero = arith.constant 0.0 : f32
  // CHECK-NEXT:   %v = tir.load %x[%a, %b * 2 - 1] else %zero : memref<4x16xf32>
  %v = tir.load %x[%a, %b * 2 - 1] else %zero : memref<4x16xf32>
  // CHECK-NEXT:   tir.store %v, %y[%a, %b] : memref<4x16xf32>
  tir.store %v, %y[%a, %b] : memref<4x16xf32>
  // CHECK-NEXT:   tir.store %v, %y[3 - %a, (%b + 1) floordiv 2 + %b mod 2] : memref<4x16xf32>
  tir.store %v, %y[3 - %a, (%b + 1) floordiv 2 + %b mod 2] : memref<4x16xf32>
  }
  }
  }
  func.return
}

// -----

// A block without axes computes one thing, and a buffer may have no dimensions.
func.func @scalar(%x : memref<f32>) {
  // CHECK:      tir.block "scalar" {
  // CHECK-NEXT:   %v = tir.load %x[] : memref<f32>
  tir.block "scalar" {
    %v = tir.load %x[] : memref<f32>
    tir.store %v, %x[] : memref<f32>
  }
  func.return
}

// -----

// A machine has memories of some size, and instructions that work on tiles of buffers there.
// CHECK:      tir.memory "acc" of 2048 bytes
tir.memory "acc" of 2048 bytes

func.func @calls(%acc : memref<4x4x16xi32, "acc">, %inp : memref<6x16xi8, "inp">, %wgt : memref<16x16xi8, "wgt">) {
  // CHECK:        tir.for %h = 0 to 4 pipelined {
  tir.for %h = 0 to 4 pipelined {
    tir.for %w = 0 to 4 {
      // CHECK:      tir.call "conv2d" @gemm(%acc[%h, %w, 0][1, 1, 16], %inp[%h + 1, 0][1, 16], %wgt[0, 0][16, 16]) : memref<4x4x16xi32, "acc">, memref<6x16xi8, "inp">, memref<16x16xi8, "wgt">
      tir.call "conv2d" @gemm(%acc[%h, %w, 0][1, 1, 16], %inp[%h + 1, 0][1, 16], %wgt[0, 0][16, 16]) : memref<4x4x16xi32, "acc">, memref<6x16xi8, "inp">, memref<16x16xi8, "wgt">
      // CHECK-NEXT: tir.call "nothing" @nothing(%acc[%w, %h, 15][1, 1, 1]) {partita.origin = "a"} : memref<4x4x16xi32, "acc">
      tir.call "nothing" @nothing(%acc[%w, %h, 15][1, 1, 1]) {partita.origin = "a"} : memref<4x4x16xi32, "acc">
    }
  }
  func.return
}
