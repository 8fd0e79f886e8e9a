// RUN: partita-opt %s -p fuse-ops --split-input-file | filecheck %s
// RUN: partita-opt %s -p 'fuse-ops{max-depth=2}' --split-input-file | filecheck %s --check-prefix DEPTH
// RUN: partita-opt %s -p 'fuse-ops{max-arguments=4}' --split-input-file | filecheck %s --check-prefix ARGUMENTS

// A convolution takes along the elementwise ops that follow; two that compute the same share a kernel.
// The call says which nodes of the model it stands for.

// CHECK-LABEL:     func.func @conv2d(
// CHECK-NEXT:        %[[A:.*]] = func.call @[[K:conv2d_add_relu_[0-9a-f]{8}]](%x, %w, %b) {partita.origin = "c1, a1, r1"}
// CHECK-NEXT:        %[[B:.*]] = func.call @[[K]](%[[A]], %w, %b) {partita.origin = "c2, a2"}
// CHECK-NEXT:        func.return %[[B]]
// CHECK:           func.func private @[[K]](%0: tensor<1x4x6x6xf32>, %1: tensor<4x4x3x3xf32>, %2: tensor<4x1x1xf32>) -> tensor<1x4x6x6xf32> attributes {partita.kernel} {
// CHECK-NEXT:        %3 = relay.conv2d %0, %1
// CHECK-NEXT:        %4 = relay.add %3, %2
// CHECK-NEXT:        %5 = relay.relu %4
// CHECK-NEXT:        func.return %5
// CHECK-NOT:       func.func
// DEPTH-LABEL:     func.func @conv2d(
// DEPTH-NEXT:        func.call @conv2d_add_{{[0-9a-f]+}}(%x, %w, %b)
// DEPTH-NEXT:        func.call @relu_
// ARGUMENTS-LABEL: func.func @conv2d(
// ARGUMENTS-NEXT:    func.call @conv2d_add_relu_{{[0-9a-f]+}}(%x, %w, %b)
func.func @conv2d(%x : tensor<1x4x6x6xf32>, %w : tensor<4x4x3x3xf32>, %b : tensor<4x1x1xf32>) -> tensor<1x4x6x6xf32> {
  %0 = relay.conv2d %x, %w {partita.origin = "c1", strides = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>, dilation = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x4x6x6xf32>, tensor<4x4x3x3xf32>) -> tensor<1x4x6x6xf32>
  %1 = relay.add %0, %b {partita.origin = "a1"} : (tensor<1x4x6x6xf32>, tensor<4x1x1xf32>) -> tensor<1x4x6x6xf32>
  %2 = relay.relu %1 {partita.origin = "r1"} : tensor<1x4x6x6xf32>
  %3 = relay.conv2d %2, %w {partita.origin = "c2", strides = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>, dilation = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x4x6x6xf32>, tensor<4x4x3x3xf32>) -> tensor<1x4x6x6xf32>
  %4 = relay.add %3, %b {partita.origin = "a2"} : (tensor<1x4x6x6xf32>, tensor<4x1x1xf32>) -> tensor<1x4x6x6xf32>
  %5 = relay.relu %4 : tensor<1x4x6x6xf32>
  func.return %5 : tensor<1x4x6x6xf32>
}

// -----

// Where two convolutions meet, the one further from the arguments takes what follows, whichever is listed last.

// CHECK-LABEL: func.func @residual(
// CHECK-NEXT:    %[[C:.*]] = func.call @conv2d_{{[0-9a-f]+}}(%x, %w)
// CHECK-NEXT:    %[[S:.*]] = func.call @conv2d_{{[0-9a-f]+}}(%x, %v)
// CHECK-NEXT:    %[[R:.*]] = func.call @conv2d_add_relu_{{[0-9a-f]+}}(%[[C]], %w, %[[S]])
// CHECK-NEXT:    func.return %[[R]]
func.func @residual(%x : tensor<1x4x6x6xf32>, %w : tensor<4x4x3x3xf32>, %v : tensor<4x4x1x1xf32>) -> tensor<1x4x6x6xf32> {
  %0 = relay.conv2d %x, %w {strides = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>, dilation = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x4x6x6xf32>, tensor<4x4x3x3xf32>) -> tensor<1x4x6x6xf32>
  %1 = relay.conv2d %0, %w {strides = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>, dilation = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x4x6x6xf32>, tensor<4x4x3x3xf32>) -> tensor<1x4x6x6xf32>
  %2 = relay.conv2d %x, %v {strides = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, dilation = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x4x6x6xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x6x6xf32>
  %3 = relay.add %1, %2 : (tensor<1x4x6x6xf32>, tensor<1x4x6x6xf32>) -> tensor<1x4x6x6xf32>
  %4 = relay.relu %3 : tensor<1x4x6x6xf32>
  func.return %4 : tensor<1x4x6x6xf32>
}

// -----

// A value with several uses is fused if all its paths meet in the kernel.

// CHECK-LABEL: func.func @diamond(
// CHECK-NEXT:    func.call @conv2d_sigmoid_multiply_
// CHECK-NEXT:    func.return
func.func @diamond(%x : tensor<1x4x6x6xf32>, %w : tensor<4x4x1x1xf32>) -> tensor<1x4x6x6xf32> {
  %0 = relay.conv2d %x, %w {strides = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, dilation = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x4x6x6xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x6x6xf32>
  %1 = relay.sigmoid %0 : tensor<1x4x6x6xf32>
  %2 = relay.multiply %0, %1 : (tensor<1x4x6x6xf32>, tensor<1x4x6x6xf32>) -> tensor<1x4x6x6xf32>
  func.return %2 : tensor<1x4x6x6xf32>
}

// -----

// A value that is returned ends its kernel.

// CHECK-LABEL: func.func @returned(
// CHECK-NEXT:    %[[A:.*]] = func.call @relu_{{[0-9a-f]+}}(%x)
// CHECK-NEXT:    %[[B:.*]] = func.call @tanh_{{[0-9a-f]+}}(%[[A]])
// CHECK-NEXT:    func.return %[[A]], %[[B]]
func.func @returned(%x : tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = relay.relu %x : tensor<4xf32>
  %1 = relay.tanh %0 : tensor<4xf32>
  func.return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// -----

// Elementwise and injective ops become the prologue of a reduction; nothing is fused onto its result.

// CHECK-LABEL: func.func @reduction(
// CHECK-NEXT:    %[[S:.*]] = func.call @exp_transpose_sum_{{[0-9a-f]+}}(%x)
// CHECK-NEXT:    %[[L:.*]] = func.call @log_{{[0-9a-f]+}}(%[[S]])
func.func @reduction(%x : tensor<3x4xf32>) -> tensor<4xf32> {
  %0 = relay.exp %x : tensor<3x4xf32>
  %1 = relay.transpose %0 {axes = array<i64: 1, 0>} : tensor<3x4xf32> -> tensor<4x3xf32>
  %2 = relay.sum %1 {axes = array<i64: 1>, keepdims = false} : tensor<4x3xf32> -> tensor<4xf32>
  %3 = relay.log %2 : tensor<4xf32>
  func.return %3 : tensor<4xf32>
}

// -----

// A softmax is a kernel of its own.

// CHECK-LABEL: func.func @opaque(
// CHECK-NEXT:    func.call @relu_
// CHECK-NEXT:    func.call @softmax_
// CHECK-NEXT:    func.call @tanh_
func.func @opaque(%x : tensor<3x4xf32>) -> tensor<3x4xf32> {
  %0 = relay.relu %x : tensor<3x4xf32>
  %1 = relay.softmax %0 {axis = 1 : i64} : tensor<3x4xf32>
  %2 = relay.tanh %1 : tensor<3x4xf32>
  func.return %2 : tensor<3x4xf32>
}

// -----

// A convolution's result that is broadcast would be computed again and again: it is stored instead.

// CHECK-LABEL: func.func @broadcast(
// CHECK-NEXT:    func.call @conv2d_sigmoid_{{[0-9a-f]+}}(%s, %w)
// CHECK-NEXT:    func.call @multiply_
func.func @broadcast(%x : tensor<1x4x6x6xf32>, %s : tensor<1x4x1x1xf32>, %w : tensor<4x4x1x1xf32>) -> tensor<1x4x6x6xf32> {
  %0 = relay.conv2d %s, %w {strides = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, dilation = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x4x1x1xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x1x1xf32>
  %1 = relay.sigmoid %0 : tensor<1x4x1x1xf32>
  %2 = relay.multiply %x, %1 : (tensor<1x4x6x6xf32>, tensor<1x4x1x1xf32>) -> tensor<1x4x6x6xf32>
  func.return %2 : tensor<1x4x6x6xf32>
}

// -----

// A concatenation reads through injective and elementwise ops, but leaves convolutions alone.

// CHECK-LABEL:     func.func @concatenate(
// CHECK-NEXT:        %[[C:.*]] = func.call @conv2d_relu_{{[0-9a-f]+}}(%x, %w)
// CHECK-NEXT:        func.call @tanh_transpose_concatenate_{{[0-9a-f]+}}(%x, %[[C]])
// CHECK-NEXT:        func.return
// ARGUMENTS-LABEL: func.func @concatenate(
// ARGUMENTS-NEXT:    func.call @conv2d_relu_
// ARGUMENTS-NEXT:    func.call @tanh_transpose_concatenate_
func.func @concatenate(%x : tensor<1x4x6x6xf32>, %w : tensor<4x4x1x1xf32>) -> tensor<1x8x6x6xf32> {
  %0 = relay.conv2d %x, %w {strides = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, dilation = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x4x6x6xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x6x6xf32>
  %1 = relay.relu %0 : tensor<1x4x6x6xf32>
  %2 = relay.tanh %x : tensor<1x4x6x6xf32>
  %3 = relay.transpose %2 {axes = array<i64: 0, 1, 3, 2>} : tensor<1x4x6x6xf32> -> tensor<1x4x6x6xf32>
  %4 = relay.concatenate %3, %1 {axis = 1 : i64} : (tensor<1x4x6x6xf32>, tensor<1x4x6x6xf32>) -> tensor<1x8x6x6xf32>
  func.return %4 : tensor<1x8x6x6xf32>
}

// -----

// A pad is a kernel of its own.

// CHECK-LABEL: func.func @pad(
// CHECK-NEXT:    func.call @relu_
// CHECK-NEXT:    func.call @pad_
// CHECK-NEXT:    func.call @tanh_
func.func @pad(%x : tensor<4xf32>) -> tensor<6xf32> {
  %0 = relay.relu %x : tensor<4xf32>
  %1 = relay.pad %0 {before = array<i64: 1>, after = array<i64: 1>, mode = "constant", value = 0.000000e+00 : f64} : tensor<4xf32> -> tensor<6xf32>
  %2 = relay.tanh %1 : tensor<6xf32>
  func.return %2 : tensor<6xf32>
}

// -----

// A constant of one value goes into the kernel, another one is an argument.

// CHECK-LABEL: func.func @constants(
// CHECK-NEXT:    %[[C:.*]] = relay.constant dense<[1.000000e+00, 2.000000e+00]>
// CHECK-NEXT:    func.call @[[K:multiply_add_[0-9a-f]{8}]](%x, %[[C]])
// CHECK:       func.func private @[[K]](%0: tensor<2xf32>, %1: tensor<2xf32>)
// CHECK-NEXT:    %2 = relay.constant dense<2.000000e+00> : tensor<f32>
// CHECK-NEXT:    %3 = relay.multiply %0, %2
// CHECK-NEXT:    %4 = relay.add %3, %1
func.func @constants(%x : tensor<2xf32>) -> tensor<2xf32> {
  %c = relay.constant dense<2.0> : tensor<f32>
  %d = relay.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %0 = relay.multiply %x, %c : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %1 = relay.add %0, %d : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  func.return %1 : tensor<2xf32>
}

// -----

// Of an op with several results, a kernel has those that are used.

// CHECK-LABEL: func.func @split(
// CHECK-NEXT:    %[[A:.*]], %[[C:.*]] = func.call @[[K:relu_split_[0-9a-f]{8}]](%x)
// CHECK-NEXT:    func.return %[[A]], %[[C]]
// CHECK:       func.func private @[[K]](%0: tensor<6xf32>) -> (tensor<1xf32>, tensor<3xf32>)
func.func @split(%x : tensor<6xf32>) -> (tensor<1xf32>, tensor<3xf32>) {
  %0 = relay.relu %x : tensor<6xf32>
  %1, %2, %3 = relay.split %0 {sizes = array<i64: 1, 2, 3>, axis = 0 : i64} : (tensor<6xf32>) -> (tensor<1xf32>, tensor<2xf32>, tensor<3xf32>)
  func.return %1, %3 : tensor<1xf32>, tensor<3xf32>
}

// -----

// Kernels stay within the limits.

// CHECK-LABEL:     func.func @limits(
// CHECK-NEXT:        func.call @add_add_add_{{[0-9a-f]+}}(%a, %b, %c, %d)
// CHECK-NEXT:        func.return
// DEPTH-LABEL:     func.func @limits(
// DEPTH-NEXT:        %[[A:.*]] = func.call @add_add_{{[0-9a-f]+}}(%a, %b, %c)
// DEPTH-NEXT:        func.call @add_{{[0-9a-f]+}}(%[[A]], %d)
// DEPTH-NEXT:        func.return
// ARGUMENTS-LABEL: func.func @limits(
// ARGUMENTS-NEXT:    %[[A:.*]] = func.call @add_add_{{[0-9a-f]+}}(%a, %b, %c)
// ARGUMENTS-NEXT:    func.call @add_{{[0-9a-f]+}}(%[[A]], %d)
// ARGUMENTS-NEXT:    func.return
func.func @limits(%a : tensor<4xf32>, %b : tensor<4xf32>, %c : tensor<4xf32>, %d : tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.add %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = relay.add %0, %c : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = relay.add %1, %d : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %2 : tensor<4xf32>
}

// -----

// Kernels and ops of other dialects are left alone.

// CHECK-LABEL: func.func @main(
// CHECK-NEXT:    func.call @made(%x)
// CHECK-NEXT:    func.return
// CHECK:       func.func private @made(
// CHECK-NEXT:    relay.relu
func.func @main(%x : tensor<4xf32>) -> tensor<4xf32> {
  %0 = func.call @made(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}
func.func private @made(%x : tensor<4xf32>) -> tensor<4xf32> attributes {partita.kernel} {
  %0 = relay.relu %x : tensor<4xf32>
  func.return %0 : tensor<4xf32>
}

// -----

// Kernels stand before the host's code for external functions.
// CHECK-LABEL: func.func @entry
// CHECK:       func.func private @exp_[[#%x,]]
// CHECK:       func.func private @c_main_0_host
func.func @entry(%x : tensor<4xf32>) -> tensor<4xf32> attributes {partita.entry} {
  %0 = relay.exp %x : tensor<4xf32>
  func.return %0 : tensor<4xf32>
}
func.func private @c_main_0_host(%x : tensor<4xf32>) -> tensor<4xf32> attributes {byoc.host_code} {
  %0 = relay.exp %x : tensor<4xf32>
  func.return %0 : tensor<4xf32>
}
