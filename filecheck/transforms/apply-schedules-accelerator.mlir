// RUN: partita-opt %s --split-input-file -p lower-te-to-tir,apply-schedules | filecheck %s

// A copy of what a block reads, in a memory of its own: just the rows that a tile needs.
tir.memory "fast" of 64 bytes
// CHECK:      func.func @cached(%x: memref<10xf32>, %y: memref<8xf32>)
// CHECK-NEXT:   tir.for %io = 0 to 2 {
// CHECK-NEXT:     %x_fast = memref.alloc() : memref<6xf32, "fast">
// CHECK-NEXT:     tir.for %i = 0 to 6 {
// CHECK-NEXT:       tir.block "window_read0" spatial (%i_1 in 10) at [%io * 4 + %i] {
// CHECK-NEXT:         %0 = tir.load %x[%i_1] : memref<10xf32>
// CHECK-NEXT:         tir.store %0, %x_fast[%i] : memref<6xf32, "fast">
// CHECK-NEXT:       }
// CHECK-NEXT:     }
// CHECK-NEXT:     tir.for %ii = 0 to 4 {
// CHECK-NEXT:       tir.for %r = 0 to 3 {
// CHECK-NEXT:         tir.block "window" spatial (%i_2 in 8) reduce (%r_1 in 3) at [%io * 4 + %ii, %r] {
// CHECK-NEXT:           %v = tir.load %x_fast[%ii + %r] : memref<6xf32, "fast">
// CHECK-NEXT:           %1 = tir.load %y[%i_2] : memref<8xf32>
// CHECK-NEXT:           %s = arith.addf %1, %v : f32
// CHECK-NEXT:           tir.store %s, %y[%i_2] : memref<8xf32>
// CHECK-NEXT:         } init (%i_3) {
// CHECK-NEXT:           %2 = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:           tir.store %2, %y[%i_3] : memref<8xf32>
// CHECK-NEXT:         }
// CHECK-NEXT:       }
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT:   func.return
// CHECK-NEXT: }
func.func @cached(%x: tensor<10xf32>) -> tensor<8xf32> {
  %y = te.compute "window" (%i in 8) reduce (%r in 3) init (0.0 : f32) {
    %v = te.read %x[%i + %r] : tensor<10xf32>
    te.yield %v : f32
  } combine (%a: f32, %b: f32) {
    %s = arith.addf %a, %b : f32
    te.yield %s : f32
  } : tensor<8xf32>
  func.return %y : tensor<8xf32>
}
sched.sequence @cached_schedule for @cached {
  %b = sched.block "window"
  %c = sched.cache_read %b, 0, "fast"
  %i, %r = sched.loops %b -> 2
  %o, %p = sched.split %i [2, 4]
  sched.compute_at %c, %o
}

// -----

// Two slots: the first tile is copied before the loop, and each iteration copies the next one first.
tir.memory "fast" of 64 bytes
// CHECK:      func.func @pipelined(%x: memref<6x8xf32>, %y: memref<6x8xf32>)
// CHECK-NEXT:   %x_fast = memref.alloc() : memref<2x8xf32, "fast">
// CHECK-NEXT:   tir.for %i = 0 to 8 {
// CHECK-NEXT:     tir.block "exp_read0_head" spatial (%i_1 in 6, %i_2 in 8) at [0, %i] {
// CHECK-NEXT:       %0 = tir.load %x[%i_1, %i_2] : memref<6x8xf32>
// CHECK-NEXT:       tir.store %0, %x_fast[0, %i] : memref<2x8xf32, "fast">
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT:   tir.for %i_3 = 0 to 5 pipelined {
// CHECK-NEXT:     tir.for %i_4 = 0 to 8 {
// CHECK-NEXT:       tir.block "exp_read0" spatial (%i_5 in 6, %i_6 in 8) at [%i_3 + 1, %i_4] {
// CHECK-NEXT:         %1 = tir.load %x[%i_5, %i_6] : memref<6x8xf32>
// CHECK-NEXT:         tir.store %1, %x_fast[(%i_3 + 1) mod 2, %i_4] : memref<2x8xf32, "fast">
// CHECK-NEXT:       }
// CHECK-NEXT:     }
// CHECK-NEXT:     tir.for %j = 0 to 8 {
// CHECK-NEXT:       tir.block "exp" spatial (%i_7 in 6, %j_1 in 8) at [%i_3, %j] {
// CHECK-NEXT:         %v = tir.load %x_fast[%i_3 mod 2, %j] : memref<2x8xf32, "fast">
// CHECK-NEXT:         %e = math.exp %v : f32
// CHECK-NEXT:         tir.store %e, %y[%i_7, %j_1] : memref<6x8xf32>
// CHECK-NEXT:       }
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT:   tir.for %j_2 = 0 to 8 {
// CHECK-NEXT:     tir.block "exp_tail" spatial (%i_8 in 6, %j_3 in 8) at [5, %j_2] {
// CHECK-NEXT:       %v_1 = tir.load %x_fast[1, %j_2] : memref<2x8xf32, "fast">
// CHECK-NEXT:       %e_1 = math.exp %v_1 : f32
// CHECK-NEXT:       tir.store %e_1, %y[%i_8, %j_3] : memref<6x8xf32>
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT:   func.return
// CHECK-NEXT: }
func.func @pipelined(%x: tensor<6x8xf32>) -> tensor<6x8xf32> {
  %y = te.compute "exp" (%i in 6, %j in 8) {
    %v = te.read %x[%i, %j] : tensor<6x8xf32>
    %e = math.exp %v : f32
    te.yield %e : f32
  } : tensor<6x8xf32>
  func.return %y : tensor<6x8xf32>
}
sched.sequence @pipelined_schedule for @pipelined {
  %b = sched.block "exp"
  %c = sched.cache_read %b, 0, "fast"
  %i, %j = sched.loops %b -> 2
  sched.compute_at %c, %i
  sched.pipeline %i, 2
}

// -----

// Each tap of a window runs over the outputs for which it is inside.
// CHECK:      func.func @padded(%x: memref<8xi32>, %w: memref<3xi32>, %y: memref<8xi32>)
// CHECK-NEXT:   tir.for %i = 0 to 8 {
// CHECK-NEXT:     tir.block "conv_init" spatial (%i_1 in 8) at [%i] {
// CHECK-NEXT:       %0 = arith.constant 0 : i32
// CHECK-NEXT:       tir.store %0, %y[%i_1] : memref<8xi32>
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT:   tir.for %i_2 = 0 to 7 {
// CHECK-NEXT:     tir.block "conv_tail" spatial (%i_3 in 8) reduce (%r in 3) at [%i_2 + 1, 0] {
// CHECK-NEXT:       %zero = arith.constant 0 : i32
// CHECK-NEXT:       %v = tir.load %x[%i_3 + %r - 1] else %zero : memref<8xi32>
// CHECK-NEXT:       %u = tir.load %w[%r] : memref<3xi32>
// CHECK-NEXT:       %p = arith.muli %v, %u : i32
// CHECK-NEXT:       %1 = tir.load %y[%i_3] : memref<8xi32>
// CHECK-NEXT:       %s = arith.addi %1, %p : i32
// CHECK-NEXT:       tir.store %s, %y[%i_3] : memref<8xi32>
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT:   tir.for %i_4 = 0 to 8 {
// CHECK-NEXT:     tir.block "conv" spatial (%i_5 in 8) reduce (%r_1 in 3) at [%i_4, 1] {
// CHECK-NEXT:       %zero_1 = arith.constant 0 : i32
// CHECK-NEXT:       %v_1 = tir.load %x[%i_5 + %r_1 - 1] else %zero_1 : memref<8xi32>
// CHECK-NEXT:       %u_1 = tir.load %w[%r_1] : memref<3xi32>
// CHECK-NEXT:       %p_1 = arith.muli %v_1, %u_1 : i32
// CHECK-NEXT:       %2 = tir.load %y[%i_5] : memref<8xi32>
// CHECK-NEXT:       %s_1 = arith.addi %2, %p_1 : i32
// CHECK-NEXT:       tir.store %s_1, %y[%i_5] : memref<8xi32>
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT:   tir.for %i_6 = 0 to 7 {
// CHECK-NEXT:     tir.block "conv_tail2" spatial (%i_7 in 8) reduce (%r_2 in 3) at [%i_6, 2] {
// CHECK-NEXT:       %zero_2 = arith.constant 0 : i32
// CHECK-NEXT:       %v_2 = tir.load %x[%i_7 + %r_2 - 1] else %zero_2 : memref<8xi32>
// CHECK-NEXT:       %u_2 = tir.load %w[%r_2] : memref<3xi32>
// CHECK-NEXT:       %p_2 = arith.muli %v_2, %u_2 : i32
// CHECK-NEXT:       %3 = tir.load %y[%i_7] : memref<8xi32>
// CHECK-NEXT:       %s_2 = arith.addi %3, %p_2 : i32
// CHECK-NEXT:       tir.store %s_2, %y[%i_7] : memref<8xi32>
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT:   func.return
// CHECK-NEXT: }
func.func @padded(%x: tensor<8xi32>, %w: tensor<3xi32>) -> tensor<8xi32> {
  %y = te.compute "conv" (%i in 8) reduce (%r in 3) init (0 : i32) {
    %zero = arith.constant 0 : i32
    %v = te.read %x[%i + %r - 1] else %zero : tensor<8xi32>
    %u = te.read %w[%r] : tensor<3xi32>
    %p = arith.muli %v, %u : i32
    te.yield %p : i32
  } combine (%a: i32, %b: i32) {
    %s = arith.addi %a, %b : i32
    te.yield %s : i32
  } : tensor<8xi32>
  func.return %y : tensor<8xi32>
}
sched.sequence @padded_schedule for @padded {
  %b = sched.block "conv"
  %i, %r = sched.loops %b -> 2
  sched.reorder %r, %i
  %z = sched.decompose_reduction %b, %r
  sched.split_reduction_by_padding %b
}

// -----

// Loops that do what an instruction does become a call of it; others around them stay.
tir.memory "acc" of 256 bytes
func.func private @dot_4x8(%acc: memref<4xi32, "acc">, %w: memref<4x8xi8>, %v: memref<8xi8>) attributes {tir.intrinsic} {
  tir.for %j = 0 to 4 {
    tir.for %k = 0 to 8 {
      tir.block "dot" spatial (%a in 4) reduce (%b in 8) at [%j, %k] {
        %old = tir.load %acc[%a] : memref<4xi32, "acc">
        %x = tir.load %w[%a, %b] : memref<4x8xi8>
        %y = tir.load %v[%b] : memref<8xi8>
        %xe = arith.extsi %x : i8 to i32
        %ye = arith.extsi %y : i8 to i32
        %p = arith.muli %xe, %ye : i32
        %new = arith.addi %old, %p : i32
        tir.store %new, %acc[%a] : memref<4xi32, "acc">
      }
    }
  }
  func.return
}
// CHECK:      func.func @matmul(%x: memref<3x16xi8>, %w: memref<8x16xi8>, %y: memref<3x8xi32>)
// CHECK-NEXT:   tir.for %i = 0 to 3 {
// CHECK-NEXT:     tir.for %jo = 0 to 2 {
// CHECK-NEXT:       %y_acc = memref.alloc() : memref<4xi32, "acc">
// CHECK-NEXT:       tir.for %ji = 0 to 4 {
// CHECK-NEXT:         tir.block "dense_init" spatial (%i_1 in 3, %j in 8) at [%i, %jo * 4 + %ji] {
// CHECK-NEXT:           %0 = arith.constant 0 : i32
// CHECK-NEXT:           tir.store %0, %y_acc[%ji] : memref<4xi32, "acc">
// CHECK-NEXT:         } attributes {partita.origin = "fc"}
// CHECK-NEXT:       }
// CHECK-NEXT:       tir.for %ko = 0 to 2 {
// CHECK-NEXT:         tir.call "dense" @dot_4x8(%y_acc[0][4], %w[%jo * 4, %ko * 8][4, 8], %x[%i, %ko * 8][1, 8]) {partita.origin = "fc"} : memref<4xi32, "acc">, memref<8x16xi8>, memref<3x16xi8>
// CHECK-NEXT:       }
// CHECK-NEXT:       tir.for %j_1 = 0 to 4 {
// CHECK-NEXT:         tir.block "dense_copy" spatial (%i_2 in 3, %j_2 in 8) at [%i, %jo * 4 + %j_1] {
// CHECK-NEXT:           %1 = tir.load %y_acc[%j_1] : memref<4xi32, "acc">
// CHECK-NEXT:           tir.store %1, %y[%i_2, %j_2] : memref<3x8xi32>
// CHECK-NEXT:         } attributes {partita.origin = "fc"}
// CHECK-NEXT:       }
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT:   func.return
// CHECK-NEXT: }
func.func @matmul(%x: tensor<3x16xi8>, %w: tensor<8x16xi8>) -> tensor<3x8xi32> {
  %y = te.compute "dense" {partita.origin = "fc"} (%i in 3, %j in 8) reduce (%k in 16) init (0 : i32) {
    %v = te.read %x[%i, %k] : tensor<3x16xi8>
    %u = te.read %w[%j, %k] : tensor<8x16xi8>
    %ve = arith.extsi %v : i8 to i32
    %ue = arith.extsi %u : i8 to i32
    %p = arith.muli %ve, %ue : i32
    te.yield %p : i32
  } combine (%a: i32, %b: i32) {
    %s = arith.addi %a, %b : i32
    te.yield %s : i32
  } : tensor<3x8xi32>
  func.return %y : tensor<3x8xi32>
}
sched.sequence @matmul_schedule for @matmul {
  %b = sched.block "dense"
  %c = sched.cache_write %b, "acc"
  %i, %j, %k = sched.loops %b -> 3
  %jo, %ji = sched.split %j [2, 4]
  %ko, %ki = sched.split %k [2, 8]
  sched.reorder %i, %jo, %ko, %ji, %ki
  sched.reverse_compute_at %c, %jo
  %z = sched.decompose_reduction %b, %ko
  sched.tensorize %ji, @dot_4x8
}

// -----

// A note on a loop or a block is there for who knows it.
// CHECK:      func.func @noted(%x: memref<4xf32>, %y: memref<4xf32>)
// CHECK-NEXT:   tir.for %i = 0 to 4 {
// CHECK-NEXT:     tir.block "exp" spatial (%i_1 in 4) at [%i] {
// CHECK-NEXT:       %v = tir.load %x[%i_1] : memref<4xf32>
// CHECK-NEXT:       %e = math.exp %v : f32
// CHECK-NEXT:       tir.store %e, %y[%i_1] : memref<4xf32>
// CHECK-NEXT:     } attributes {precision = "low"}
// CHECK-NEXT:   } attributes {prefetch = 2 : i64}
// CHECK-NEXT:   func.return
// CHECK-NEXT: }
func.func @noted(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = te.compute "exp" (%i in 4) {
    %v = te.read %x[%i] : tensor<4xf32>
    %e = math.exp %v : f32
    te.yield %e : f32
  } : tensor<4xf32>
  func.return %y : tensor<4xf32>
}
sched.sequence @noted_schedule for @noted {
  %b = sched.block "exp"
  %i = sched.loops %b -> 1
  sched.annotate loop %i, "prefetch", 2 : i64
  sched.annotate block %b, "precision", "low"
}

// -----

// What nobody reads is in the way of nothing.
// CHECK:      func.func @unread(%x: memref<2xf32>, %y: memref<2xf32>)
// CHECK-NEXT:   %x_local = memref.alloc() : memref<2xf32, "local">
// CHECK-NEXT:   tir.block "exp_read0_head" spatial (%i in 2) at [0] {
// CHECK-NEXT:     %0 = tir.load %x[%i] : memref<2xf32>
// CHECK-NEXT:     tir.store %0, %x_local[0] : memref<2xf32, "local">
// CHECK-NEXT:   }
// CHECK-NEXT:   tir.block "exp_read0" spatial (%i_1 in 2) at [1] {
// CHECK-NEXT:     %1 = tir.load %x[%i_1] : memref<2xf32>
// CHECK-NEXT:     tir.store %1, %x_local[1] : memref<2xf32, "local">
// CHECK-NEXT:   }
// CHECK-NEXT:   %t = memref.alloc() : memref<f32, "local">
// CHECK-NEXT:   tir.block "exp" spatial (%i_2 in 2) at [0] {
// CHECK-NEXT:     %v = tir.load %x_local[0] : memref<2xf32, "local">
// CHECK-NEXT:     %e = math.exp %v : f32
// CHECK-NEXT:     tir.store %e, %t[] : memref<f32, "local">
// CHECK-NEXT:   }
// CHECK-NEXT:   %t_1 = memref.alloc() : memref<f32, "local">
// CHECK-NEXT:   tir.block "exp_tail" spatial (%i_3 in 2) at [1] {
// CHECK-NEXT:     %v_1 = tir.load %x_local[1] : memref<2xf32, "local">
// CHECK-NEXT:     %e_1 = math.exp %v_1 : f32
// CHECK-NEXT:     tir.store %e_1, %t_1[] : memref<f32, "local">
// CHECK-NEXT:   }
// CHECK-NEXT:   tir.for %i_4 = 0 to 2 {
// CHECK-NEXT:     tir.block "log" spatial (%i_5 in 2) at [%i_4] {
// CHECK-NEXT:       %v_2 = tir.load %x[%i_5] : memref<2xf32>
// CHECK-NEXT:       %e_2 = math.log %v_2 : f32
// CHECK-NEXT:       tir.store %e_2, %y[%i_5] : memref<2xf32>
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT:   func.return
// CHECK-NEXT: }
func.func @unread(%x: tensor<2xf32>) -> tensor<2xf32> {
  %t = te.compute "exp" (%i in 2) {
    %v = te.read %x[%i] : tensor<2xf32>
    %e = math.exp %v : f32
    te.yield %e : f32
  } : tensor<2xf32>
  %y = te.compute "log" (%i in 2) {
    %v = te.read %x[%i] : tensor<2xf32>
    %e = math.log %v : f32
    te.yield %e : f32
  } : tensor<2xf32>
  func.return %y : tensor<2xf32>
}
sched.sequence @unread_schedule for @unread {
  %b = sched.block "exp"
  %i = sched.loops %b -> 1
  %c = sched.cache_read %b, 0, "local"
  sched.compute_at %c, %i
  sched.set_scope %b, "local"
  sched.pipeline %i, 2
}

// -----

// A copy that is inlined where something is read with padding leaves nothing behind that would read its source.
// CHECK:      func.func @shifted(%x: memref<4xi32>, %y: memref<4xi32>)
// CHECK-NEXT:   tir.for %i = 0 to 4 {
// CHECK-NEXT:     tir.block "shift" spatial (%i_1 in 4) at [%i] {
// CHECK-NEXT:       %zero = arith.constant 0 : i32
// CHECK-NEXT:       %v = tir.load %x[%i_1 - 1] else %zero : memref<4xi32>
// CHECK-NEXT:       %s = arith.addi %v, %v : i32
// CHECK-NEXT:       %0 = arith.constant -1 : index
// CHECK-NEXT:       %1 = arith.addi %i_1, %0 : index
// CHECK-NEXT:       %2 = arith.constant 4 : index
// CHECK-NEXT:       %3 = arith.cmpi ult, %1, %2 : index
// CHECK-NEXT:       %v_1 = arith.select %3, %s, %zero : i32
// CHECK-NEXT:       tir.store %v_1, %y[%i_1] : memref<4xi32>
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT:   func.return
// CHECK-NEXT: }
func.func @shifted(%x: tensor<4xi32>) -> tensor<4xi32> {
  %t = te.compute "double" (%i in 4) {
    %v = te.read %x[%i] : tensor<4xi32>
    %s = arith.addi %v, %v : i32
    te.yield %s : i32
  } : tensor<4xi32>
  %y = te.compute "shift" (%i in 4) {
    %zero = arith.constant 0 : i32
    %v = te.read %t[%i - 1] else %zero : tensor<4xi32>
    te.yield %v : i32
  } : tensor<4xi32>
  func.return %y : tensor<4xi32>
}
sched.sequence @shifted_schedule for @shifted {
  %b = sched.block "shift"
  %c = sched.cache_read %b, 0, "local"
  sched.compute_inline %c
  %d = sched.block "double"
  sched.compute_inline %d
}
