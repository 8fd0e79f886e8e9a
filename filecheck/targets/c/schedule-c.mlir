// RUN: partita-opt %s -p schedule-c | filecheck %s

// A map is cut into chunks that compilers make vectors of.
// CHECK:      sched.sequence @relu_schedule for @relu {
// CHECK:        %{{.*}}, %[[I:.*]] = sched.split %{{.*}} [?, 16] peel
// CHECK-NEXT:   sched.vectorize %[[I]]
func.func private @relu(%x : memref<32xf32>, %y : memref<32xf32>) attributes {partita.kernel} {
  tir.for %i = 0 to 32 {
    tir.block "relu" spatial (%a in 32) at [%i] {
      %v = tir.load %x[%a] : memref<32xf32>
      tir.store %v, %y[%a] : memref<32xf32>
    }
  }
  func.return
}

// A reduction keeps a tile of some rows by 16 of its result.
// CHECK:      sched.sequence @product_schedule for @product {
// CHECK:        sched.split %{{.*}} [?, 3] peel
// CHECK:        sched.decompose_reduction
func.func private @product(%x : memref<9x8xf32>, %w : memref<8x16xf32>, %y : memref<9x16xf32>) attributes {partita.kernel} {
  tir.for %i = 0 to 9 {
    tir.for %j = 0 to 16 {
      tir.for %k = 0 to 8 {
        tir.block "product" spatial (%a in 9, %b in 16) reduce (%c in 8) at [%i, %j, %k] {
          %v = tir.load %x[%a, %c] : memref<9x8xf32>
          %u = tir.load %w[%c, %b] : memref<8x16xf32>
          %p = arith.mulf %v, %u : f32
          %s = tir.load %y[%a, %b] : memref<9x16xf32>
          %t = arith.addf %s, %p : f32
          tir.store %t, %y[%a, %b] : memref<9x16xf32>
        } init (%a, %b) {
          %z = arith.constant 0.0 : f32
          tir.store %z, %y[%a, %b] : memref<9x16xf32>
        }
      }
    }
  }
  func.return
}

// Functions that are no kernels stay as they are.
// CHECK-NOT:  sched.sequence
func.func @plain(%x : memref<32xf32>, %y : memref<32xf32>) {
  tir.for %i = 0 to 32 {
    tir.block "relu" spatial (%a in 32) at [%i] {
      %v = tir.load %x[%a] : memref<32xf32>
      tir.store %v, %y[%a] : memref<32xf32>
    }
  }
  func.return
}
