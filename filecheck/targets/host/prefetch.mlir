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
