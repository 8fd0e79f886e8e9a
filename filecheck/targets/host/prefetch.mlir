// RUN: partita-opt %s -t llvm-ir | filecheck %s

// A loop with a note asks for what its reads need some iterations later; one that does not move is left alone.
func.func private @fetched(%x: memref<64x8xf32>, %w: memref<8xf32>, %y: memref<64x8xf32>) attributes {partita.kernel} {
  // CHECK-LABEL: define internal void @fetched.body
  tir.for %i = 0 to 64 {
    tir.for %j = 0 to 8 vectorized {
      tir.block "mul" spatial (%a in 64, %b in 8) at [%i, %j] {
        // CHECK:      %v5 = mul nsw i64 %i3, 8
        // CHECK-NEXT: %v6 = add nsw i64 %v5, 32
        // CHECK-NEXT: %v7 = getelementptr float, ptr %a0, i64 %v6
        // CHECK-NEXT: call void @llvm.prefetch.p0(ptr %v7, i32 0, i32 3, i32 1)
        // CHECK-NOT:  prefetch
        %u = tir.load %x[%a, %b] : memref<64x8xf32>
        %v = tir.load %w[%b] : memref<8xf32>
        %p = arith.mulf %u, %v : f32
        tir.store %p, %y[%a, %b] : memref<64x8xf32>
        // CHECK:      store <8 x float>
      }
    }
  } attributes {prefetch = 4 : i64}
  func.return
}

// Rows that read the same vector fetch it once; beside vectors, what all lanes share is left alone.
func.func private @rows(%x : memref<2x64xf32>, %w : memref<64x16xf32>, %y : memref<2x16xf32>) attributes {partita.kernel} {
  // CHECK-LABEL: define internal void @rows.body
  // CHECK:         %[[W:.*]] = getelementptr float, ptr %a1
  // CHECK-NEXT:    call void @llvm.prefetch.p0(ptr %[[W]], i32 0, i32 3, i32 1)
  // CHECK-NOT:     prefetch
  // CHECK:         ret void
  tir.for %k = 0 to 64 {
    tir.for %n = 0 to 2 unrolled {
      tir.for %m = 0 to 16 vectorized {
        tir.block "rows" spatial (%a in 2, %b in 16) reduce (%c in 64) at [%n, %m, %k] {
          %u = tir.load %x[%a, %c] : memref<2x64xf32>
          %v = tir.load %w[%c, %b] : memref<64x16xf32>
          %p = arith.mulf %u, %v : f32
          %0 = tir.load %y[%a, %b] : memref<2x16xf32>
          %s = arith.addf %0, %p : f32
          tir.store %s, %y[%a, %b] : memref<2x16xf32>
        } init (%d, %e) {
          %z = arith.constant 0.0 : f32
          tir.store %z, %y[%d, %e] : memref<2x16xf32>
        }
      }
    }
  } attributes {prefetch = 64 : i64}
  func.return
}
