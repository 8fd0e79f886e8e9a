// RUN: partita-opt %s --split-input-file -p lower-te-to-tir,apply-schedules | filecheck %s

// A chain of elementwise computes becomes one loop of vectors, shared among threads, and a rest without guards.
func.func @chain(%x: tensor<2x5x7xf32>) -> tensor<2x5x7xf32> {
  %e = te.compute "exp" (%n in 2, %h in 5, %w in 7) {
    %v = te.read %x[%n, %h, %w] : tensor<2x5x7xf32>
    %r = math.exp %v : f32
    te.yield %r : f32
  } : tensor<2x5x7xf32>
  %m = te.compute "mul" (%n in 2, %h in 5, %w in 7) {
    %v = te.read %x[%n, %h, %w] : tensor<2x5x7xf32>
    %u = te.read %e[%n, %h, %w] : tensor<2x5x7xf32>
    %r = arith.mulf %v, %u : f32
    te.yield %r : f32
  } : tensor<2x5x7xf32>
  %a = te.compute "add" (%n in 2, %h in 5, %w in 7) {
    %v = te.read %m[%n, %h, %w] : tensor<2x5x7xf32>
    %u = te.read %e[%n, %h, %w] : tensor<2x5x7xf32>
    %r = arith.addf %v, %u : f32
    te.yield %r : f32
  } : tensor<2x5x7xf32>
  func.return %a : tensor<2x5x7xf32>
}
sched.sequence @chain_schedule for @chain {
  %e = sched.block "exp"
  sched.compute_inline %e
  %m = sched.block "mul"
  sched.compute_inline %m
  %a = sched.block "add"
  %n, %h, %w = sched.loops %a -> 3
  %f = sched.fuse %n, %h, %w
  %o, %i = sched.split %f [?, 16] peel
  sched.parallel %o
  sched.vectorize %i
}

// CHECK-LABEL: func.func @chain(
// CHECK-NEXT:    tir.for %nhwo = 0 to 4 parallel {
// CHECK-NEXT:      tir.for %nhwi = 0 to 16 vectorized {
// CHECK-NEXT:        tir.block "add" spatial (%n in 2, %h in 5, %w in 7) at [(%nhwo * 16 + %nhwi) floordiv 35, (%nhwo * 16 + %nhwi) floordiv 7 mod 5, (%nhwo * 16 + %nhwi) mod 7] {
// CHECK-NEXT:          %v = tir.load %x[%n, %h, %w] : memref<2x5x7xf32>
// CHECK-NEXT:          %r = math.exp %v : f32
// CHECK-NEXT:          %r_1 = arith.mulf %v, %r : f32
// CHECK-NEXT:          %r_2 = arith.addf %r_1, %r : f32
// CHECK-NEXT:          tir.store %r_2, %a[%n, %h, %w] : memref<2x5x7xf32>
// CHECK-NEXT:        }
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:    tir.for %nhwi_1 = 0 to 6 vectorized {
// CHECK-NEXT:      tir.block "add_tail" spatial (%n_1 in 2, %h_1 in 5, %w_1 in 7) at [1, 4, %nhwi_1 + 1] {
// CHECK-NEXT:        %v_1 = tir.load %x[%n_1, %h_1, %w_1] : memref<2x5x7xf32>
// CHECK-NEXT:        %r_3 = math.exp %v_1 : f32
// CHECK-NEXT:        %r_4 = arith.mulf %v_1, %r_3 : f32
// CHECK-NEXT:        %r_5 = arith.addf %r_4, %r_3 : f32
// CHECK-NEXT:        tir.store %r_5, %a[%n_1, %h_1, %w_1] : memref<2x5x7xf32>
// CHECK-NEXT:      }
// CHECK-NEXT:    }

// -----

// A convolution on packed weights keeps a tile of sums in a local buffer, lanes last; the epilogue runs on the tile; the last tile of a row is smaller.
func.func @conv(%x: tensor<1x16x8x30xf32>, %w: tensor<2x16x3x3x16xf32>, %bias: tensor<32xf32>) -> tensor<1x32x8x30xf32> {
  %pad = te.compute "pad" (%n in 1, %c in 16, %h in 10, %w1 in 32) {
    %zero = arith.constant 0.0 : f32
    %v = te.read %x[%n, %c, %h - 1, %w1 - 1] else %zero : tensor<1x16x8x30xf32>
    te.yield %v : f32
  } : tensor<1x16x10x32xf32>
  %y = te.compute "conv2d" {partita.origin = "conv_1"} (%n in 1, %k in 32, %h in 8, %ww in 30) reduce (%c in 16, %r in 3, %s in 3) init (0.0 : f32) {
    %a = te.read %pad[%n, %c, %h + %r, %ww + %s] : tensor<1x16x10x32xf32>
    %b = te.read %w[%k floordiv 16, %c, %r, %s, %k mod 16] : tensor<2x16x3x3x16xf32>
    %p = arith.mulf %a, %b : f32
    te.yield %p : f32
  } combine (%acc : f32, %new : f32) {
    %sum = arith.addf %acc, %new : f32
    te.yield %sum : f32
  } : tensor<1x32x8x30xf32>
  %sum = te.compute "add" (%n in 1, %k in 32, %h in 8, %ww in 30) {
    %a = te.read %y[%n, %k, %h, %ww] : tensor<1x32x8x30xf32>
    %b = te.read %bias[%k] : tensor<32xf32>
    %p = arith.addf %a, %b : f32
    te.yield %p : f32
  } : tensor<1x32x8x30xf32>
  %r = te.compute "relu" (%n in 1, %k in 32, %h in 8, %ww in 30) {
    %a = te.read %sum[%n, %k, %h, %ww] : tensor<1x32x8x30xf32>
    %z = arith.constant 0.0 : f32
    %p = arith.maximumf %a, %z : f32
    te.yield %p : f32
  } : tensor<1x32x8x30xf32>
  func.return %r : tensor<1x32x8x30xf32>
}
sched.sequence @conv_schedule for @conv {
  %p = sched.block "pad"
  %pl:4 = sched.loops %p -> 4
  %pf = sched.fuse %pl#0, %pl#1
  sched.parallel %pf
  %add = sched.block "add"
  sched.compute_inline %add
  %c = sched.block "conv2d"
  %n, %k, %y, %x, %ch, %r, %s = sched.loops %c -> 7
  %ko, %kv, %ki = sched.split %k [?, 2, 16]
  %xo, %xi = sched.split %x [?, 7] peel
  sched.reorder %n, %ko, %y, %xo, %ch, %r, %s, %xi, %kv, %ki
  %relu = sched.block "relu"
  sched.reverse_compute_at %relu, %xo
  sched.set_scope %c, "local"
  %i = sched.decompose_reduction %c, %ch
  %f = sched.fuse %n, %ko, %y
  sched.parallel %f
  sched.unroll %xi
  sched.unroll %kv
  sched.vectorize %ki
  %f2, %xo2, %xi2, %kv2, %ki2 = sched.loops %i -> 5
  %f3, %xo3, %k3, %x3 = sched.loops %relu -> 4
  %kk, %kl = sched.split %k3 [?, 16]
  sched.reorder %x3, %kk, %kl
  sched.vectorize %kl
}

// CHECK-LABEL: func.func @conv(
// CHECK-NEXT:    %pad = memref.alloc() : memref<1x16x10x32xf32>
// CHECK-NEXT:    tir.for %nc = 0 to 16 parallel {
// CHECK-NEXT:      tir.for %h = 0 to 10 {
// CHECK-NEXT:        tir.for %w1 = 0 to 32 {
// CHECK-NEXT:          tir.block "pad" spatial (%n in 1, %c in 16, %h_1 in 10, %w1_1 in 32) at [0, %nc, %h, %w1] {
// CHECK-NEXT:            %zero = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:            %v = tir.load %x[%n, %c, %h_1 - 1, %w1_1 - 1] else %zero : memref<1x16x8x30xf32>
// CHECK-NEXT:            tir.store %v, %pad[%n, %c, %h_1, %w1_1] : memref<1x16x10x32xf32>
// CHECK-NEXT:          }
// CHECK-NEXT:        }
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:    tir.for %nkoh = 0 to 8 parallel {
// CHECK-NEXT:      tir.for %wwo = 0 to 4 {
// CHECK-NEXT:        %y = memref.alloc() : memref<7x32xf32, "local">
// CHECK-NEXT:        tir.for %wwi = 0 to 7 {
// CHECK-NEXT:          tir.for %km = 0 to 2 {
// CHECK-NEXT:            tir.for %ki = 0 to 16 {
// CHECK-NEXT:              tir.block "conv2d_init" spatial (%n_1 in 1, %k in 32, %h_2 in 8, %ww in 30) at [0, %km * 16 + %ki, %nkoh, %wwo * 7 + %wwi] {
// CHECK-NEXT:                %0 = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:                tir.store %0, %y[%wwi, %km * 16 + %ki] : memref<7x32xf32, "local">
// CHECK-NEXT:              } attributes {partita.origin = "conv_1"}
// CHECK-NEXT:            }
// CHECK-NEXT:          }
// CHECK-NEXT:        }
// CHECK-NEXT:        tir.for %c_1 = 0 to 16 {
// CHECK-NEXT:          tir.for %r_1 = 0 to 3 {
// CHECK-NEXT:            tir.for %s = 0 to 3 {
// CHECK-NEXT:              tir.for %wwi_1 = 0 to 7 unrolled {
// CHECK-NEXT:                tir.for %km_1 = 0 to 2 unrolled {
// CHECK-NEXT:                  tir.for %ki_1 = 0 to 16 vectorized {
// CHECK-NEXT:                    tir.block "conv2d" spatial (%n_2 in 1, %k_1 in 32, %h_3 in 8, %ww_1 in 30) reduce (%c_2 in 16, %r_2 in 3, %s_1 in 3) at [0, %km_1 * 16 + %ki_1, %nkoh, %wwo * 7 + %wwi_1, %c_1, %r_1, %s] {
// CHECK-NEXT:                      %a = tir.load %pad[%n_2, %c_2, %h_3 + %r_2, %ww_1 + %s_1] : memref<1x16x10x32xf32>
// CHECK-NEXT:                      %b = tir.load %w[%k_1 floordiv 16, %c_2, %r_2, %s_1, %k_1 mod 16] : memref<2x16x3x3x16xf32>
// CHECK-NEXT:                      %p = arith.mulf %a, %b : f32
// CHECK-NEXT:                      %1 = tir.load %y[%wwi_1, %km_1 * 16 + %ki_1] : memref<7x32xf32, "local">
// CHECK-NEXT:                      %sum = arith.addf %1, %p : f32
// CHECK-NEXT:                      tir.store %sum, %y[%wwi_1, %km_1 * 16 + %ki_1] : memref<7x32xf32, "local">
// CHECK-NEXT:                    } attributes {partita.origin = "conv_1"}
// CHECK-NEXT:                  }
// CHECK-NEXT:                }
// CHECK-NEXT:              }
// CHECK-NEXT:            }
// CHECK-NEXT:          }
// CHECK-NEXT:        }
// CHECK-NEXT:        tir.for %ww_2 = 0 to 7 {
// CHECK-NEXT:          tir.for %ko = 0 to 2 {
// CHECK-NEXT:            tir.for %ki_2 = 0 to 16 vectorized {
// CHECK-NEXT:              tir.block "relu" spatial (%n_3 in 1, %k_2 in 32, %h_4 in 8, %ww_3 in 30) at [0, %ko * 16 + %ki_2, %nkoh, %wwo * 7 + %ww_2] {
// CHECK-NEXT:                %a_1 = tir.load %y[%ww_2, %ko * 16 + %ki_2] : memref<7x32xf32, "local">
// CHECK-NEXT:                %b_1 = tir.load %bias[%k_2] : memref<32xf32>
// CHECK-NEXT:                %p_1 = arith.addf %a_1, %b_1 : f32
// CHECK-NEXT:                %z = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:                %p_2 = arith.maximumf %p_1, %z : f32
// CHECK-NEXT:                tir.store %p_2, %r[%n_3, %k_2, %h_4, %ww_3] : memref<1x32x8x30xf32>
// CHECK-NEXT:              }
// CHECK-NEXT:            }
// CHECK-NEXT:          }
// CHECK-NEXT:        }
// CHECK-NEXT:      }
// CHECK-NEXT:      %y_1 = memref.alloc() : memref<7x32xf32, "local">
// CHECK-NEXT:      tir.for %wwi_2 = 0 to 2 {
// CHECK-NEXT:        tir.for %km_2 = 0 to 2 {
// CHECK-NEXT:          tir.for %ki_3 = 0 to 16 {
// CHECK-NEXT:            tir.block "conv2d_init_tail" spatial (%n_4 in 1, %k_3 in 32, %h_5 in 8, %ww_4 in 30) at [0, %km_2 * 16 + %ki_3, %nkoh, %wwi_2 + 28] {
// CHECK-NEXT:              %2 = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:              tir.store %2, %y_1[%wwi_2, %km_2 * 16 + %ki_3] : memref<7x32xf32, "local">
// CHECK-NEXT:            } attributes {partita.origin = "conv_1"}
// CHECK-NEXT:          }
// CHECK-NEXT:        }
// CHECK-NEXT:      }
// CHECK-NEXT:      tir.for %c_3 = 0 to 16 {
// CHECK-NEXT:        tir.for %r_3 = 0 to 3 {
// CHECK-NEXT:          tir.for %s_2 = 0 to 3 {
// CHECK-NEXT:            tir.for %wwi_3 = 0 to 2 unrolled {
// CHECK-NEXT:              tir.for %km_3 = 0 to 2 unrolled {
// CHECK-NEXT:                tir.for %ki_4 = 0 to 16 vectorized {
// CHECK-NEXT:                  tir.block "conv2d_tail" spatial (%n_5 in 1, %k_4 in 32, %h_6 in 8, %ww_5 in 30) reduce (%c_4 in 16, %r_4 in 3, %s_3 in 3) at [0, %km_3 * 16 + %ki_4, %nkoh, %wwi_3 + 28, %c_3, %r_3, %s_2] {
// CHECK-NEXT:                    %a_2 = tir.load %pad[%n_5, %c_4, %h_6 + %r_4, %ww_5 + %s_3] : memref<1x16x10x32xf32>
// CHECK-NEXT:                    %b_2 = tir.load %w[%k_4 floordiv 16, %c_4, %r_4, %s_3, %k_4 mod 16] : memref<2x16x3x3x16xf32>
// CHECK-NEXT:                    %p_3 = arith.mulf %a_2, %b_2 : f32
// CHECK-NEXT:                    %3 = tir.load %y_1[%wwi_3, %km_3 * 16 + %ki_4] : memref<7x32xf32, "local">
// CHECK-NEXT:                    %sum_1 = arith.addf %3, %p_3 : f32
// CHECK-NEXT:                    tir.store %sum_1, %y_1[%wwi_3, %km_3 * 16 + %ki_4] : memref<7x32xf32, "local">
// CHECK-NEXT:                  } attributes {partita.origin = "conv_1"}
// CHECK-NEXT:                }
// CHECK-NEXT:              }
// CHECK-NEXT:            }
// CHECK-NEXT:          }
// CHECK-NEXT:        }
// CHECK-NEXT:      }
// CHECK-NEXT:      tir.for %ww_6 = 0 to 2 {
// CHECK-NEXT:        tir.for %ko_1 = 0 to 2 {
// CHECK-NEXT:          tir.for %ki_5 = 0 to 16 vectorized {
// CHECK-NEXT:            tir.block "relu_tail" spatial (%n_6 in 1, %k_5 in 32, %h_7 in 8, %ww_7 in 30) at [0, %ko_1 * 16 + %ki_5, %nkoh, %ww_6 + 28] {
// CHECK-NEXT:              %a_3 = tir.load %y_1[%ww_6, %ko_1 * 16 + %ki_5] : memref<7x32xf32, "local">
// CHECK-NEXT:              %b_3 = tir.load %bias[%k_5] : memref<32xf32>
// CHECK-NEXT:              %p_4 = arith.addf %a_3, %b_3 : f32
// CHECK-NEXT:              %z_1 = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:              %p_5 = arith.maximumf %p_4, %z_1 : f32
// CHECK-NEXT:              tir.store %p_5, %r[%n_6, %k_5, %h_7, %ww_7] : memref<1x32x8x30xf32>
// CHECK-NEXT:            }
// CHECK-NEXT:          }
// CHECK-NEXT:        }
// CHECK-NEXT:      }
// CHECK-NEXT:    }

// -----

// Softmax runs row by row, and keeps of each row only what it still needs.
func.func @softmax(%x: tensor<4x3x100xf32>) -> tensor<4x3x100xf32> {
  %m = te.compute "max" (%n in 4, %h in 3) reduce (%c in 100) init (0xFF800000 : f32) {
    %v = te.read %x[%n, %h, %c] : tensor<4x3x100xf32>
    te.yield %v : f32
  } combine (%acc : f32, %new : f32) {
    %sum = arith.maximumf %acc, %new : f32
    te.yield %sum : f32
  } : tensor<4x3xf32>
  %e = te.compute "exp" (%n in 4, %h in 3, %c in 100) {
    %v = te.read %x[%n, %h, %c] : tensor<4x3x100xf32>
    %m1 = te.read %m[%n, %h] : tensor<4x3xf32>
    %e = arith.subf %v, %m1 : f32
    %f = math.exp %e : f32
    te.yield %f : f32
  } : tensor<4x3x100xf32>
  %s = te.compute "sum" (%n in 4, %h in 3) reduce (%c in 100) init (0.0 : f32) {
    %v = te.read %e[%n, %h, %c] : tensor<4x3x100xf32>
    te.yield %v : f32
  } combine (%acc : f32, %new : f32) {
    %sum = arith.addf %acc, %new : f32
    te.yield %sum : f32
  } : tensor<4x3xf32>
  %r = te.compute "div" (%n in 4, %h in 3, %c in 100) {
    %v = te.read %e[%n, %h, %c] : tensor<4x3x100xf32>
    %m1 = te.read %s[%n, %h] : tensor<4x3xf32>
    %f = arith.divf %v, %m1 : f32
    te.yield %f : f32
  } : tensor<4x3x100xf32>
  func.return %r : tensor<4x3x100xf32>
}
sched.sequence @softmax_schedule for @softmax {
  %d = sched.block "div"
  %n, %h, %c = sched.loops %d -> 3
  %s = sched.block "sum"
  %e = sched.block "exp"
  %m = sched.block "max"
  sched.compute_at %s, %h
  sched.compute_at %e, %h
  sched.compute_at %m, %h
  sched.set_scope %s, "local"
  sched.set_scope %e, "local"
  sched.set_scope %m, "local"
  %f = sched.fuse %n, %h
  sched.parallel %f
  %o, %i = sched.split %c [?, 16] peel
  sched.vectorize %i
  %f2, %ce = sched.loops %e -> 2
  %eo, %ei = sched.split %ce [?, 16] peel
  sched.vectorize %ei
}

// CHECK-LABEL: func.func @softmax(
// CHECK-NEXT:    tir.for %nh = 0 to 12 parallel {
// CHECK-NEXT:      %s = memref.alloc() : memref<f32, "local">
// CHECK-NEXT:      %e = memref.alloc() : memref<112xf32, "local">
// CHECK-NEXT:      %m = memref.alloc() : memref<f32, "local">
// CHECK-NEXT:      tir.for %c = 0 to 100 {
// CHECK-NEXT:        tir.block "max" spatial (%n in 4, %h in 3) reduce (%c_1 in 100) at [%nh floordiv 3, %nh mod 3, %c] {
// CHECK-NEXT:          %v = tir.load %x[%n, %h, %c_1] : memref<4x3x100xf32>
// CHECK-NEXT:          %0 = tir.load %m[] : memref<f32, "local">
// CHECK-NEXT:          %sum = arith.maximumf %0, %v : f32
// CHECK-NEXT:          tir.store %sum, %m[] : memref<f32, "local">
// CHECK-NEXT:        } init (%n_1, %h_1) {
// CHECK-NEXT:          %1 = arith.constant 0xff800000 : f32
// CHECK-NEXT:          tir.store %1, %m[] : memref<f32, "local">
// CHECK-NEXT:        }
// CHECK-NEXT:      }
// CHECK-NEXT:      tir.for %co = 0 to 6 {
// CHECK-NEXT:        tir.for %ci = 0 to 16 vectorized {
// CHECK-NEXT:          tir.block "exp" spatial (%n_2 in 4, %h_2 in 3, %c_2 in 100) at [%nh floordiv 3, %nh mod 3, %co * 16 + %ci] {
// CHECK-NEXT:            %v_1 = tir.load %x[%n_2, %h_2, %c_2] : memref<4x3x100xf32>
// CHECK-NEXT:            %m1 = tir.load %m[] : memref<f32, "local">
// CHECK-NEXT:            %e_1 = arith.subf %v_1, %m1 : f32
// CHECK-NEXT:            %f = math.exp %e_1 : f32
// CHECK-NEXT:            tir.store %f, %e[%co * 16 + %ci] : memref<112xf32, "local">
// CHECK-NEXT:          }
// CHECK-NEXT:        }
// CHECK-NEXT:      }
// CHECK-NEXT:      tir.for %ci_1 = 0 to 4 vectorized {
// CHECK-NEXT:        tir.block "exp_tail" spatial (%n_3 in 4, %h_3 in 3, %c_3 in 100) at [%nh floordiv 3, %nh mod 3, %ci_1 + 96] {
// CHECK-NEXT:          %v_2 = tir.load %x[%n_3, %h_3, %c_3] : memref<4x3x100xf32>
// CHECK-NEXT:          %m1_1 = tir.load %m[] : memref<f32, "local">
// CHECK-NEXT:          %e_2 = arith.subf %v_2, %m1_1 : f32
// CHECK-NEXT:          %f_1 = math.exp %e_2 : f32
// CHECK-NEXT:          tir.store %f_1, %e[%ci_1 + 96] : memref<112xf32, "local">
// CHECK-NEXT:        }
// CHECK-NEXT:      }
// CHECK-NEXT:      tir.for %c_4 = 0 to 100 {
// CHECK-NEXT:        tir.block "sum" spatial (%n_4 in 4, %h_4 in 3) reduce (%c_5 in 100) at [%nh floordiv 3, %nh mod 3, %c_4] {
// CHECK-NEXT:          %v_3 = tir.load %e[%c_4] : memref<112xf32, "local">
// CHECK-NEXT:          %2 = tir.load %s[] : memref<f32, "local">
// CHECK-NEXT:          %sum_1 = arith.addf %2, %v_3 : f32
// CHECK-NEXT:          tir.store %sum_1, %s[] : memref<f32, "local">
// CHECK-NEXT:        } init (%n_5, %h_5) {
// CHECK-NEXT:          %3 = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:          tir.store %3, %s[] : memref<f32, "local">
// CHECK-NEXT:        }
// CHECK-NEXT:      }
// CHECK-NEXT:      tir.for %co_1 = 0 to 6 {
// CHECK-NEXT:        tir.for %ci_2 = 0 to 16 vectorized {
// CHECK-NEXT:          tir.block "div" spatial (%n_6 in 4, %h_6 in 3, %c_6 in 100) at [%nh floordiv 3, %nh mod 3, %co_1 * 16 + %ci_2] {
// CHECK-NEXT:            %v_4 = tir.load %e[%co_1 * 16 + %ci_2] : memref<112xf32, "local">
// CHECK-NEXT:            %m1_2 = tir.load %s[] : memref<f32, "local">
// CHECK-NEXT:            %f_2 = arith.divf %v_4, %m1_2 : f32
// CHECK-NEXT:            tir.store %f_2, %r[%n_6, %h_6, %c_6] : memref<4x3x100xf32>
// CHECK-NEXT:          }
// CHECK-NEXT:        }
// CHECK-NEXT:      }
// CHECK-NEXT:      tir.for %ci_3 = 0 to 4 vectorized {
// CHECK-NEXT:        tir.block "div_tail" spatial (%n_7 in 4, %h_7 in 3, %c_7 in 100) at [%nh floordiv 3, %nh mod 3, %ci_3 + 96] {
// CHECK-NEXT:          %v_5 = tir.load %e[%ci_3 + 96] : memref<112xf32, "local">
// CHECK-NEXT:          %m1_3 = tir.load %s[] : memref<f32, "local">
// CHECK-NEXT:          %f_3 = arith.divf %v_5, %m1_3 : f32
// CHECK-NEXT:          tir.store %f_3, %r[%n_7, %h_7, %c_7] : memref<4x3x100xf32>
// CHECK-NEXT:        }
// CHECK-NEXT:      }
// CHECK-NEXT:    }

// -----

// A read of an inlined producer that may lie outside it still takes the else value there.
func.func @outside(%x: tensor<4xf32>) -> tensor<6xf32> {
  %e = te.compute "exp" (%i in 4) {
    %v = te.read %x[%i] : tensor<4xf32>
    %r = math.exp %v : f32
    te.yield %r : f32
  } : tensor<4xf32>
  %p = te.compute "pad" (%i in 6) {
    %zero = arith.constant 0.0 : f32
    %v = te.read %e[%i - 1] else %zero : tensor<4xf32>
    te.yield %v : f32
  } : tensor<6xf32>
  func.return %p : tensor<6xf32>
}
sched.sequence @outside_schedule for @outside {
  %e = sched.block "exp"
  sched.compute_inline %e
}

// CHECK-LABEL: func.func @outside(
// CHECK-NEXT:    tir.for %i = 0 to 6 {
// CHECK-NEXT:      tir.block "pad" spatial (%i_1 in 6) at [%i] {
// CHECK-NEXT:        %zero = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:        %v = tir.load %x[%i_1 - 1] else %zero : memref<4xf32>
// CHECK-NEXT:        %r = math.exp %v : f32
// CHECK-NEXT:        %0 = arith.constant -1 : index
// CHECK-NEXT:        %1 = arith.addi %i_1, %0 : index
// CHECK-NEXT:        %2 = arith.constant 4 : index
// CHECK-NEXT:        %3 = arith.cmpi ult, %1, %2 : index
// CHECK-NEXT:        %v_1 = arith.select %3, %r, %zero : f32
// CHECK-NEXT:        tir.store %v_1, %p[%i_1] : memref<6xf32>
// CHECK-NEXT:      }
// CHECK-NEXT:    }

// -----

// A producer that only copies needs no test: what lies outside it lies outside what it reads.
func.func @copied(%x: tensor<4xf32>) -> tensor<6xf32> {
  %e = te.compute "copy" (%i in 4) {
    %v = te.read %x[%i] : tensor<4xf32>
    te.yield %v : f32
  } : tensor<4xf32>
  %p = te.compute "pad" (%i in 6) {
    %zero = arith.constant 0.0 : f32
    %v = te.read %e[%i - 1] else %zero : tensor<4xf32>
    te.yield %v : f32
  } : tensor<6xf32>
  func.return %p : tensor<6xf32>
}
sched.sequence @copied_schedule for @copied {
  %e = sched.block "copy"
  sched.compute_inline %e
}

// CHECK-LABEL: func.func @copied(
// CHECK-NEXT:    tir.for %i = 0 to 6 {
// CHECK-NEXT:      tir.block "pad" spatial (%i_1 in 6) at [%i] {
// CHECK-NEXT:        %zero = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:        %v = tir.load %x[%i_1 - 1] else %zero : memref<4xf32>
// CHECK-NEXT:        tir.store %v, %p[%i_1] : memref<6xf32>
// CHECK-NEXT:      }
// CHECK-NEXT:    }

// -----

// A producer moves into a loop with the halo that is read there; what the halo has outside is guarded.
func.func @halo(%x: tensor<16xf32>) -> tensor<16xf32> {
  %e = te.compute "exp" (%i in 16) {
    %v = te.read %x[%i] : tensor<16xf32>
    %r = math.exp %v : f32
    te.yield %r : f32
  } : tensor<16xf32>
  %s = te.compute "sum" (%i in 16) reduce (%r in 3) init (0.0 : f32) {
    %zero = arith.constant 0.0 : f32
    %v = te.read %e[%i + %r - 1] else %zero : tensor<16xf32>
    te.yield %v : f32
  } combine (%old : f32, %new : f32) {
    %t = arith.addf %old, %new : f32
    te.yield %t : f32
  } : tensor<16xf32>
  func.return %s : tensor<16xf32>
}
sched.sequence @halo_schedule for @halo {
  %s = sched.block "sum"
  %i, %r = sched.loops %s -> 2
  %o, %j = sched.split %i [?, 8]
  %e = sched.block "exp"
  sched.compute_at %e, %o
}

// CHECK-LABEL: func.func @halo(
// CHECK-NEXT:    %e = memref.alloc() : memref<16xf32>
// CHECK-NEXT:    tir.for %io = 0 to 2 {
// CHECK-NEXT:      tir.for %i = 0 to 10 {
// CHECK-NEXT:        tir.block "exp" spatial (%i_1 in 16) at [%io * 8 + %i - 1] where [%io * 8 + %i - 1, 16 - %io * 8 - %i] {
// CHECK-NEXT:          %v = tir.load %x[%i_1] : memref<16xf32>
// CHECK-NEXT:          %r = math.exp %v : f32
// CHECK-NEXT:          tir.store %r, %e[%i_1] : memref<16xf32>
// CHECK-NEXT:        }
// CHECK-NEXT:      }
// CHECK-NEXT:      tir.for %ii = 0 to 8 {
// CHECK-NEXT:        tir.for %r_1 = 0 to 3 {
// CHECK-NEXT:          tir.block "sum" spatial (%i_2 in 16) reduce (%r_2 in 3) at [%io * 8 + %ii, %r_1] {
// CHECK-NEXT:            %zero = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:            %v_1 = tir.load %e[%i_2 + %r_2 - 1] else %zero : memref<16xf32>
// CHECK-NEXT:            %0 = tir.load %s[%i_2] : memref<16xf32>
// CHECK-NEXT:            %t = arith.addf %0, %v_1 : f32
// CHECK-NEXT:            tir.store %t, %s[%i_2] : memref<16xf32>
// CHECK-NEXT:          } init (%i_3) {
// CHECK-NEXT:            %1 = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:            tir.store %1, %s[%i_3] : memref<16xf32>
// CHECK-NEXT:          }
// CHECK-NEXT:        }
// CHECK-NEXT:      }
// CHECK-NEXT:    }

// -----

// A split that does not divide guards all its iterations unless it peels.
func.func @guard(%x: tensor<10xf32>) -> tensor<10xf32> {
  %e = te.compute "exp" (%i in 10) {
    %v = te.read %x[%i] : tensor<10xf32>
    %r = math.exp %v : f32
    te.yield %r : f32
  } : tensor<10xf32>
  func.return %e : tensor<10xf32>
}
sched.sequence @guard_schedule for @guard {
  %e = sched.block "exp"
  %i = sched.loops %e -> 1
  %o, %j = sched.split %i [?, 4] guard
}

// CHECK-LABEL: func.func @guard(
// CHECK-NEXT:    tir.for %io = 0 to 3 {
// CHECK-NEXT:      tir.for %ii = 0 to 4 {
// CHECK-NEXT:        tir.block "exp" spatial (%i in 10) at [%io * 4 + %ii] where [9 - %io * 4 - %ii] {
// CHECK-NEXT:          %v = tir.load %x[%i] : memref<10xf32>
// CHECK-NEXT:          %r = math.exp %v : f32
// CHECK-NEXT:          tir.store %r, %e[%i] : memref<10xf32>
// CHECK-NEXT:        }
// CHECK-NEXT:      }
// CHECK-NEXT:    }

// -----

// Results are kept in a buffer of another scope until they are copied.
func.func @cached(%x: tensor<4x8xf32>) -> tensor<4xf32> {
  %s = te.compute "sum" (%i in 4) reduce (%r in 8) init (0.0 : f32) {
    %v = te.read %x[%i, %r] : tensor<4x8xf32>
    te.yield %v : f32
  } combine (%old : f32, %new : f32) {
    %t = arith.addf %old, %new : f32
    te.yield %t : f32
  } : tensor<4xf32>
  func.return %s : tensor<4xf32>
}
sched.sequence @cached_schedule for @cached {
  %s = sched.block "sum"
  %i, %r = sched.loops %s -> 2
  %c = sched.cache_write %s, "local"
  sched.reverse_compute_at %c, %i
  %j = sched.decompose_reduction %s, %r
}

// CHECK-LABEL: func.func @cached(
// CHECK-NEXT:    tir.for %i = 0 to 4 {
// CHECK-NEXT:      %s_local = memref.alloc() : memref<f32, "local">
// CHECK-NEXT:      tir.block "sum_init" spatial (%i_1 in 4) at [%i] {
// CHECK-NEXT:        %0 = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:        tir.store %0, %s_local[] : memref<f32, "local">
// CHECK-NEXT:      }
// CHECK-NEXT:      tir.for %r = 0 to 8 {
// CHECK-NEXT:        tir.block "sum" spatial (%i_2 in 4) reduce (%r_1 in 8) at [%i, %r] {
// CHECK-NEXT:          %v = tir.load %x[%i_2, %r_1] : memref<4x8xf32>
// CHECK-NEXT:          %1 = tir.load %s_local[] : memref<f32, "local">
// CHECK-NEXT:          %t = arith.addf %1, %v : f32
// CHECK-NEXT:          tir.store %t, %s_local[] : memref<f32, "local">
// CHECK-NEXT:        }
// CHECK-NEXT:      }
// CHECK-NEXT:      tir.block "sum_copy" spatial (%i_3 in 4) at [%i] {
// CHECK-NEXT:        %2 = tir.load %s_local[] : memref<f32, "local">
// CHECK-NEXT:        tir.store %2, %s[%i_3] : memref<4xf32>
// CHECK-NEXT:      }
// CHECK-NEXT:    }

// -----

// Unrolling by a factor leaves a loop of so many at a time.
func.func @unroll(%x: tensor<10xf32>) -> tensor<10xf32> {
  %e = te.compute "exp" (%i in 10) {
    %v = te.read %x[%i] : tensor<10xf32>
    %r = math.exp %v : f32
    te.yield %r : f32
  } : tensor<10xf32>
  func.return %e : tensor<10xf32>
}
sched.sequence @unroll_schedule for @unroll {
  %e = sched.block "exp"
  %i = sched.loops %e -> 1
  sched.unroll %i {factor = 4 : i64}
}

// CHECK-LABEL: func.func @unroll(
// CHECK-NEXT:    tir.for %io = 0 to 2 {
// CHECK-NEXT:      tir.for %ii = 0 to 4 unrolled {
// CHECK-NEXT:        tir.block "exp" spatial (%i in 10) at [%io * 4 + %ii] {
// CHECK-NEXT:          %v = tir.load %x[%i] : memref<10xf32>
// CHECK-NEXT:          %r = math.exp %v : f32
// CHECK-NEXT:          tir.store %r, %e[%i] : memref<10xf32>
// CHECK-NEXT:        }
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:    tir.for %ii_1 = 0 to 2 unrolled {
// CHECK-NEXT:      tir.block "exp_tail" spatial (%i_1 in 10) at [%ii_1 + 8] {
// CHECK-NEXT:        %v_1 = tir.load %x[%i_1] : memref<10xf32>
// CHECK-NEXT:        %r_1 = math.exp %v_1 : f32
// CHECK-NEXT:        tir.store %r_1, %e[%i_1] : memref<10xf32>
// CHECK-NEXT:      }
// CHECK-NEXT:    }

// -----

// A kernel without a schedule stays as it is, loops of one iteration included.
func.func @unscheduled(%x: tensor<1xf32>) -> tensor<1xf32> {
  %e = te.compute "exp" (%i in 1) {
    %v = te.read %x[%i] : tensor<1xf32>
    %r = math.exp %v : f32
    te.yield %r : f32
  } : tensor<1xf32>
  func.return %e : tensor<1xf32>
}


// CHECK-LABEL: func.func @unscheduled(
// CHECK-NEXT:    tir.for %i = 0 to 1 {
// CHECK-NEXT:      tir.block "exp" spatial (%i_1 in 1) at [%i] {
// CHECK-NEXT:        %v = tir.load %x[%i_1] : memref<1xf32>
// CHECK-NEXT:        %r = math.exp %v : f32
// CHECK-NEXT:        tir.store %r, %e[%i_1] : memref<1xf32>
// CHECK-NEXT:      }
// CHECK-NEXT:    }
