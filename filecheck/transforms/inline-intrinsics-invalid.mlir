// RUN: partita-opt %s --split-input-file -p inline-intrinsics --verify-diagnostics | filecheck %s

func.func @kernel(%x: memref<4xi8>) {
  // CHECK: expected an intrinsic @nothing with a body, got none
  tir.call "b" @nothing(%x[0][4]) : memref<4xi8>
  func.return
}

// -----

func.func private @clear(%t: memref<4xi8>) attributes {tir.intrinsic} {
  func.return
}
func.func @kernel(%x: memref<4xi8>) {
  // CHECK: expected 1 tiles, got 2
  tir.call "b" @clear(%x[0][4], %x[0][4]) : memref<4xi8>, memref<4xi8>
  func.return
}

// -----

func.func private @clear(%t: memref<4xi8>) attributes {tir.intrinsic} {
  func.return
}
func.func @kernel(%x: memref<2x4xi8>) {
  // CHECK: expected a tile memref<4xi8>, got 2x4 of memref<2x4xi8>
  tir.call "b" @clear(%x[0, 0][2, 4]) : memref<2x4xi8>
  func.return
}

// -----

func.func private @clear(%t: memref<4xi8, "acc">) attributes {tir.intrinsic} {
  func.return
}
func.func @kernel(%x: memref<2x4xi8>) {
  // CHECK: expected a tile memref<4xi8, "acc">, got 1x4 of memref<2x4xi8>
  tir.call "b" @clear(%x[0, 0][1, 4]) : memref<2x4xi8>
  func.return
}
