// RUN: partita-opt %s -p plan-memory -t c | filecheck %s
// RUN: partita-opt %s -p plan-memory -t 'c{weights="table"}' | filecheck %s --check-prefix=TABLE

// The function that calls kernels is for others; so is one that takes arrays of pointers.
// CHECK:      void model(const float x[restrict 2][3], float y[restrict 2][3], void *const *weights);
// CHECK-NEXT: void model_run(void *const *inputs, void *const *outputs, void *const *weights);
// TABLE:      void model(const float x[restrict 2][3], float y[restrict 2][3]);
// TABLE-NEXT: void model_run(void *const *inputs, void *const *outputs, void *const *weights);

// Small constants are tables. Others are passed, or tables too.
// CHECK:      static const float bias[3] = {1, 0.100000001, -2.5};
// TABLE:      static const float bias[3] = {1, 0.100000001, -2.5};
// TABLE-NEXT: static const float big[2][9] = {{[{][{]}}7, 7, 7, 7, 7, 7, 7, 7, 7},
// TABLE-NEXT:   {7, 7, 7, 7, 7, 7, 7, 7, 7{{[}][}]}};

// What kernels hand on has its place in one static array.
// CHECK:      /* What kernels hand on, 64 bytes. */
// CHECK-NEXT: static union { uint8_t bytes[64]; double aligned; int64_t too; } arena;
// CHECK:      void model(const float x[restrict 2][3], float y[restrict 2][3], void *const *weights) {
// CHECK-NEXT:   void *const t = arena.bytes + 0; /* 2x3xfloat */
// CHECK-NEXT:   /* conv_1, relu_1 */
// CHECK-NEXT:   step(x, bias, weights[0], t);
// CHECK-NEXT:   step(t, bias, weights[0], y);
// CHECK-NEXT:   step((void *)y, bias, weights[0], t);
// CHECK-NEXT:   memcpy(y, t, 6 * sizeof(float));
// CHECK-NEXT: }
// TABLE:        step(x, bias, big, t);
// CHECK:      void model_run(void *const *inputs, void *const *outputs, void *const *weights) {
// CHECK-NEXT:   model(inputs[0], outputs[0], weights);
// CHECK-NEXT: }
// TABLE:      void model_run(void *const *inputs, void *const *outputs, void *const *weights) {
// TABLE-NEXT:   (void)weights;
// TABLE-NEXT:   model(inputs[0], outputs[0]);
// TABLE-NEXT: }
func.func @model(%x : memref<2x3xf32>, %y : memref<2x3xf32>) attributes {partita.entry, partita.signature = (tensor<2x3xf32>) -> tensor<2x3xf32>} {
  %bias = tir.constant dense<[1.0, 0.1, -2.5]> : tensor<3xf32> -> memref<3xf32>
  %big = tir.constant dense<7.0> : tensor<2x9xf32> -> memref<2x9xf32>
  %t = memref.alloc() : memref<2x3xf32>
  func.call @step(%x, %bias, %big, %t) {partita.origin = "conv_1, relu_1"} : (memref<2x3xf32>, memref<3xf32>, memref<2x9xf32>, memref<2x3xf32>) -> ()
  func.call @step(%t, %bias, %big, %y) : (memref<2x3xf32>, memref<3xf32>, memref<2x9xf32>, memref<2x3xf32>) -> ()
  func.call @step(%y, %bias, %big, %t) : (memref<2x3xf32>, memref<3xf32>, memref<2x9xf32>, memref<2x3xf32>) -> ()
  "memref.copy"(%t, %y) : (memref<2x3xf32>, memref<2x3xf32>) -> ()
  func.return
}
func.func private @step(%x : memref<2x3xf32>, %b : memref<3xf32>, %w : memref<2x9xf32>, %y : memref<2x3xf32>) attributes {partita.kernel} {
  tir.for %i = 0 to 2 {
    tir.for %j = 0 to 3 {
      tir.block "step" spatial (%a in 2, %c in 3) at [%i, %j] {
        %v = tir.load %x[%a, %c] : memref<2x3xf32>
        %u = tir.load %b[%c] : memref<3xf32>
        %w_1 = tir.load %w[%a, %c * 3] : memref<2x9xf32>
        %s = arith.addf %v, %u : f32
        %p = arith.mulf %s, %w_1 : f32
        tir.store %p, %y[%a, %c] : memref<2x3xf32>
      }
    }
  }
  func.return
}
