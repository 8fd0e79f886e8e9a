// RUN: partita-opt %s -p 'lower-relay-to-te,lower-te-to-tir,schedule-host{vector=512}' | filecheck %s
// RUN: partita-opt %s -p 'lower-relay-to-te,lower-te-to-tir,schedule-host{vector=512},apply-schedules,verify-dominance' -o /dev/null

// Channels of a block are lanes; two blocks of output channels, which meet the same input elements, and two rows of
// seven columns make up a tile of 28 registers. Seven rows are three such tiles and one that is cut.
// Weights that no cache holds are prefetched.
func.func private @square(%x : tensor<1x8x9x9x16xf32>, %w : tensor<8x8x3x3x16x16xf32>) -> tensor<1x8x7x7x16xf32> attributes {partita.kernel} {
  // CHECK:      sched.sequence @square_schedule for @square {
  // CHECK:        %[[I0:.*]], %[[K:.*]], %[[Y:.*]], %[[X:.*]], %[[L:.*]], %[[C:.*]], %[[R:.*]], %[[S:.*]], %[[I:.*]] = sched.loops %{{.*}} -> 9
  // CHECK-NEXT:   %[[KO:.*]], %[[KI:.*]] = sched.split %[[K]] [?, 2]
  // CHECK-NEXT:   %[[YO:.*]], %[[YI:.*]] = sched.split %[[Y]] [?, 2] peel
  // CHECK-NEXT:   sched.reorder %[[I0]], %[[KO]], %[[YO]], %[[C]], %[[R]], %[[S]], %[[I]], %[[YI]], %[[X]], %[[KI]], %[[L]]
  // CHECK:        sched.annotate loop %[[I]], "prefetch", 64 : i64
  %0 = relay.conv2d %x, %w {strides = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, dilation = array<i64: 1, 1>, groups = 1 : i64, data_layout = "NCHW16c", kernel_layout = "OIHW16i16o", result_layout = "NCHW16c"} : (tensor<1x8x9x9x16xf32>, tensor<8x8x3x3x16x16xf32>) -> tensor<1x8x7x7x16xf32>
  func.return %0 : tensor<1x8x7x7x16xf32>
}
