// RUN: partita-opt %s -p simplify-inference --split-input-file | filecheck %s

// Dropout passes its input on.
func.func @dropout(%x : tensor<4x2xf32>) -> tensor<4x2xf32> {
  // CHECK:      func.func @dropout
  // CHECK-NEXT:   func.return %x
  %0 = relay.dropout %x {rate = 5.000000e-01 : f64} : tensor<4x2xf32>
  func.return %0 : tensor<4x2xf32>
}

// -----

// A batch normalization is a scale and a shift for each channel, and each op carries its origin.
func.func @channels(%x : tensor<1x2x3x3xf32>, %g : tensor<2xf32>, %b : tensor<2xf32>, %m : tensor<2xf32>, %v : tensor<2xf32>) -> tensor<1x2x3x3xf32> {
  // CHECK:      func.func @channels
  // CHECK-NEXT:   %[[EPS:.*]] = relay.constant {partita.origin = "bn_1"} dense<1.000000e-05> : tensor<1xf32>
  // CHECK-NEXT:   %[[VAR:.*]] = relay.add %v, %[[EPS]] {partita.origin = "bn_1"}
  // CHECK-NEXT:   %[[DEV:.*]] = relay.rsqrt %[[VAR]] {partita.origin = "bn_1"} : tensor<2xf32>
  // CHECK-NEXT:   %[[SCALE:.*]] = relay.multiply %g, %[[DEV]] {partita.origin = "bn_1"}
  // CHECK-NEXT:   %[[MEAN:.*]] = relay.multiply %m, %[[SCALE]] {partita.origin = "bn_1"}
  // CHECK-NEXT:   %[[SHIFT:.*]] = relay.subtract %b, %[[MEAN]] {partita.origin = "bn_1"}
  // CHECK-NEXT:   %[[SCALES:.*]] = relay.reshape %[[SCALE]] {partita.origin = "bn_1", shape = array<i64: 2, 1, 1>}
  // CHECK-NEXT:   %[[SHIFTS:.*]] = relay.reshape %[[SHIFT]] {partita.origin = "bn_1", shape = array<i64: 2, 1, 1>}
  // CHECK-NEXT:   %[[SCALED:.*]] = relay.multiply %x, %[[SCALES]] {partita.origin = "bn_1"}
  // CHECK-NEXT:   %[[Y:.*]] = relay.add %[[SCALED]], %[[SHIFTS]] {partita.origin = "bn_1"}
  // CHECK-NEXT:   func.return %[[Y]]
  %0 = relay.batch_norm %x, %g, %b, %m, %v {axis = 1 : i64, epsilon = 1.000000e-05 : f64, partita.origin = "bn_1"} : (tensor<1x2x3x3xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x3x3xf32>
  func.return %0 : tensor<1x2x3x3xf32>
}

// -----

// Along the last axis there is nothing to reshape.
func.func @last(%x : tensor<3x2xf32>, %g : tensor<2xf32>, %b : tensor<2xf32>, %m : tensor<2xf32>, %v : tensor<2xf32>) -> tensor<3x2xf32> {
  // CHECK:      func.func @last
  // CHECK-NOT:    relay.reshape
  // CHECK:        func.return
  %0 = relay.batch_norm %x, %g, %b, %m, %v {axis = 1 : i64, epsilon = 1.000000e-05 : f64} : (tensor<3x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<3x2xf32>
  func.return %0 : tensor<3x2xf32>
}

// -----

// Half precision would lose the scale of small variances.
func.func @half(%x : tensor<3x2xf16>, %g : tensor<2xf16>, %b : tensor<2xf16>, %m : tensor<2xf16>, %v : tensor<2xf16>) -> tensor<3x2xf16> {
  // CHECK:      func.func @half
  // CHECK:        relay.rsqrt %{{.*}} : tensor<2xf32>
  // CHECK:        %[[Y:.*]] = relay.cast %{{.*}} {to = f16} : tensor<3x2xf32> -> tensor<3x2xf16>
  // CHECK-NEXT:   func.return %[[Y]]
  %0 = relay.batch_norm %x, %g, %b, %m, %v {axis = 1 : i64, epsilon = 1.000000e-05 : f64} : (tensor<3x2xf16>, tensor<2xf16>, tensor<2xf16>, tensor<2xf16>, tensor<2xf16>) -> tensor<3x2xf16>
  func.return %0 : tensor<3x2xf16>
}

// -----

// How many channels there are must be known.
func.func @dynamic(%x : tensor<3x?xf32>, %g : tensor<?xf32>, %b : tensor<?xf32>, %m : tensor<?xf32>, %v : tensor<?xf32>) -> tensor<3x?xf32> {
  // CHECK:      func.func @dynamic
  // CHECK-NEXT:   relay.batch_norm
  %0 = relay.batch_norm %x, %g, %b, %m, %v {axis = 1 : i64, epsilon = 1.000000e-05 : f64} : (tensor<3x?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) -> tensor<3x?xf32>
  func.return %0 : tensor<3x?xf32>
}
