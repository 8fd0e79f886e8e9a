// RUN: partita-opt %s --split-input-file --verify-diagnostics | filecheck %s

func.func @reshape_unknown(%x : tensor<?x6xf32>) {
  // CHECK: expected shape of at most one extent that is -1, got -1, -1
  %y = relay.reshape %x {shape = array<i64: -1, -1>} : tensor<?x6xf32> -> tensor<?x?xf32>
  func.return
}

// -----

func.func @reshape_count(%x : tensor<2x6xf32>) {
  // CHECK: expected shape of 12 elements, got 5, 2
  %y = relay.reshape %x {shape = array<i64: 5, 2>} : tensor<2x6xf32> -> tensor<5x2xf32>
  func.return
}

// -----

func.func @transpose_axes(%x : tensor<2x6xf32>) {
  // CHECK: expected axes that permute 2 axes, got 0, 0
  %y = relay.transpose %x {axes = array<i64: 0, 0>} : tensor<2x6xf32> -> tensor<2x2xf32>
  func.return
}

// -----

func.func @squeeze_extent(%x : tensor<2x6xf32>) {
  // CHECK: expected data of extent 1 along axis 1, got 6
  %y = relay.squeeze %x {axes = array<i64: 1>} : tensor<2x6xf32> -> tensor<2xf32>
  func.return
}

// -----

func.func @broadcast_shape(%x : tensor<2x6xf32>) {
  // CHECK: expected shape that data of shape 2x6 broadcasts to, got 4x6
  %y = relay.broadcast_to %x {shape = array<i64: 4, 6>} : tensor<2x6xf32> -> tensor<4x6xf32>
  func.return
}

// -----

func.func @tile_repeats(%x : tensor<2x6xf32>) {
  // CHECK: expected repeats of 2 values that are not negative, got 2
  %y = relay.tile %x {repeats = array<i64: 2>} : tensor<2x6xf32> -> tensor<4x6xf32>
  func.return
}

// -----

func.func @layout_text(%x : tensor<2x6xf32>) {
  // CHECK: expected a layout of distinct capital axes and numbered blocks of them, got OI8x
  %y = relay.layout_transform %x {source = "OI", target = "OI8x"} : tensor<2x6xf32> -> tensor<2x6xf32>
  func.return
}

// -----

func.func @layout_rank(%x : tensor<2x6xf32>) {
  // CHECK: expected data of layout NCHW to have rank 4, got 2
  %y = relay.layout_transform %x {source = "NCHW", target = "NHWC"} : tensor<2x6xf32> -> tensor<2x6xf32>
  func.return
}

// -----

func.func @layout_blocks(%x : tensor<2x6x8xf32>) {
  // CHECK: expected data with blocks of 16 along axis O, got 8
  %y = relay.layout_transform %x {source = "OI16o", target = "OI"} : tensor<2x6x8xf32> -> tensor<2x6xf32>
  func.return
}

// -----

func.func @layout_axes(%x : tensor<2x6xf32>) {
  // CHECK: expected target of axes IO, got OH
  %y = relay.layout_transform %x {source = "OI", target = "OH"} : tensor<2x6xf32> -> tensor<2x6xf32>
  func.return
}

// -----

func.func @layout_extent(%x : tensor<2x6xf32>) {
  // CHECK: expected extent divisible by block 4 along axis O, got 2
  %y = relay.layout_transform %x {source = "OI", target = "OI4o"} : tensor<2x6xf32> -> tensor<2x6xf32>
  func.return
}
