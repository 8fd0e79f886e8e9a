// RUN: partita-opt %s -p 'schedule-host{vector=256}' --split-input-file | filecheck %s
// RUN: partita-opt %s -p 'schedule-host{vector=256},apply-schedules' --split-input-file -t llvm-ir | filecheck %s --check-prefix CODE

// Loops that run over all elements become one, and its iterations lanes.
// CHECK:      sched.sequence @relu_schedule for @relu {
// CHECK-NEXT:   %[[RELU:.*]] = sched.block "relu"
// CHECK-NEXT:   %[[A:.*]], %[[B:.*]] = sched.loops %[[RELU]] -> 2
// CHECK-NEXT:   %[[F:.*]] = sched.fuse %[[A]], %[[B]]
// CHECK-NEXT:   %[[O:.*]], %[[I:.*]] = sched.split %[[F]] [?, 8] peel
// CHECK-NEXT:   sched.vectorize %[[I]]
// CHECK-NEXT: }
// CODE:       load <8 x float>
func.func private @relu(%x : memref<4x20xf32>, %y : memref<4x20xf32>) attributes {partita.kernel} {
  tir.for %i = 0 to 4 {
    tir.for %j = 0 to 20 {
      tir.block "relu" spatial (%a in 4, %b in 20) at [%i, %j] {
        %v = tir.load %x[%a, %b] : memref<4x20xf32>
        %0 = arith.constant 0.0 : f32
        %1 = arith.maximumf %v, %0 : f32
        tir.store %1, %y[%a, %b] : memref<4x20xf32>
      }
    }
  }
  func.return
}

// -----

// A large loop is shared among threads.
// CHECK: sched.sequence @large_schedule for @large {
// CHECK:   sched.parallel
// CODE:  phi i64 [ %begin,
func.func private @large(%x : memref<1048576xf32>, %y : memref<1048576xf32>) attributes {partita.kernel} {
  tir.for %i = 0 to 1048576 {
    tir.block "exp" spatial (%a in 1048576) at [%i] {
      %v = tir.load %x[%a] : memref<1048576xf32>
      %e = math.exp %v : f32
      tir.store %e, %y[%a] : memref<1048576xf32>
    }
  }
  func.return
}

// -----

// A tile of a product stays in registers through the whole reduction.
// CHECK:      sched.sequence @product_schedule for @product {
// CHECK-NEXT:   %[[P:.*]] = sched.block "product"
// CHECK-NEXT:   sched.cache_write %[[P]], "local"
// CHECK:        sched.vectorize
// CHECK:        sched.unroll
// CHECK:        sched.set_scope %{{.*}}, "local"
// CHECK:        sched.decompose_reduction
// CODE:       alloca [
func.func private @product(%x : memref<8x32xf32>, %y : memref<32x16xf32>, %z : memref<8x16xf32>) attributes {partita.kernel} {
  tir.for %i = 0 to 8 {
    tir.for %j = 0 to 16 {
      tir.for %k = 0 to 32 {
        tir.block "product" spatial (%a in 8, %b in 16) reduce (%c in 32) at [%i, %j, %k] {
          %v = tir.load %x[%a, %c] : memref<8x32xf32>
          %w = tir.load %y[%c, %b] : memref<32x16xf32>
          %p = arith.mulf %v, %w : f32
          %s = tir.load %z[%a, %b] : memref<8x16xf32>
          %t = arith.addf %s, %p : f32
          tir.store %t, %z[%a, %b] : memref<8x16xf32>
        } init (%a, %b) {
          %0 = arith.constant 0.0 : f32
          tir.store %0, %z[%a, %b] : memref<8x16xf32>
        }
      }
    }
  }
  func.return
}

// -----

// Threads share rows where activations are larger than weights, and read the rows that they wrote before.
// CHECK: sched.sequence @wide_schedule for @wide {
// CHECK:   %[[I:.*]], %[[H:.*]], %[[W:.*]], %[[K:.*]] = sched.loops %{{.*}} -> 4
// CHECK:   sched.split %[[I]] [?, 2, 8]
// CHECK:   sched.reorder %[[H]], %[[IO:.*]], %[[WO:.*]], %[[K]],
// CHECK:   %[[F:.*]] = sched.fuse %[[H]], %[[IO]]
// CHECK:   sched.parallel %[[F]]
func.func private @wide(%x : memref<16x16x28xf32>, %y : memref<2x16x16xf32>, %z : memref<32x16x28xf32>) attributes {partita.kernel} {
  tir.for %i = 0 to 32 {
    tir.for %h = 0 to 16 {
      tir.for %w = 0 to 28 {
        tir.for %k = 0 to 16 {
          tir.block "conv" spatial (%a in 32, %b in 16, %c in 28) reduce (%d in 16) at [%i, %h, %w, %k] {
            %v = tir.load %x[%d, %b, %c] : memref<16x16x28xf32>
            %u = tir.load %y[%a floordiv 16, %d, %a mod 16] : memref<2x16x16xf32>
            %p = arith.mulf %v, %u : f32
            %s = tir.load %z[%a, %b, %c] : memref<32x16x28xf32>
            %t = arith.addf %s, %p : f32
            tir.store %t, %z[%a, %b, %c] : memref<32x16x28xf32>
          } init (%a, %b, %c) {
            %0 = arith.constant 0.0 : f32
            tir.store %0, %z[%a, %b, %c] : memref<32x16x28xf32>
          }
        }
      }
    }
  }
  func.return
}

// -----

// They share weights where those are larger.
// CHECK: sched.sequence @deep_schedule for @deep {
// CHECK:   %[[I:.*]], %[[H:.*]], %[[W:.*]], %[[K:.*]] = sched.loops %{{.*}} -> 4
// CHECK:   sched.split %[[I]] [?, 2, 8]
// CHECK:   sched.reorder %[[IO:.*]], %[[H]], %[[WO:.*]], %[[K]],
// CHECK:   %[[F:.*]] = sched.fuse %[[IO]], %[[H]]
// CHECK:   sched.parallel %[[F]]
func.func private @deep(%x : memref<128x4x28xf32>, %y : memref<8x128x16xf32>, %z : memref<128x4x28xf32>) attributes {partita.kernel} {
  tir.for %i = 0 to 128 {
    tir.for %h = 0 to 4 {
      tir.for %w = 0 to 28 {
        tir.for %k = 0 to 128 {
          tir.block "conv" spatial (%a in 128, %b in 4, %c in 28) reduce (%d in 128) at [%i, %h, %w, %k] {
            %v = tir.load %x[%d, %b, %c] : memref<128x4x28xf32>
            %u = tir.load %y[%a floordiv 16, %d, %a mod 16] : memref<8x128x16xf32>
            %p = arith.mulf %v, %u : f32
            %s = tir.load %z[%a, %b, %c] : memref<128x4x28xf32>
            %t = arith.addf %s, %p : f32
            tir.store %t, %z[%a, %b, %c] : memref<128x4x28xf32>
          } init (%a, %b, %c) {
            %0 = arith.constant 0.0 : f32
            tir.store %0, %z[%a, %b, %c] : memref<128x4x28xf32>
          }
        }
      }
    }
  }
  func.return
}

// -----

// Columns that are far apart in memory are copied, panel by panel, before many rows need them.
// CHECK: sched.sequence @far_schedule for @far {
// CHECK:   %[[P:.*]] = sched.block "product"
// CHECK:   %[[COPY:.*]] = sched.cache_read %[[P]], 1, "local"
// CHECK:   %[[A:.*]], %[[B:.*]], %[[C:.*]] = sched.loops %[[P]] -> 3
// CHECK:   %[[PANELS:.*]], %{{.*}}, %{{.*}} = sched.split %[[B]] [?, 2, 8] peel
// CHECK:   %[[STRIPS:.*]], %{{.*}} = sched.split %[[A]] [?, 6] peel
// CHECK:   sched.reorder %[[PANELS]], %[[STRIPS]], %[[C]],
// CHECK:   sched.compute_at %[[COPY]], %[[PANELS]]
// CHECK:   sched.parallel %[[PANELS]]
func.func private @far(%x : memref<96x800xf32>, %y : memref<800x64xf32>, %z : memref<96x64xf32>) attributes {partita.kernel} {
  tir.for %i = 0 to 96 {
    tir.for %j = 0 to 64 {
      tir.for %k = 0 to 800 {
        tir.block "product" spatial (%a in 96, %b in 64) reduce (%c in 800) at [%i, %j, %k] {
          %v = tir.load %x[%a, %c] : memref<96x800xf32>
          %w = tir.load %y[%c, %b] : memref<800x64xf32>
          %p = arith.mulf %v, %w : f32
          %s = tir.load %z[%a, %b] : memref<96x64xf32>
          %t = arith.addf %s, %p : f32
          tir.store %t, %z[%a, %b] : memref<96x64xf32>
        } init (%a, %b) {
          %0 = arith.constant 0.0 : f32
          tir.store %0, %z[%a, %b] : memref<96x64xf32>
        }
      }
    }
  }
  func.return
}

// -----

// A matrix that is contiguous along the sum is transposed in the copy.
// CHECK: sched.sequence @across_schedule for @across {
// CHECK:   %[[COPY:.*]] = sched.cache_read %{{.*}}, 1, "local"
// CHECK:   sched.compute_at %[[COPY]],
// CHECK:   sched.loops %[[COPY]]
// CHECK:   %{{.*}}, %[[LANE:.*]] = sched.split %{{.*}} [?, 8] peel
// CHECK:   %{{.*}}, %[[ROW:.*]] = sched.split %{{.*}} [?, 8] peel
// CHECK:   sched.unroll %[[ROW]]
// CHECK:   sched.vectorize %[[LANE]]
func.func private @across(%x : memref<96x40xf32>, %y : memref<64x40xf32>, %z : memref<96x64xf32>) attributes {partita.kernel} {
  tir.for %i = 0 to 96 {
    tir.for %j = 0 to 64 {
      tir.for %k = 0 to 40 {
        tir.block "product" spatial (%a in 96, %b in 64) reduce (%c in 40) at [%i, %j, %k] {
          %v = tir.load %x[%a, %c] : memref<96x40xf32>
          %w = tir.load %y[%b, %c] : memref<64x40xf32>
          %p = arith.mulf %v, %w : f32
          %s = tir.load %z[%a, %b] : memref<96x64xf32>
          %t = arith.addf %s, %p : f32
          tir.store %t, %z[%a, %b] : memref<96x64xf32>
        } init (%a, %b) {
          %0 = arith.constant 0.0 : f32
          tir.store %0, %z[%a, %b] : memref<96x64xf32>
        }
      }
    }
  }
  func.return
}

// -----

// Groups of a convolution are products of their own: a tile has rows of one group.
// CHECK: sched.sequence @groups_schedule for @groups {
// CHECK:   %[[A:.*]], %[[B:.*]], %[[C:.*]], %[[D:.*]] = sched.loops %{{.*}} -> 4
// CHECK:   %[[G:.*]], %[[R:.*]] = sched.split %[[A]] [?, 6]
// CHECK:   sched.split %[[C]] [?, 3, 8] peel
// CHECK:   sched.split %[[R]] [?, 3] peel
// CHECK:   %[[F:.*]] = sched.fuse %[[G]], %[[B]]
// CHECK:   sched.parallel %[[F]]
func.func private @groups(%x : memref<36x16x24xf32>, %y : memref<18x12xf32>, %z : memref<18x16x24xf32>) attributes {partita.kernel} {
  tir.for %i = 0 to 18 {
    tir.for %j = 0 to 16 {
      tir.for %k = 0 to 24 {
        tir.for %l = 0 to 12 {
          tir.block "groups" spatial (%a in 18, %b in 16, %c in 24) reduce (%d in 12) at [%i, %j, %k, %l] {
            %v = tir.load %x[%a floordiv 6 * 12 + %d, %b, %c] : memref<36x16x24xf32>
            %w = tir.load %y[%a, %d] : memref<18x12xf32>
            %p = arith.mulf %v, %w : f32
            %s = tir.load %z[%a, %b, %c] : memref<18x16x24xf32>
            %t = arith.addf %s, %p : f32
            tir.store %t, %z[%a, %b, %c] : memref<18x16x24xf32>
          } init (%a, %b, %c) {
            %0 = arith.constant 0.0 : f32
            tir.store %0, %z[%a, %b, %c] : memref<18x16x24xf32>
          }
        }
      }
    }
  }
  func.return
}

// -----

// What is done with the maximum of a row is done for that row, before the next one.
// CHECK: sched.sequence @centre_schedule for @centre {
// CHECK:   %[[A:.*]], %[[B:.*]] = sched.loops %{{.*}} -> 2
// CHECK:   sched.vectorize
// CHECK:   %[[TOP:.*]] = sched.block "top"
// CHECK:   sched.compute_at %[[TOP]], %[[A]]
// CHECK:   sched.set_scope %[[TOP]], "local"
// CHECK:   sched.decompose_reduction %[[TOP]]
// CHECK:   sched.parallel %[[A]]
func.func private @centre(%x : memref<64x300xf32>, %y : memref<64x300xf32>) attributes {partita.kernel} {
  %t = memref.alloc() : memref<64xf32>
  tir.for %i = 0 to 64 {
    tir.for %k = 0 to 300 {
      tir.block "top" spatial (%a in 64) reduce (%b in 300) at [%i, %k] {
        %v = tir.load %x[%a, %b] : memref<64x300xf32>
        %m = tir.load %t[%a] : memref<64xf32>
        %n = arith.maximumf %m, %v : f32
        tir.store %n, %t[%a] : memref<64xf32>
      } init (%a) {
        %0 = arith.constant 0xFF800000 : f32
        tir.store %0, %t[%a] : memref<64xf32>
      }
    }
  }
  tir.for %i = 0 to 64 {
    tir.for %j = 0 to 300 {
      tir.block "centre" spatial (%a in 64, %b in 300) at [%i, %j] {
        %v = tir.load %x[%a, %b] : memref<64x300xf32>
        %m = tir.load %t[%a] : memref<64xf32>
        %d = arith.subf %v, %m : f32
        tir.store %d, %y[%a, %b] : memref<64x300xf32>
      }
    }
  }
  func.return
}

// -----

// A function that is no kernel has no schedule.
// CHECK-NOT: sched.sequence
// CHECK:     func.func @main
func.func @main(%x : memref<4xf32>) attributes {partita.entry} {
  func.return
}

// -----

// A kernel that has a sequence keeps that one.
// CHECK:      sched.sequence @mine for @kept {
// CHECK-NEXT:   %{{.*}} = sched.block "exp"
// CHECK-NEXT: }
// CHECK-NOT:  sched.sequence
// CODE-LABEL: @kept
sched.sequence @mine for @kept {
  %b = sched.block "exp"
}
func.func private @kept(%x : memref<4xf32>, %y : memref<4xf32>) attributes {partita.kernel} {
  tir.for %i = 0 to 4 {
    tir.block "exp" spatial (%a in 4) at [%i] {
      %v = tir.load %x[%a] : memref<4xf32>
      %e = math.exp %v : f32
      tir.store %e, %y[%a] : memref<4xf32>
    }
  }
  func.return
}

// -----

// A kernel that a schedule has changed stays as it is.
// CHECK-NOT:  sched.sequence
// CHECK:      func.func private @done
// CODE-LABEL: @done
func.func private @done(%x : memref<32xf32>, %y : memref<32xf32>) attributes {partita.kernel} {
  tir.for %o = 0 to 8 {
    tir.for %i = 0 to 4 vectorized {
      tir.block "exp" spatial (%a in 32) at [%o * 4 + %i] {
        %v = tir.load %x[%a] : memref<32xf32>
        %e = math.exp %v : f32
        tir.store %e, %y[%a] : memref<32xf32>
      }
    }
  }
  func.return
}
