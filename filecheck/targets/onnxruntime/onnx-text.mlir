// RUN: partita-opt %s -t onnx-text | filecheck %s

// Nodes are called after the nodes that they come from; padding may be asymmetric; weights are elsewhere.
// CHECK-LABEL: conv (float[1,2,5,6] image) => (float[1,4,6,8] "relu_1, sum_2")
// CHECK:       <float[4,2,3,3] weight = ["location": "weights"]>
// CHECK:       ["conv_1/Conv"] conv_1 = Conv <dilations: ints = [1, 1], group: int = 1, kernel_shape: ints = [3, 3], pads: ints = [0, 3, 3, 1], strides: ints = [1, 1]> (image, weight)
// CHECK:       ["relu_1, sum_2/Relu"] "relu_1, sum_2" = Relu (conv_1)
func.func @conv(%image: tensor<1x2x5x6xf32>) -> tensor<1x4x6x8xf32> {
  %w = relay.constant #partita.weight<"00112233445566778899aabbccddeeff"> : tensor<4x2x3x3xf32>
  %0 = relay.conv2d %image, %w {strides = array<i64: 1, 1>, padding = array<i64: 0, 3, 3, 1>, dilation = array<i64: 1, 1>, groups = 1 : i64, partita.origin = "conv_1"} : (tensor<1x2x5x6xf32>, tensor<4x2x3x3xf32>) -> tensor<1x4x6x8xf32>
  %1 = relay.relu %0 {partita.origin = "relu_1, sum_2"} : tensor<1x4x6x8xf32>
  func.return %1 : tensor<1x4x6x8xf32>
}

// A type for which onnxruntime has no kernel is computed in one that holds it.
// CHECK-LABEL: sum (int8[2,3] x) => (int8[2] "total.2")
// CHECK:       Cast <to: int = 6> (x)
// CHECK:       ReduceSum <keepdims: int = 0>
// CHECK:       Cast <to: int = 3>
func.func @sum(%x: tensor<2x3xi8>) -> tensor<2xi8> {
  %0 = relay.sum %x {axes = array<i64: 1>, keepdims = false, partita.origin = "total"} : tensor<2x3xi8> -> tensor<2xi8>
  func.return %0 : tensor<2xi8>
}

// What ONNX has no operator for is put together.
// CHECK-LABEL: trunc (float[3] x) => (float[3]
// CHECK:       Less (x
// CHECK:       Ceil (x)
// CHECK:       Floor (x)
// CHECK:       Where (
func.func @trunc(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = relay.trunc %x : tensor<3xf32>
  func.return %0 : tensor<3xf32>
}

// What relay does not model is put in as it was, with its domain.
// CHECK-LABEL: carried (float[3] x)
// CHECK:       com.microsoft.Gelu (x)
func.func @carried(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = relay.onnx_node %x {op_type = "Gelu", domain = "com.microsoft", version = 1 : i64, inputs = array<i64: 0>, outputs = array<i64: 0>} : (tensor<3xf32>) -> tensor<3xf32>
  func.return %0 : tensor<3xf32>
}

// Operators that are carried along together are nodes again; what two ops both begin with is there once.
// CHECK-LABEL: sequences (float[3] x, float[2] w)
// CHECK:       s = SequenceConstruct (x, w)
// CHECK-NOT:   = SequenceConstruct
func.func @sequences(%x : tensor<3xf32>, %w : tensor<2xf32>) -> (tensor<5xf32>, tensor<5xf32>) {
  %0 = relay.onnx_graph %x, %w {graph = "CAk6YQoeCgF4CgF3EgFzIhFTZXF1ZW5jZUNvbnN0cnVjdDoACikKAXMSAXkiEkNvbmNhdEZyb21TZXF1ZW5jZSoLCgRheGlzGACgAQI6ABIFZ3JhcGhaAwoBeFoDCgF3YgMKAXlCBAoAEBQ="} : (tensor<3xf32>, tensor<2xf32>) -> tensor<5xf32>
  %1 = relay.onnx_graph %x, %w {graph = "CAk6YQoeCgF4CgF3EgFzIhFTZXF1ZW5jZUNvbnN0cnVjdDoACikKAXMSAXkiEkNvbmNhdEZyb21TZXF1ZW5jZSoLCgRheGlzGACgAQI6ABIFZ3JhcGhaAwoBeFoDCgF3YgMKAXlCBAoAEBQ="} : (tensor<3xf32>, tensor<2xf32>) -> tensor<5xf32>
  func.return %0, %1 : tensor<5xf32>, tensor<5xf32>
}
