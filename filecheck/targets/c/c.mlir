// RUN: partita-opt %s -t c | filecheck %s

// Only headers of the C library are needed, and what others may call is declared.
// CHECK:      #include <math.h>
// CHECK-NEXT: #include <stdbool.h>
// CHECK-NEXT: #include <stdint.h>
// CHECK-NEXT: #include <string.h>
// CHECK-EMPTY:
// CHECK-NEXT: void tile(const float x[restrict 8][6], const float w[restrict 6], float y[restrict 8]);

// Support functions are there once, if anything calls them.
// CHECK:      static inline float at_least_f32(float a, float b) {
// CHECK-NEXT:   return b > a ? b : a;
// CHECK-NEXT: }
// CHECK:      static inline int32_t add_i32(int32_t a, int32_t b) {
// CHECK-NEXT:   return (int32_t)((uint32_t)a + (uint32_t)b);
// CHECK-NEXT: }
// CHECK-NOT:  at_least_f32(float a

// Loops are loops, and arrays are arrays; a loop of one iteration is none.
// CHECK-LABEL: void tile(const float x[restrict 8][6], const float w[restrict 6], float y[restrict 8]) {
// CHECK-NEXT:    for (int64_t i = 0; i < 2; i++) {
// CHECK-NEXT:      float sum[4];
// CHECK-NEXT:      for (int64_t j = 0; j < 4; j++) {
// CHECK-NEXT:        /* zero */
// CHECK-NEXT:        sum[j] = 0.0f;
// CHECK-NEXT:      }
// CHECK-NEXT:      for (int64_t k = 0; k < 6; k++) {
// CHECK-NEXT:        for (int64_t j = 0; j < 4; j++) {
// CHECK-NEXT:          /* product: dense_1, relu * / 1 */
// CHECK-NEXT:          sum[j] += x[i * 4 + j][k] * w[k];
// CHECK-NEXT:        }
// CHECK-NEXT:      }
// CHECK-NEXT:      for (int64_t j = 0; j < 4; j++) {
// CHECK-NEXT:        /* relu */
// CHECK-NEXT:        y[i * 4 + j] = at_least_f32(sum[j], 0.0f);
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:  }
func.func @tile(%x : memref<8x6xf32>, %w : memref<6xf32>, %y : memref<8xf32>) {
  tir.for %i = 0 to 2 parallel {
    %sum = memref.alloc() : memref<4xf32, "local">
    tir.for %j = 0 to 4 {
      tir.block "zero" spatial (%a in 4) at [%j] {
        %z = arith.constant 0.0 : f32
        tir.store %z, %sum[%a] : memref<4xf32, "local">
      }
    }
    tir.for %k = 0 to 6 {
      tir.for %j = 0 to 4 vectorized {
        tir.block "product" spatial (%a in 4, %c in 8) reduce (%b in 6) at [%j, %i * 4 + %j, %k] {
          %v = tir.load %x[%c, %b] : memref<8x6xf32>
          %u = tir.load %w[%b] : memref<6xf32>
          %p = arith.mulf %v, %u : f32
          %s = tir.load %sum[%a] : memref<4xf32, "local">
          %t = arith.addf %s, %p : f32
          tir.store %t, %sum[%a] : memref<4xf32, "local">
        } attributes {partita.origin = "dense_1, relu */ 1"}
      }
    }
    tir.for %j = 0 to 4 {
      tir.for %one = 0 to 1 {
        tir.block "relu" spatial (%a in 4, %c in 8, %d in 1) at [%j, %i * 4 + %j, %one] {
          %z = arith.constant 0.0 : f32
          %v = tir.load %sum[%a] : memref<4xf32, "local">
          %r = arith.maximumf %v, %z : f32
          tir.store %r, %y[%c] : memref<8xf32>
        }
      }
    }
  }
  func.return
}

// Where an index may lie outside, and where a reduction begins, there is a condition; known ones are not written.
// CHECK-LABEL: static void border(const float x[restrict 8], float y[restrict 8]) {
// CHECK-NEXT:    for (int64_t i = 0; i < 8; i++) {
// CHECK-NEXT:      for (int64_t k = 0; k < 3; k++) {
// CHECK-NEXT:        if (k == 0) {
// CHECK-NEXT:          y[i] = -INFINITY;
// CHECK-NEXT:        }
// CHECK-NEXT:        const float v = i + k >= 1 && i + k < 9 ? x[i + k - 1] : -INFINITY;
// CHECK-NEXT:        y[i] = fmax_f32(y[i], v);
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:  }
func.func private @border(%x : memref<8xf32>, %y : memref<8xf32>) attributes {partita.kernel} {
  tir.for %i = 0 to 8 {
    tir.for %k = 0 to 3 {
      tir.block "max" spatial (%a in 8) reduce (%b in 3) at [%i, %k] {
        %low = arith.constant 0xFF800000 : f32
        %v = tir.load %x[%a + %b - 1] else %low : memref<8xf32>
        %m = tir.load %y[%a] : memref<8xf32>
        %n = arith.maximumf %m, %v : f32
        tir.store %n, %y[%a] : memref<8xf32>
      } init (%a) {
        %low = arith.constant 0xFF800000 : f32
        tir.store %low, %y[%a] : memref<8xf32>
      }
    }
  }
  func.return
}

// Integers wrap around, through unsigned arithmetic; a value that is used twice has a name.
// CHECK-LABEL: static void integers(const int32_t x[restrict 8], int32_t y[restrict 8]) {
// CHECK:           const int32_t v = x[7 - i];
// CHECK-NEXT:      y[i] = add_i32(v, v);
func.func private @integers(%x : memref<8xi32>, %y : memref<8xi32>) attributes {partita.kernel} {
  tir.for %i = 0 to 8 {
    tir.block "double" spatial (%a in 8) at [%i] {
      %v = tir.load %x[7 - %a] : memref<8xi32>
      %d = arith.addi %v, %v : i32
      tir.store %d, %y[%a] : memref<8xi32>
    }
  }
  func.return
}

// Half precision is kept as bits and computed in single precision; truth values are bytes.
// CHECK-LABEL: static void types(const uint16_t x[restrict 1], uint8_t y[restrict 1]) {
// CHECK-NEXT:    y[0] = half_value(x[0]) < 0.5f;
// CHECK-NEXT:  }
func.func private @types(%x : memref<f16>, %y : memref<i1>) attributes {partita.kernel} {
  tir.block "less" {
    %h = arith.constant 0.5 : f16
    %v = tir.load %x[] : memref<f16>
    %l = arith.cmpf olt, %v, %h : f16
    tir.store %l, %y[] : memref<i1>
  }
  func.return
}

// Names of C, and of its library, are left to it.
// CHECK-LABEL: static void exp_(const double double_[restrict 2], double y[restrict 2]) {
// CHECK:           y[i] = exp(double_[i]);
func.func private @exp(%double : memref<2xf64>, %y : memref<2xf64>) attributes {partita.kernel} {
  tir.for %i = 0 to 2 {
    tir.block "exp" spatial (%a in 2) at [%i] {
      %v = tir.load %double[%a] : memref<2xf64>
      %e = math.exp %v : f64
      tir.store %e, %y[%a] : memref<2xf64>
    }
  }
  func.return
}
