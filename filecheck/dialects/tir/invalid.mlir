// RUN: partita-opt %s --split-input-file --verify-diagnostics | filecheck %s

func.func @kind() {
  // CHECK: expected kind serial, parallel, vectorized, unrolled, pipelined, got sideways
  "tir.for"() <{lower = 0 : index, upper = 4 : index, kind = "sideways"}> ({
  ^bb0(%i : index):
  }) : () -> ()
  func.return
}

// -----

func.func @bounds() {
  // CHECK: expected lower bound below upper, got 4 and 4
  tir.for %i = 4 to 4 {
  }
  func.return
}

// -----

func.func @variable() {
  // CHECK: expected a body with one index argument
  "tir.for"() <{lower = 0 : index, upper = 4 : index, kind = "serial"}> ({
  ^bb0:
  }) : () -> ()
  func.return
}

// -----

func.func @map_of_bindings() {
  tir.for %i = 0 to 4 {
    // CHECK: expected bindings of 1 dimensions and no symbols, got (d0, d1) -> (d0)
    "tir.block"(%i) <{label = "b", spatial = array<i64: 4>, reduction = array<i64>, bindings = affine_map<(d0, d1) -> (d0)>}> ({
    ^bb0(%a : index):
    }, {}) : (index) -> ()
  }
  func.return
}

// -----

func.func @number_of_bindings() {
  tir.for %i = 0 to 4 {
    // CHECK: expected 1 bindings, got 2
    "tir.block"(%i) <{label = "b", spatial = array<i64: 4>, reduction = array<i64>, bindings = affine_map<(d0) -> (d0, d0)>}> ({
    ^bb0(%a : index):
    }, {}) : (index) -> ()
  }
  func.return
}

// -----

func.func @axes() {
  tir.for %i = 0 to 4 {
    // CHECK: expected a body of 1 index axes
    "tir.block"(%i) <{label = "b", spatial = array<i64: 4>, reduction = array<i64>, bindings = affine_map<(d0) -> (d0)>}> ({
    ^bb0:
    }, {}) : (index) -> ()
  }
  func.return
}

// -----

func.func @init_without_reduction() {
  tir.for %i = 0 to 4 {
    // CHECK: expected no init without reduction axes
    tir.block "b" spatial (%a in 4) at [%i] {
    } init (%b) {
    }
  }
  func.return
}

// -----

func.func @init_axes() {
  tir.for %i = 0 to 4 {
    // CHECK: expected an init of 0 index axes
    tir.block "b" reduce (%a in 4) at [%i] {
    } init (%b) {
    }
  }
  func.return
}

// -----

func.func @index_from_data(%i : index) {
  // CHECK: expected indices to be loop variables
  tir.block "b" spatial (%a in 4) at [%i] {
  }
  func.return
}

// -----

func.func @outside_axis() {
  tir.for %i = 0 to 5 {
    // CHECK: expected axis 0 in [0, 4), got [0, 4]; state a where
    tir.block "b" spatial (%a in 4) at [%i] {
    }
  }
  func.return
}

// -----

func.func @map_of_load(%x : memref<4xf32>) {
  tir.for %i = 0 to 4 {
    // CHECK: expected map of 1 dimensions and no symbols, got (d0, d1) -> (d0)
    %v = "tir.load"(%x, %i) <{map = affine_map<(d0, d1) -> (d0)>, operandSegmentSizes = array<i32: 1, 1, 0>}> : (memref<4xf32>, index) -> f32
  }
  func.return
}

// -----

func.func @rank(%x : memref<4xf32>) {
  tir.for %i = 0 to 4 {
    // CHECK: expected 1 indices, got 2
    %v = tir.load %x[%i, %i] : memref<4xf32>
  }
  func.return
}

// -----

func.func @data(%x : memref<4xf32>, %i : index) {
  // CHECK: expected an else value for an index that depends on data, got none
  %v = tir.load %x[%i] : memref<4xf32>
  func.return
}

// -----

func.func @outside(%x : memref<4xf32>) {
  tir.for %i = 0 to 4 {
    // CHECK: expected index 0 in [0, 4), got [1, 4]
    %v = tir.load %x[%i + 1] : memref<4xf32>
  }
  func.return
}

// -----

func.func @result(%x : memref<4xf32>) {
  // CHECK: expected result f32, got i32
  %v = "tir.load"(%x) <{map = affine_map<() -> (0)>, operandSegmentSizes = array<i32: 1, 0, 0>}> : (memref<4xf32>) -> i32
  func.return
}

// -----

func.func @otherwise(%x : memref<4xf32>, %e : i32) {
  // CHECK: expected else value f32, got i32
  %v = "tir.load"(%x, %e) <{map = affine_map<() -> (0)>, operandSegmentSizes = array<i32: 1, 0, 1>}> : (memref<4xf32>, i32) -> f32
  func.return
}

// -----

func.func @value(%x : memref<4xf32>, %v : i32) {
  // CHECK: expected value f32, got i32
  "tir.store"(%v, %x) <{map = affine_map<() -> (0)>}> : (i32, memref<4xf32>) -> ()
  func.return
}

// -----

// CHECK: expected a capacity of at least 1, got 0
tir.memory "acc" of 0 bytes

// -----

func.func @ranks(%x : memref<4x4xi8>) {
  // CHECK: expected 2 indices and sizes, got 1 and 2
  tir.call "b" @f(%x[0][1, 1]) : memref<4x4xi8>
  func.return
}

// -----

func.func @data(%x : memref<4xi8>, %i : index) {
  // CHECK: expected indices to be loop variables
  tir.call "b" @f(%x[%i][1]) : memref<4xi8>
  func.return
}

// -----

func.func @outside(%x : memref<4x4xi8>) {
  tir.for %i = 0 to 4 {
    // CHECK: expected axis 1 of tile 0 in [0, 4), got [0, 4]
    tir.call "b" @f(%x[0, %i][4, 2]) : memref<4x4xi8>
  }
  func.return
}
