// RUN: partita-opt %s -p lower-relay-to-te | filecheck %s

// Elements of one index make an element; repeated constants are scalars, the origin stays.
// CHECK-LABEL: func.func @elementwise
// CHECK-NEXT:   %[[V0:.*]] = te.compute "add" {partita.origin = "add_1"} (%i0 in 2, %i1 in 3) {
// CHECK-NEXT:     %[[V1:.*]] = te.read %x[%i0, %i1] : tensor<2x3xf32>
// CHECK-NEXT:     %[[V2:.*]] = te.read %b[%i1] : tensor<3xf32>
// CHECK-NEXT:     %[[V3:.*]] = arith.addf %[[V1]], %[[V2]] : f32
// CHECK-NEXT:     te.yield %[[V3]] : f32
// CHECK-NEXT:   } : tensor<2x3xf32>
// CHECK-NEXT:   %[[V4:.*]] = te.compute "minimum" (%[[I0_1:.*]] in 2, %[[I1_1:.*]] in 3) {
// CHECK-NEXT:     %[[V7:.*]] = te.read %[[V0]][%[[I0_1]], %[[I1_1]]] : tensor<2x3xf32>
// CHECK-NEXT:     %[[V8:.*]] = arith.constant 6.000000e+00 : f32
// CHECK-NEXT:     %[[V9:.*]] = arith.minimumf %[[V7]], %[[V8]] : f32
// CHECK-NEXT:     te.yield %[[V9]] : f32
// CHECK-NEXT:   } : tensor<2x3xf32>
// CHECK-NEXT:   func.return %[[V4]] : tensor<2x3xf32>
func.func @elementwise(%x: tensor<2x3xf32>, %b: tensor<3xf32>) -> tensor<2x3xf32> {
  %six = relay.constant dense<6.0> : tensor<f32>
  %0 = relay.add %x, %b {partita.origin = "add_1"} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %1 = relay.minimum %0, %six : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  func.return %1 : tensor<2x3xf32>
}

// Unsigned elements are signless scalars, computed by unsigned ops; a division never traps.
// CHECK-LABEL: func.func @unsigned
// CHECK-NEXT:   %[[V0:.*]] = te.compute "divide" (%i0 in 4) {
// CHECK-NEXT:     %[[V1:.*]] = te.read %x[%i0] : tensor<4xui8>
// CHECK-NEXT:     %[[V2:.*]] = te.read %y[%i0] : tensor<4xui8>
// CHECK-NEXT:     %[[V3:.*]] = arith.constant 0 : i8
// CHECK-NEXT:     %[[V4:.*]] = arith.cmpi eq, %[[V2]], %[[V3]] : i8
// CHECK-NEXT:     %[[V5:.*]] = arith.constant 1 : i8
// CHECK-NEXT:     %[[V6:.*]] = arith.select %[[V4]], %[[V5]], %[[V2]] : i8
// CHECK-NEXT:     %[[V7:.*]] = arith.divui %[[V1]], %[[V6]] : i8
// CHECK-NEXT:     %[[V8:.*]] = arith.select %[[V4]], %[[V3]], %[[V7]] : i8
// CHECK-NEXT:     te.yield %[[V8]] : i8
// CHECK-NEXT:   } : tensor<4xui8>
// CHECK-NEXT:   func.return %[[V0]] : tensor<4xui8>
func.func @unsigned(%x: tensor<4xui8>, %y: tensor<4xui8>) -> tensor<4xui8> {
  %0 = relay.divide %x, %y : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xui8>
  func.return %0 : tensor<4xui8>
}

// Half floats are computed in single precision and rounded once.
// CHECK-LABEL: func.func @half
// CHECK-NEXT:   %[[V0:.*]] = te.compute "sigmoid" (%i0 in 4) {
// CHECK-NEXT:     %[[V1:.*]] = te.read %x[%i0] : tensor<4xf16>
// CHECK-NEXT:     %[[V2:.*]] = arith.extf %[[V1]] : f16 to f32
// CHECK-NEXT:     %[[V3:.*]] = arith.negf %[[V2]] : f32
// CHECK-NEXT:     %[[V4:.*]] = math.exp %[[V3]] : f32
// CHECK-NEXT:     %[[V5:.*]] = arith.constant 1.000000e+00 : f32
// CHECK-NEXT:     %[[V6:.*]] = arith.addf %[[V4]], %[[V5]] : f32
// CHECK-NEXT:     %[[V7:.*]] = arith.divf %[[V5]], %[[V6]] : f32
// CHECK-NEXT:     %[[V8:.*]] = arith.truncf %[[V7]] : f32 to f16
// CHECK-NEXT:     te.yield %[[V8]] : f16
// CHECK-NEXT:   } : tensor<4xf16>
// CHECK-NEXT:   func.return %[[V0]] : tensor<4xf16>
func.func @half(%x: tensor<4xf16>) -> tensor<4xf16> {
  %0 = relay.sigmoid %x : tensor<4xf16>
  func.return %0 : tensor<4xf16>
}

// A padded image is a compute of its own; the reduction then reads inside.
// CHECK-LABEL: func.func @conv2d
// CHECK-NEXT:   %[[V0:.*]] = te.compute "pad" (%i0 in 1, %i1 in 16, %i2 in 9, %i3 in 9) {
// CHECK-NEXT:     %[[V1:.*]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:     %[[V2:.*]] = te.read %x[%i0, %i1, %i2 - 1, %i3 - 1] else %[[V1]] : tensor<1x16x8x8xf32>
// CHECK-NEXT:     te.yield %[[V2]] : f32
// CHECK-NEXT:   } : tensor<1x16x9x9xf32>
// CHECK-NEXT:   %[[V3:.*]] = te.compute "conv2d" (%[[I0_1:.*]] in 1, %[[I1_1:.*]] in 32, %[[I2_1:.*]] in 4, %[[I3_1:.*]] in 4) reduce (%r0 in 16, %r1 in 3, %r2 in 3) init (0.000000e+00 : f32) {
// CHECK-NEXT:     %[[V8:.*]] = te.read %[[V0]][%[[I0_1]], %r0, %[[I2_1]] * 2 + %r1, %[[I3_1]] * 2 + %r2] : tensor<1x16x9x9xf32>
// CHECK-NEXT:     %[[V9:.*]] = te.read %w[%[[I1_1]], %r0, %r1, %r2] : tensor<32x16x3x3xf32>
// CHECK-NEXT:     %[[V10:.*]] = arith.mulf %[[V8]], %[[V9]] : f32
// CHECK-NEXT:     te.yield %[[V10]] : f32
// CHECK-NEXT:   } combine (%[[V11:.*]]: f32, %[[V12:.*]]: f32) {
// CHECK-NEXT:     %[[V13:.*]] = arith.addf %[[V11]], %[[V12]] : f32
// CHECK-NEXT:     te.yield %[[V13]] : f32
// CHECK-NEXT:   } : tensor<1x32x4x4xf32>
// CHECK-NEXT:   func.return %[[V3]] : tensor<1x32x4x4xf32>
func.func @conv2d(%x: tensor<1x16x8x8xf32>, %w: tensor<32x16x3x3xf32>) -> tensor<1x32x4x4xf32> {
  %0 = relay.conv2d %x, %w {strides = array<i64: 2, 2>, padding = array<i64: 1, 1, 1, 1>, dilation = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x16x8x8xf32>, tensor<32x16x3x3xf32>) -> tensor<1x32x4x4xf32>
  func.return %0 : tensor<1x32x4x4xf32>
}

// Without padding there is none; blocked filters are read where they lie.
// CHECK-LABEL: func.func @blocked
// CHECK-NEXT:   %[[V0:.*]] = te.compute "conv2d" (%i0 in 1, %i1 in 32, %i2 in 6, %i3 in 6) reduce (%r0 in 16, %r1 in 3, %r2 in 3) init (0.000000e+00 : f32) {
// CHECK-NEXT:     %[[V1:.*]] = te.read %x[%i0, %r0, %i2 + %r1, %i3 + %r2] : tensor<1x16x8x8xf32>
// CHECK-NEXT:     %[[V2:.*]] = te.read %w[%i1 floordiv 16, %r0, %r1, %r2, %i1 mod 16] : tensor<2x16x3x3x16xf32>
// CHECK-NEXT:     %[[V3:.*]] = arith.mulf %[[V1]], %[[V2]] : f32
// CHECK-NEXT:     te.yield %[[V3]] : f32
// CHECK-NEXT:   } combine (%[[V4:.*]]: f32, %[[V5:.*]]: f32) {
// CHECK-NEXT:     %[[V6:.*]] = arith.addf %[[V4]], %[[V5]] : f32
// CHECK-NEXT:     te.yield %[[V6]] : f32
// CHECK-NEXT:   } : tensor<1x32x6x6xf32>
// CHECK-NEXT:   func.return %[[V0]] : tensor<1x32x6x6xf32>
func.func @blocked(%x: tensor<1x16x8x8xf32>, %w: tensor<2x16x3x3x16xf32>) -> tensor<1x32x6x6xf32> {
  %0 = relay.conv2d %x, %w {strides = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, dilation = array<i64: 1, 1>, groups = 1 : i64, kernel_layout = "OIHW16o"} : (tensor<1x16x8x8xf32>, tensor<2x16x3x3x16xf32>) -> tensor<1x32x6x6xf32>
  func.return %0 : tensor<1x32x6x6xf32>
}

// A group reads its own channels.
// CHECK-LABEL: func.func @groups
// CHECK-NEXT:   %[[V0:.*]] = te.compute "conv2d" (%i0 in 1, %i1 in 6, %i2 in 6, %i3 in 6) reduce (%r0 in 2, %r1 in 3, %r2 in 3) init (0.000000e+00 : f32) {
// CHECK-NEXT:     %[[V1:.*]] = te.read %x[%i0, %i1 floordiv 3 * 2 + %r0, %i2 + %r1, %i3 + %r2] : tensor<1x4x8x8xf32>
// CHECK-NEXT:     %[[V2:.*]] = te.read %w[%i1, %r0, %r1, %r2] : tensor<6x2x3x3xf32>
// CHECK-NEXT:     %[[V3:.*]] = arith.mulf %[[V1]], %[[V2]] : f32
// CHECK-NEXT:     te.yield %[[V3]] : f32
// CHECK-NEXT:   } combine (%[[V4:.*]]: f32, %[[V5:.*]]: f32) {
// CHECK-NEXT:     %[[V6:.*]] = arith.addf %[[V4]], %[[V5]] : f32
// CHECK-NEXT:     te.yield %[[V6]] : f32
// CHECK-NEXT:   } : tensor<1x6x6x6xf32>
// CHECK-NEXT:   func.return %[[V0]] : tensor<1x6x6x6xf32>
func.func @groups(%x: tensor<1x4x8x8xf32>, %w: tensor<6x2x3x3xf32>) -> tensor<1x6x6x6xf32> {
  %0 = relay.conv2d %x, %w {strides = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, dilation = array<i64: 1, 1>, groups = 2 : i64} : (tensor<1x4x8x8xf32>, tensor<6x2x3x3xf32>) -> tensor<1x6x6x6xf32>
  func.return %0 : tensor<1x6x6x6xf32>
}

// A depthwise convolution has no channels to reduce.
// CHECK-LABEL: func.func @depthwise
// CHECK-NEXT:   %[[V0:.*]] = te.compute "conv2d" (%i0 in 1, %i1 in 4, %i2 in 6, %i3 in 6) reduce (%r0 in 3, %r1 in 3) init (0.000000e+00 : f32) {
// CHECK-NEXT:     %[[V1:.*]] = te.read %x[%i0, %i1, %i2 + %r0, %i3 + %r1] : tensor<1x4x8x8xf32>
// CHECK-NEXT:     %[[V2:.*]] = te.read %w[%i1, 0, %r0, %r1] : tensor<4x1x3x3xf32>
// CHECK-NEXT:     %[[V3:.*]] = arith.mulf %[[V1]], %[[V2]] : f32
// CHECK-NEXT:     te.yield %[[V3]] : f32
// CHECK-NEXT:   } combine (%[[V4:.*]]: f32, %[[V5:.*]]: f32) {
// CHECK-NEXT:     %[[V6:.*]] = arith.addf %[[V4]], %[[V5]] : f32
// CHECK-NEXT:     te.yield %[[V6]] : f32
// CHECK-NEXT:   } : tensor<1x4x6x6xf32>
// CHECK-NEXT:   func.return %[[V0]] : tensor<1x4x6x6xf32>
func.func @depthwise(%x: tensor<1x4x8x8xf32>, %w: tensor<4x1x3x3xf32>) -> tensor<1x4x6x6xf32> {
  %0 = relay.conv2d %x, %w {strides = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, dilation = array<i64: 1, 1>, groups = 4 : i64} : (tensor<1x4x8x8xf32>, tensor<4x1x3x3xf32>) -> tensor<1x4x6x6xf32>
  func.return %0 : tensor<1x4x6x6xf32>
}

// Features of a dense layer may be in blocks.
// CHECK-LABEL: func.func @dense
// CHECK-NEXT:   %[[V0:.*]] = te.compute "dense" (%i0 in 4, %i1 in 32) reduce (%r0 in 8) init (0.000000e+00 : f32) {
// CHECK-NEXT:     %[[V1:.*]] = te.read %x[%i0, %r0] : tensor<4x8xf32>
// CHECK-NEXT:     %[[V2:.*]] = te.read %w[%i1 floordiv 16, %r0, %i1 mod 16] : tensor<2x8x16xf32>
// CHECK-NEXT:     %[[V3:.*]] = arith.mulf %[[V1]], %[[V2]] : f32
// CHECK-NEXT:     te.yield %[[V3]] : f32
// CHECK-NEXT:   } combine (%[[V4:.*]]: f32, %[[V5:.*]]: f32) {
// CHECK-NEXT:     %[[V6:.*]] = arith.addf %[[V4]], %[[V5]] : f32
// CHECK-NEXT:     te.yield %[[V6]] : f32
// CHECK-NEXT:   } : tensor<4x32xf32>
// CHECK-NEXT:   func.return %[[V0]] : tensor<4x32xf32>
func.func @dense(%x: tensor<4x8xf32>, %w: tensor<2x8x16xf32>) -> tensor<4x32xf32> {
  %0 = relay.dense %x, %w {weight_layout = "OI16o"} : (tensor<4x8xf32>, tensor<2x8x16xf32>) -> tensor<4x32xf32>
  func.return %0 : tensor<4x32xf32>
}

// Stacks of matrices broadcast.
// CHECK-LABEL: func.func @matmul
// CHECK-NEXT:   %[[V0:.*]] = te.compute "matmul" (%i0 in 5, %i1 in 3, %i2 in 4, %i3 in 2) reduce (%r0 in 8) init (0.000000e+00 : f32) {
// CHECK-NEXT:     %[[V1:.*]] = te.read %x[%i0, 0, %i2, %r0] : tensor<5x1x4x8xf32>
// CHECK-NEXT:     %[[V2:.*]] = te.read %y[%i1, %r0, %i3] : tensor<3x8x2xf32>
// CHECK-NEXT:     %[[V3:.*]] = arith.mulf %[[V1]], %[[V2]] : f32
// CHECK-NEXT:     te.yield %[[V3]] : f32
// CHECK-NEXT:   } combine (%[[V4:.*]]: f32, %[[V5:.*]]: f32) {
// CHECK-NEXT:     %[[V6:.*]] = arith.addf %[[V4]], %[[V5]] : f32
// CHECK-NEXT:     te.yield %[[V6]] : f32
// CHECK-NEXT:   } : tensor<5x3x4x2xf32>
// CHECK-NEXT:   func.return %[[V0]] : tensor<5x3x4x2xf32>
func.func @matmul(%x: tensor<5x1x4x8xf32>, %y: tensor<3x8x2xf32>) -> tensor<5x3x4x2xf32> {
  %0 = relay.matmul %x, %y : (tensor<5x1x4x8xf32>, tensor<3x8x2xf32>) -> tensor<5x3x4x2xf32>
  func.return %0 : tensor<5x3x4x2xf32>
}

// Padding never is the largest element.
// CHECK-LABEL: func.func @max_pool
// CHECK-NEXT:   %[[V0:.*]] = te.compute "pad" (%i0 in 1, %i1 in 2, %i2 in 5, %i3 in 5) {
// CHECK-NEXT:     %[[V1:.*]] = arith.constant -128 : i8
// CHECK-NEXT:     %[[V2:.*]] = te.read %x[%i0, %i1, %i2 - 1, %i3 - 1] else %[[V1]] : tensor<1x2x4x4xi8>
// CHECK-NEXT:     te.yield %[[V2]] : i8
// CHECK-NEXT:   } : tensor<1x2x5x5xi8>
// CHECK-NEXT:   %[[V3:.*]] = te.compute "max_pool2d" (%[[I0_1:.*]] in 1, %[[I1_1:.*]] in 2, %[[I2_1:.*]] in 2, %[[I3_1:.*]] in 2) reduce (%r0 in 3, %r1 in 3) init (-128 : i8) {
// CHECK-NEXT:     %[[V8:.*]] = te.read %[[V0]][%[[I0_1]], %[[I1_1]], %[[I2_1]] * 2 + %r0, %[[I3_1]] * 2 + %r1] : tensor<1x2x5x5xi8>
// CHECK-NEXT:     te.yield %[[V8]] : i8
// CHECK-NEXT:   } combine (%[[V9:.*]]: i8, %[[V10:.*]]: i8) {
// CHECK-NEXT:     %[[V11:.*]] = arith.maxsi %[[V9]], %[[V10]] : i8
// CHECK-NEXT:     te.yield %[[V11]] : i8
// CHECK-NEXT:   } : tensor<1x2x2x2xi8>
// CHECK-NEXT:   func.return %[[V3]] : tensor<1x2x2x2xi8>
func.func @max_pool(%x: tensor<1x2x4x4xi8>) -> tensor<1x2x2x2xi8> {
  %0 = relay.max_pool2d %x {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, padding = array<i64: 1, 1, 0, 0>, dilation = array<i64: 1, 1>, ceil_mode = false} : tensor<1x2x4x4xi8> -> tensor<1x2x2x2xi8>
  func.return %0 : tensor<1x2x2x2xi8>
}

// Where all windows have as many elements, the divisor is a constant.
// CHECK-LABEL: func.func @avg_pool
// CHECK-NEXT:   %[[V0:.*]] = te.compute "avg_pool2d_sum" (%i0 in 1, %i1 in 2, %i2 in 2, %i3 in 2) reduce (%r0 in 2, %r1 in 2) init (0.000000e+00 : f32) {
// CHECK-NEXT:     %[[V1:.*]] = te.read %x[%i0, %i1, %i2 * 2 + %r0, %i3 * 2 + %r1] : tensor<1x2x4x4xf32>
// CHECK-NEXT:     te.yield %[[V1]] : f32
// CHECK-NEXT:   } combine (%[[V2:.*]]: f32, %[[V3:.*]]: f32) {
// CHECK-NEXT:     %[[V4:.*]] = arith.addf %[[V2]], %[[V3]] : f32
// CHECK-NEXT:     te.yield %[[V4]] : f32
// CHECK-NEXT:   } : tensor<1x2x2x2xf32>
// CHECK-NEXT:   %[[V5:.*]] = te.compute "avg_pool2d" (%[[I0_1:.*]] in 1, %[[I1_1:.*]] in 2, %[[I2_1:.*]] in 2, %[[I3_1:.*]] in 2) {
// CHECK-NEXT:     %[[V10:.*]] = te.read %[[V0]][%[[I0_1]], %[[I1_1]], %[[I2_1]], %[[I3_1]]] : tensor<1x2x2x2xf32>
// CHECK-NEXT:     %[[V11:.*]] = arith.constant 4.000000e+00 : f32
// CHECK-NEXT:     %[[V12:.*]] = arith.divf %[[V10]], %[[V11]] : f32
// CHECK-NEXT:     te.yield %[[V12]] : f32
// CHECK-NEXT:   } : tensor<1x2x2x2xf32>
// CHECK-NEXT:   func.return %[[V5]] : tensor<1x2x2x2xf32>
func.func @avg_pool(%x: tensor<1x2x4x4xf32>) -> tensor<1x2x2x2xf32> {
  %0 = relay.avg_pool2d %x {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, padding = array<i64: 0, 0, 0, 0>, dilation = array<i64: 1, 1>, ceil_mode = false, count_include_pad = false} : tensor<1x2x4x4xf32> -> tensor<1x2x2x2xf32>
  func.return %0 : tensor<1x2x2x2xf32>
}

// Else the elements inside the image are counted.
// CHECK-LABEL: func.func @avg_pool_border
// CHECK-NEXT:   %[[V0:.*]] = te.compute "pad" (%i0 in 1, %i1 in 2, %i2 in 6, %i3 in 6) {
// CHECK-NEXT:     %[[V1:.*]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:     %[[V2:.*]] = te.read %x[%i0, %i1, %i2 - 1, %i3 - 1] else %[[V1]] : tensor<1x2x4x4xf32>
// CHECK-NEXT:     te.yield %[[V2]] : f32
// CHECK-NEXT:   } : tensor<1x2x6x6xf32>
// CHECK-NEXT:   %[[V3:.*]] = te.compute "avg_pool2d_sum" (%[[I0_1:.*]] in 1, %[[I1_1:.*]] in 2, %[[I2_1:.*]] in 4, %[[I3_1:.*]] in 4) reduce (%r0 in 3, %r1 in 3) init (0.000000e+00 : f32) {
// CHECK-NEXT:     %[[V8:.*]] = te.read %[[V0]][%[[I0_1]], %[[I1_1]], %[[I2_1]] + %r0, %[[I3_1]] + %r1] : tensor<1x2x6x6xf32>
// CHECK-NEXT:     te.yield %[[V8]] : f32
// CHECK-NEXT:   } combine (%[[V9:.*]]: f32, %[[V10:.*]]: f32) {
// CHECK-NEXT:     %[[V11:.*]] = arith.addf %[[V9]], %[[V10]] : f32
// CHECK-NEXT:     te.yield %[[V11]] : f32
// CHECK-NEXT:   } : tensor<1x2x4x4xf32>
// CHECK-NEXT:   %[[V12:.*]] = te.compute "avg_pool2d" (%[[I0_2:.*]] in 1, %[[I1_2:.*]] in 2, %[[I2_2:.*]] in 4, %[[I3_2:.*]] in 4) {
// CHECK-NEXT:     %[[V17:.*]] = te.read %[[V3]][%[[I0_2]], %[[I1_2]], %[[I2_2]], %[[I3_2]]] : tensor<1x2x4x4xf32>
// CHECK-NEXT:     %[[V18:.*]] = arith.constant 1 : index
// CHECK-NEXT:     %[[V19:.*]] = arith.subi %[[V18]], %[[I2_2]] : index
// CHECK-NEXT:     %[[V20:.*]] = arith.constant 0 : index
// CHECK-NEXT:     %[[V21:.*]] = arith.maxsi %[[V19]], %[[V20]] : index
// CHECK-NEXT:     %[[V22:.*]] = arith.constant 5 : index
// CHECK-NEXT:     %[[V23:.*]] = arith.subi %[[V22]], %[[I2_2]] : index
// CHECK-NEXT:     %[[V24:.*]] = arith.constant 3 : index
// CHECK-NEXT:     %[[V25:.*]] = arith.minsi %[[V23]], %[[V24]] : index
// CHECK-NEXT:     %[[V26:.*]] = arith.subi %[[V25]], %[[V21]] : index
// CHECK-NEXT:     %[[V27:.*]] = arith.maxsi %[[V26]], %[[V20]] : index
// CHECK-NEXT:     %[[V28:.*]] = arith.subi %[[V18]], %[[I3_2]] : index
// CHECK-NEXT:     %[[V29:.*]] = arith.maxsi %[[V28]], %[[V20]] : index
// CHECK-NEXT:     %[[V30:.*]] = arith.subi %[[V22]], %[[I3_2]] : index
// CHECK-NEXT:     %[[V31:.*]] = arith.minsi %[[V30]], %[[V24]] : index
// CHECK-NEXT:     %[[V32:.*]] = arith.subi %[[V31]], %[[V29]] : index
// CHECK-NEXT:     %[[V33:.*]] = arith.maxsi %[[V32]], %[[V20]] : index
// CHECK-NEXT:     %[[V34:.*]] = arith.muli %[[V27]], %[[V33]] : index
// CHECK-NEXT:     %[[V35:.*]] = arith.index_cast %[[V34]] : index to i64
// CHECK-NEXT:     %[[V36:.*]] = arith.sitofp %[[V35]] : i64 to f32
// CHECK-NEXT:     %[[V37:.*]] = arith.divf %[[V17]], %[[V36]] : f32
// CHECK-NEXT:     te.yield %[[V37]] : f32
// CHECK-NEXT:   } : tensor<1x2x4x4xf32>
// CHECK-NEXT:   func.return %[[V12]] : tensor<1x2x4x4xf32>
func.func @avg_pool_border(%x: tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32> {
  %0 = relay.avg_pool2d %x {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>, dilation = array<i64: 1, 1>, ceil_mode = false, count_include_pad = false} : tensor<1x2x4x4xf32> -> tensor<1x2x4x4xf32>
  func.return %0 : tensor<1x2x4x4xf32>
}

// A mean is a sum and a division.
// CHECK-LABEL: func.func @mean
// CHECK-NEXT:   %[[V0:.*]] = te.compute "mean_sum" (%i0 in 2, %i1 in 1, %i2 in 4) reduce (%r0 in 3) init (0.000000e+00 : f32) {
// CHECK-NEXT:     %[[V1:.*]] = te.read %x[%i0, %r0, %i2] : tensor<2x3x4xf32>
// CHECK-NEXT:     te.yield %[[V1]] : f32
// CHECK-NEXT:   } combine (%[[V2:.*]]: f32, %[[V3:.*]]: f32) {
// CHECK-NEXT:     %[[V4:.*]] = arith.addf %[[V2]], %[[V3]] : f32
// CHECK-NEXT:     te.yield %[[V4]] : f32
// CHECK-NEXT:   } : tensor<2x1x4xf32>
// CHECK-NEXT:   %[[V5:.*]] = te.compute "mean" (%[[I0_1:.*]] in 2, %[[I1_1:.*]] in 1, %[[I2_1:.*]] in 4) {
// CHECK-NEXT:     %[[V9:.*]] = te.read %[[V0]][%[[I0_1]], %[[I1_1]], %[[I2_1]]] : tensor<2x1x4xf32>
// CHECK-NEXT:     %[[V10:.*]] = arith.constant 3.000000e+00 : f32
// CHECK-NEXT:     %[[V11:.*]] = arith.divf %[[V9]], %[[V10]] : f32
// CHECK-NEXT:     te.yield %[[V11]] : f32
// CHECK-NEXT:   } : tensor<2x1x4xf32>
// CHECK-NEXT:   func.return %[[V5]] : tensor<2x1x4xf32>
func.func @mean(%x: tensor<2x3x4xf32>) -> tensor<2x1x4xf32> {
  %0 = relay.mean %x {axes = array<i64: 1>, keepdims = true} : tensor<2x3x4xf32> -> tensor<2x1x4xf32>
  func.return %0 : tensor<2x1x4xf32>
}

// A softmax takes five steps. The sign of a zero that is the maximum makes no difference.
// CHECK-LABEL: func.func @softmax
// CHECK-NEXT:   %[[V0:.*]] = te.compute "softmax_max" (%i0 in 2) reduce (%r0 in 5) init (0xff800000 : f32) {
// CHECK-NEXT:     %[[V1:.*]] = te.read %x[%i0, %r0] : tensor<2x5xf32>
// CHECK-NEXT:     te.yield %[[V1]] : f32
// CHECK-NEXT:   } combine (%[[V2:.*]]: f32, %[[V3:.*]]: f32) {
// CHECK-NEXT:     %[[V4:.*]] = arith.maximumf %[[V2]], %[[V3]] fastmath<nsz> : f32
// CHECK-NEXT:     te.yield %[[V4]] : f32
// CHECK-NEXT:   } : tensor<2xf32>
// CHECK-NEXT:   %[[V5:.*]] = te.compute "softmax_exp" (%[[I0_1:.*]] in 2, %i1 in 5) {
// CHECK-NEXT:     %[[V7:.*]] = te.read %x[%[[I0_1]], %i1] : tensor<2x5xf32>
// CHECK-NEXT:     %[[V8:.*]] = te.read %[[V0]][%[[I0_1]]] : tensor<2xf32>
// CHECK-NEXT:     %[[V9:.*]] = arith.subf %[[V7]], %[[V8]] : f32
// CHECK-NEXT:     %[[V10:.*]] = math.exp %[[V9]] : f32
// CHECK-NEXT:     te.yield %[[V10]] : f32
// CHECK-NEXT:   } : tensor<2x5xf32>
// CHECK-NEXT:   %[[V11:.*]] = te.compute "softmax_sum" (%[[I0_2:.*]] in 2) reduce (%[[R0_1:.*]] in 5) init (0.000000e+00 : f32) {
// CHECK-NEXT:     %[[V14:.*]] = te.read %[[V5]][%[[I0_2]], %[[R0_1]]] : tensor<2x5xf32>
// CHECK-NEXT:     te.yield %[[V14]] : f32
// CHECK-NEXT:   } combine (%[[V15:.*]]: f32, %[[V16:.*]]: f32) {
// CHECK-NEXT:     %[[V17:.*]] = arith.addf %[[V15]], %[[V16]] : f32
// CHECK-NEXT:     te.yield %[[V17]] : f32
// CHECK-NEXT:   } : tensor<2xf32>
// CHECK-NEXT:   %[[SCALE:.*]] = te.compute "softmax_scale" (%[[I:.*]] in 2) {
// CHECK-NEXT:     %[[TOTAL:.*]] = te.read %[[V11]][%[[I]]] : tensor<2xf32>
// CHECK-NEXT:     %[[ONE:.*]] = arith.constant 1.000000e+00 : f32
// CHECK-NEXT:     %[[INVERSE:.*]] = arith.divf %[[ONE]], %[[TOTAL]] : f32
// CHECK-NEXT:     te.yield %[[INVERSE]] : f32
// CHECK-NEXT:   } : tensor<2xf32>
// CHECK-NEXT:   %[[V18:.*]] = te.compute "softmax" (%[[I0_3:.*]] in 2, %[[I1_1:.*]] in 5) {
// CHECK-NEXT:     %[[V21:.*]] = te.read %[[V5]][%[[I0_3]], %[[I1_1]]] : tensor<2x5xf32>
// CHECK-NEXT:     %[[V22:.*]] = te.read %[[SCALE]][%[[I0_3]]] : tensor<2xf32>
// CHECK-NEXT:     %[[V23:.*]] = arith.mulf %[[V21]], %[[V22]] : f32
// CHECK-NEXT:     te.yield %[[V23]] : f32
// CHECK-NEXT:   } : tensor<2x5xf32>
// CHECK-NEXT:   func.return %[[V18]] : tensor<2x5xf32>
func.func @softmax(%x: tensor<2x5xf32>) -> tensor<2x5xf32> {
  %0 = relay.softmax %x {axis = 1 : i64} : tensor<2x5xf32>
  func.return %0 : tensor<2x5xf32>
}

// A reduction of pairs finds where the largest element is.
// CHECK-LABEL: func.func @argmax
// CHECK-NEXT:   %[[V0:.*]], %[[V1:.*]] = te.compute "argmax" (%i0 in 2) reduce (%r0 in 5) init (-2147483648 : i32, 9223372036854775807 : i64) {
// CHECK-NEXT:     %[[V2:.*]] = te.read %x[%i0, %r0] : tensor<2x5xi32>
// CHECK-NEXT:     %[[V3:.*]] = arith.index_cast %r0 : index to i64
// CHECK-NEXT:     te.yield %[[V2]], %[[V3]] : i32, i64
// CHECK-NEXT:   } combine (%[[V4:.*]]: i32, %[[V5:.*]]: i64, %[[V6:.*]]: i32, %[[V7:.*]]: i64) {
// CHECK-NEXT:     %[[V8:.*]] = arith.cmpi sgt, %[[V6]], %[[V4]] : i32
// CHECK-NEXT:     %[[V9:.*]] = arith.cmpi eq, %[[V6]], %[[V4]] : i32
// CHECK-NEXT:     %[[V10:.*]] = arith.cmpi slt, %[[V7]], %[[V5]] : i64
// CHECK-NEXT:     %[[V11:.*]] = arith.andi %[[V9]], %[[V10]] : i1
// CHECK-NEXT:     %[[V12:.*]] = arith.ori %[[V8]], %[[V11]] : i1
// CHECK-NEXT:     %[[V13:.*]] = arith.select %[[V12]], %[[V6]], %[[V4]] : i32
// CHECK-NEXT:     %[[V14:.*]] = arith.select %[[V12]], %[[V7]], %[[V5]] : i64
// CHECK-NEXT:     te.yield %[[V13]], %[[V14]] : i32, i64
// CHECK-NEXT:   } : tensor<2xi32>, tensor<2xi64>
// CHECK-NEXT:   func.return %[[V1]] : tensor<2xi64>
func.func @argmax(%x: tensor<2x5xi32>) -> tensor<2xi64> {
  %0 = relay.argmax %x {axis = 1 : i64, keepdims = false, select_last_index = false} : tensor<2x5xi32> -> tensor<2xi64>
  func.return %0 : tensor<2xi64>
}

// Ops that move elements are index expressions, and only of axes that change.
// CHECK-LABEL: func.func @views
// CHECK-NEXT:   %[[V0:.*]] = te.compute "reshape" (%i0 in 5, %i1 in 8, %i2 in 3) {
// CHECK-NEXT:     %[[V1:.*]] = te.read %x[%i0, (%i1 * 3 + %i2) floordiv 6, (%i1 * 3 + %i2) mod 6] : tensor<5x4x6xf32>
// CHECK-NEXT:     te.yield %[[V1]] : f32
// CHECK-NEXT:   } : tensor<5x8x3xf32>
// CHECK-NEXT:   %[[V2:.*]] = te.compute "transpose" (%[[I0_1:.*]] in 6, %[[I1_1:.*]] in 5, %[[I2_1:.*]] in 4) {
// CHECK-NEXT:     %[[V6:.*]] = te.read %x[%[[I1_1]], %[[I2_1]], %[[I0_1]]] : tensor<5x4x6xf32>
// CHECK-NEXT:     te.yield %[[V6]] : f32
// CHECK-NEXT:   } : tensor<6x5x4xf32>
// CHECK-NEXT:   %[[V7:.*]] = te.compute "strided_slice" (%[[I0_2:.*]] in 2, %[[I1_2:.*]] in 4, %[[I2_2:.*]] in 3) {
// CHECK-NEXT:     %[[V11:.*]] = te.read %x[%[[I0_2]] * 2 + 1, %[[I1_2]], 5 - %[[I2_2]] * 2] : tensor<5x4x6xf32>
// CHECK-NEXT:     te.yield %[[V11]] : f32
// CHECK-NEXT:   } : tensor<2x4x3xf32>
// CHECK-NEXT:   func.return %[[V0]], %[[V2]], %[[V7]] : tensor<5x8x3xf32>, tensor<6x5x4xf32>, tensor<2x4x3xf32>
func.func @views(%x: tensor<5x4x6xf32>) -> (tensor<5x8x3xf32>, tensor<6x5x4xf32>, tensor<2x4x3xf32>) {
  %0 = relay.reshape %x {shape = array<i64: 5, 8, 3>} : tensor<5x4x6xf32> -> tensor<5x8x3xf32>
  %1 = relay.transpose %x {axes = array<i64: 2, 0, 1>} : tensor<5x4x6xf32> -> tensor<6x5x4xf32>
  %2 = relay.strided_slice %x {begin = array<i64: 1, 0, 5>, sizes = array<i64: 2, 4, 3>, strides = array<i64: 2, 1, -2>} : tensor<5x4x6xf32> -> tensor<2x4x3xf32>
  func.return %0, %1, %2 : tensor<5x8x3xf32>, tensor<6x5x4xf32>, tensor<2x4x3xf32>
}

// A layout splits axes into blocks.
// CHECK-LABEL: func.func @layout
// CHECK-NEXT:   %[[V0:.*]] = te.compute "layout_transform" (%i0 in 2, %i1 in 8, %i2 in 16) {
// CHECK-NEXT:     %[[V1:.*]] = te.read %x[%i0 * 16 + %i2, %i1] : tensor<32x8xf32>
// CHECK-NEXT:     te.yield %[[V1]] : f32
// CHECK-NEXT:   } : tensor<2x8x16xf32>
// CHECK-NEXT:   func.return %[[V0]] : tensor<2x8x16xf32>
func.func @layout(%x: tensor<32x8xf32>) -> tensor<2x8x16xf32> {
  %0 = relay.layout_transform %x {source = "OI", target = "OI16o"} : tensor<32x8xf32> -> tensor<2x8x16xf32>
  func.return %0 : tensor<2x8x16xf32>
}

// What the first input does not hold, the second does.
// CHECK-LABEL: func.func @concatenate
// CHECK-NEXT:   %[[V0:.*]] = te.compute "concatenate" (%i0 in 5) {
// CHECK-NEXT:     %[[V1:.*]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:     %[[V2:.*]] = te.read %y[%i0 - 2] else %[[V1]] : tensor<3xf32>
// CHECK-NEXT:     %[[V3:.*]] = te.read %x[%i0] else %[[V2]] : tensor<2xf32>
// CHECK-NEXT:     te.yield %[[V3]] : f32
// CHECK-NEXT:   } : tensor<5xf32>
// CHECK-NEXT:   func.return %[[V0]] : tensor<5xf32>
func.func @concatenate(%x: tensor<2xf32>, %y: tensor<3xf32>) -> tensor<5xf32> {
  %0 = relay.concatenate %x, %y {axis = 0 : i64} : (tensor<2xf32>, tensor<3xf32>) -> tensor<5xf32>
  func.return %0 : tensor<5xf32>
}

// Each part is a compute; labels are unique.
// CHECK-LABEL: func.func @split
// CHECK-NEXT:   %[[V0:.*]] = te.compute "split" (%i0 in 2) {
// CHECK-NEXT:     %[[V1:.*]] = te.read %x[%i0] : tensor<5xf32>
// CHECK-NEXT:     te.yield %[[V1]] : f32
// CHECK-NEXT:   } : tensor<2xf32>
// CHECK-NEXT:   %[[V2:.*]] = te.compute "split_1" (%[[I0_1:.*]] in 3) {
// CHECK-NEXT:     %[[V4:.*]] = te.read %x[%[[I0_1]] + 2] : tensor<5xf32>
// CHECK-NEXT:     te.yield %[[V4]] : f32
// CHECK-NEXT:   } : tensor<3xf32>
// CHECK-NEXT:   func.return %[[V0]], %[[V2]] : tensor<2xf32>, tensor<3xf32>
func.func @split(%x: tensor<5xf32>) -> (tensor<2xf32>, tensor<3xf32>) {
  %0, %1 = relay.split %x {sizes = array<i64: 2, 3>, axis = 0 : i64} : (tensor<5xf32>) -> (tensor<2xf32>, tensor<3xf32>)
  func.return %0, %1 : tensor<2xf32>, tensor<3xf32>
}

// A gathered index counts from the end if it is negative.
// CHECK-LABEL: func.func @gather
// CHECK-NEXT:   %[[V0:.*]] = te.compute "gather" (%i0 in 3, %i1 in 4) {
// CHECK-NEXT:     %[[V1:.*]] = te.read %i[%i0] : tensor<3xi64>
// CHECK-NEXT:     %[[V2:.*]] = arith.index_cast %[[V1]] : i64 to index
// CHECK-NEXT:     %[[V3:.*]] = arith.constant 0 : index
// CHECK-NEXT:     %[[V4:.*]] = arith.cmpi slt, %[[V2]], %[[V3]] : index
// CHECK-NEXT:     %[[V5:.*]] = arith.constant 9 : index
// CHECK-NEXT:     %[[V6:.*]] = arith.addi %[[V2]], %[[V5]] : index
// CHECK-NEXT:     %[[V7:.*]] = arith.select %[[V4]], %[[V6]], %[[V2]] : index
// CHECK-NEXT:     %[[V8:.*]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:     %[[V9:.*]] = te.read %x[%[[V7]], %i1] else %[[V8]] : tensor<9x4xf32>
// CHECK-NEXT:     te.yield %[[V9]] : f32
// CHECK-NEXT:   } : tensor<3x4xf32>
// CHECK-NEXT:   func.return %[[V0]] : tensor<3x4xf32>
func.func @gather(%x: tensor<9x4xf32>, %i: tensor<3xi64>) -> tensor<3x4xf32> {
  %0 = relay.gather %x, %i {axis = 0 : i64} : (tensor<9x4xf32>, tensor<3xi64>) -> tensor<3x4xf32>
  func.return %0 : tensor<3x4xf32>
}

// A mirrored index is computed; one that wraps around is affine.
// CHECK-LABEL: func.func @pad
// CHECK-NEXT:   %[[V0:.*]] = te.compute "pad" (%i0 in 8) {
// CHECK-NEXT:     %[[V1:.*]] = arith.constant -2 : index
// CHECK-NEXT:     %[[V2:.*]] = arith.addi %i0, %[[V1]] : index
// CHECK-NEXT:     %[[V3:.*]] = arith.constant 0 : index
// CHECK-NEXT:     %[[V4:.*]] = arith.subi %[[V3]], %[[V2]] : index
// CHECK-NEXT:     %[[V5:.*]] = arith.maxsi %[[V2]], %[[V4]] : index
// CHECK-NEXT:     %[[V6:.*]] = arith.constant 8 : index
// CHECK-NEXT:     %[[V7:.*]] = arith.subi %[[V6]], %[[V5]] : index
// CHECK-NEXT:     %[[V8:.*]] = arith.minsi %[[V5]], %[[V7]] : index
// CHECK-NEXT:     %[[V9:.*]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:     %[[V10:.*]] = te.read %x[%[[V8]]] else %[[V9]] : tensor<5xf32>
// CHECK-NEXT:     te.yield %[[V10]] : f32
// CHECK-NEXT:   } : tensor<8xf32>
// CHECK-NEXT:   %[[V11:.*]] = te.compute "pad_1" (%[[I0_1:.*]] in 8) {
// CHECK-NEXT:     %[[V13:.*]] = te.read %x[(%[[I0_1]] + 3) mod 5] : tensor<5xf32>
// CHECK-NEXT:     te.yield %[[V13]] : f32
// CHECK-NEXT:   } : tensor<8xf32>
// CHECK-NEXT:   func.return %[[V0]], %[[V11]] : tensor<8xf32>, tensor<8xf32>
func.func @pad(%x: tensor<5xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = relay.pad %x {before = array<i64: 2>, after = array<i64: 1>, mode = "reflect", value = 0.0 : f64} : tensor<5xf32> -> tensor<8xf32>
  %1 = relay.pad %x {before = array<i64: 2>, after = array<i64: 1>, mode = "wrap", value = 0.0 : f64} : tensor<5xf32> -> tensor<8xf32>
  func.return %0, %1 : tensor<8xf32>, tensor<8xf32>
}

// A constant of several values stays; a repeated one that is returned is computed.
// CHECK-LABEL: func.func @constants
// CHECK-NEXT:   %several = relay.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
// CHECK-NEXT:   %splat = te.compute "constant" (%i0 in 4) {
// CHECK-NEXT:     %[[V0:.*]] = arith.constant true
// CHECK-NEXT:     te.yield %[[V0]] : i1
// CHECK-NEXT:   } : tensor<4xi1>
// CHECK-NEXT:   %[[V1:.*]] = te.compute "add" (%[[I0_1:.*]] in 2) {
// CHECK-NEXT:     %[[V3:.*]] = te.read %x[%[[I0_1]]] : tensor<2xf32>
// CHECK-NEXT:     %[[V4:.*]] = te.read %several[%[[I0_1]]] : tensor<2xf32>
// CHECK-NEXT:     %[[V5:.*]] = arith.addf %[[V3]], %[[V4]] : f32
// CHECK-NEXT:     te.yield %[[V5]] : f32
// CHECK-NEXT:   } : tensor<2xf32>
// CHECK-NEXT:   func.return %[[V1]], %splat : tensor<2xf32>, tensor<4xi1>
func.func @constants(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<4xi1>) {
  %several = relay.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %splat = relay.constant dense<true> : tensor<4xi1>
  %0 = relay.add %x, %several : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  func.return %0, %splat : tensor<2xf32>, tensor<4xi1>
}
