// RUN: partita-opt %s | partita-opt | filecheck %s
// RUN: partita-opt %s --print-op-generic | partita-opt | filecheck %s

// Give the same elements, in the same (row-major) order, another shape.
func.func @reshape(%x : tensor<2x6xf32>) {
  // CHECK:      %y = relay.reshape %x {shape = array<i64: 3, 4>} : tensor<2x6xf32> -> tensor<3x4xf32>
  %y = relay.reshape %x {shape = array<i64: 3, 4>} : tensor<2x6xf32> -> tensor<3x4xf32>
  func.return
}

// Permute axes: axis `i` of the result is axis `axes[i]` of the data.
func.func @transpose(%x : tensor<1x3x8x9xf32>) {
  // CHECK:      %y = relay.transpose %x {axes = array<i64: 0, 2, 3, 1>} : tensor<1x3x8x9xf32> -> tensor<1x8x9x3xf32>
  %y = relay.transpose %x {axes = array<i64: 0, 2, 3, 1>} : tensor<1x3x8x9xf32> -> tensor<1x8x9x3xf32>
  func.return
}

// Drop axes of extent 1.
func.func @squeeze(%x : tensor<1x10x1x1xf32>) {
  // CHECK:      %y = relay.squeeze %x {axes = array<i64: 2, 3>} : tensor<1x10x1x1xf32> -> tensor<1x10xf32>
  %y = relay.squeeze %x {axes = array<i64: 2, 3>} : tensor<1x10x1x1xf32> -> tensor<1x10xf32>
  func.return
}

// Insert axes of extent 1.
func.func @expand_dims(%x : tensor<3x4xf32>) {
  // CHECK:      %y = relay.expand_dims %x {axes = array<i64: 0, 2>} : tensor<3x4xf32> -> tensor<1x3x1x4xf32>
  %y = relay.expand_dims %x {axes = array<i64: 0, 2>} : tensor<3x4xf32> -> tensor<1x3x1x4xf32>
  func.return
}

// Repeat data along new axes and those of extent 1, as numpy broadcasts to a shape.
func.func @broadcast_to(%x : tensor<2x1xf32>) {
  // CHECK:      %y = relay.broadcast_to %x {shape = array<i64: 4, 2, 3>} : tensor<2x1xf32> -> tensor<4x2x3xf32>
  %y = relay.broadcast_to %x {shape = array<i64: 4, 2, 3>} : tensor<2x1xf32> -> tensor<4x2x3xf32>
  func.return
}

// Repeat the whole of the data along each axis.
func.func @tile(%x : tensor<2x3xf32>) {
  // CHECK:      %y = relay.tile %x {repeats = array<i64: 1, 2>} : tensor<2x3xf32> -> tensor<2x6xf32>
  %y = relay.tile %x {repeats = array<i64: 1, 2>} : tensor<2x3xf32> -> tensor<2x6xf32>
  func.return
}

// Move data from one layout of axes to another, which splits, merges and permutes them.
func.func @layout_transform(%x : tensor<32x3x5x7xf32>) {
  // CHECK:      %y = relay.layout_transform %x {source = "OIHW", target = "OIHW16o"} : tensor<32x3x5x7xf32> -> tensor<2x3x5x7x16xf32>
  %y = relay.layout_transform %x {source = "OIHW", target = "OIHW16o"} : tensor<32x3x5x7xf32> -> tensor<2x3x5x7x16xf32>
  func.return
}

// Where data is dynamic, an extent of -1 is what the number of elements leaves.
func.func @dynamic_reshape(%x : tensor<?x3x4xf32>) {
  // CHECK:      %y = relay.reshape %x {shape = array<i64: -1, 12>} : tensor<?x3x4xf32> -> tensor<?x12xf32>
  %y = relay.reshape %x {shape = array<i64: -1, 12>} : tensor<?x3x4xf32> -> tensor<?x12xf32>
  func.return
}

// A layout with blocks can be merged again, and axes reordered on the way.
func.func @unblock(%x : tensor<1x2x8x8x16xf32>) {
  // CHECK:      %y = relay.layout_transform %x {source = "NCHW16c", target = "NHWC"} : tensor<1x2x8x8x16xf32> -> tensor<1x8x8x32xf32>
  %y = relay.layout_transform %x {source = "NCHW16c", target = "NHWC"} : tensor<1x2x8x8x16xf32> -> tensor<1x8x8x32xf32>
  func.return
}
