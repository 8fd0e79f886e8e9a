// RUN: partita-opt %s -t llvm-ir | filecheck %s

// What two kernels call stands in the text once.
// CHECK:     define internal float @partita.exp.float.1(float %x) alwaysinline {
// CHECK-NOT: define internal float @partita.exp.float.1(

// A kernel runs part of the iterations of its grid, on buffers whose addresses it is given.
// CHECK:      define internal void @exp.body(i64 %begin, i64 %end, ptr noalias noundef %a0, ptr noalias noundef %a1) alwaysinline {
// CHECK:        phi i64 [ 0, %entry ],
// CHECK:        %[[V:.*]] = load float, ptr
// CHECK-NEXT:   %[[E:.*]] = call float @partita.exp.float.1(float %[[V]])
// CHECK:        store float %[[E]], ptr
// CHECK:      define void @exp(ptr %arguments, i64 %begin, i64 %end) #0 {
// CHECK:        call void @exp.body(i64 %begin, i64 %end, ptr %a0, ptr %a1)
// CHECK-NEXT:   ret void
func.func private @exp(%x : memref<4x16xf32>, %y : memref<4x16xf32>) attributes {partita.kernel} {
  tir.for %i = 0 to 4 {
    tir.for %j = 0 to 16 {
      tir.block "exp" spatial (%a in 4, %b in 16) at [%i, %j] {
        %v = tir.load %x[%a, %b] : memref<4x16xf32>
        %e = math.exp %v : f32
        tir.store %e, %y[%a, %b] : memref<4x16xf32>
      }
    }
  }
  func.return
}

// The outermost loop of a parallel kernel is its grid, and lanes are vectors.
// CHECK-LABEL: define internal void @parallel.body(
// CHECK:         phi i64 [ %begin, %entry ],
// CHECK:         %[[W:.*]] = load <8 x float>, ptr
// CHECK-NEXT:    %[[N:.*]] = fneg {{.*}}<8 x float> %[[W]]
// CHECK:         store <8 x float> %[[N]], ptr
// CHECK:         icmp eq i64 %{{.*}}, %end
func.func private @parallel(%x : memref<64xf32>, %y : memref<64xf32>) attributes {partita.kernel} {
  tir.for %i = 0 to 8 parallel {
    tir.for %l = 0 to 8 vectorized {
      tir.block "negative" spatial (%a in 64) at [%i * 8 + %l] {
        %v = tir.load %x[%a] : memref<64xf32>
        %n = arith.negf %v : f32
        tir.store %n, %y[%a] : memref<64xf32>
      }
    }
  }
  func.return
}

// CHECK-LABEL: define internal void @again.body(
// CHECK:         call float @partita.exp.float.1(
func.func private @again(%x : memref<4xf32>, %y : memref<4xf32>) attributes {partita.kernel} {
  tir.for %i = 0 to 4 {
    tir.block "exp" spatial (%a in 4) at [%i] {
      %v = tir.load %x[%a] : memref<4xf32>
      %e = math.exp %v : f32
      tir.store %e, %y[%a] : memref<4xf32>
    }
  }
  func.return
}

// The entry is a plan, not code.
// CHECK-NOT:  @main
// CHECK:      attributes #0 = {
// CHECK-NOT:  @main
func.func @main(%x : memref<64xf32>, %y : memref<64xf32>) attributes {partita.entry} {
  func.call @parallel(%x, %y) : (memref<64xf32>, memref<64xf32>) -> ()
  func.return
}
