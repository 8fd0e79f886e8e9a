// RUN: partita-opt %s -p reduce-strength,dce --split-input-file | filecheck %s

// Powers whose exponent is 2, 3 or -1, of any type.
func.func @powers(%x : tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  // CHECK:      func.func @powers
  // CHECK-NEXT:   %[[A:.*]] = relay.multiply %x, %x {partita.origin = "pow_1"}
  // CHECK-NEXT:   %[[B:.*]] = relay.multiply %x, %x
  // CHECK-NEXT:   %[[C:.*]] = relay.multiply %[[B]], %x
  // CHECK-NEXT:   %[[D:.*]] = relay.reciprocal %x
  // CHECK-NEXT:   func.return %[[A]], %[[C]], %[[D]]
  %two = relay.constant dense<2.0> : tensor<4xf32>
  %three = relay.constant dense<3> : tensor<i64>
  %minus = relay.constant dense<-1.0> : tensor<f32>
  %0 = relay.power %x, %two {partita.origin = "pow_1"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = relay.power %x, %three : (tensor<4xf32>, tensor<i64>) -> tensor<4xf32>
  %2 = relay.power %x, %minus : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  func.return %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// One divisor for all elements is one factor for all.
func.func @divide(%x : tensor<4xf64>) -> tensor<4xf64> {
  // CHECK:      func.func @divide
  // CHECK-NEXT:   %[[C:.*]] = relay.constant dense<2.500000e-01> : tensor<4xf64>
  // CHECK-NEXT:   relay.multiply %x, %[[C]]
  %c = relay.constant dense<4.0> : tensor<4xf64>
  %0 = relay.divide %x, %c : (tensor<4xf64>, tensor<4xf64>) -> tensor<4xf64>
  func.return %0 : tensor<4xf64>
}

// -----

// What is subtracted need not be loaded.
func.func @subtract(%x : tensor<20xf32>) -> tensor<20xf32> {
  // CHECK:      func.func @subtract
  // CHECK:        %[[C:.*]] = relay.negative
  // CHECK-NEXT:   relay.add %x, %[[C]]
  %c = relay.constant #partita.weight<"00112233445566778899aabbccddeeff"> : tensor<20xf32>
  %0 = relay.subtract %x, %c : (tensor<20xf32>, tensor<20xf32>) -> tensor<20xf32>
  func.return %0 : tensor<20xf32>
}

// -----

// Other exponents, exponents that broadcast, divisors without a proper reciprocal or not loaded, constants divided or
// subtracted from, and integers stay.
func.func @stays(%x : tensor<20xf32>, %i : tensor<20xi32>) -> (tensor<20xf32>, tensor<2x20xf32>, tensor<20xf32>, tensor<20xf32>, tensor<20xf32>, tensor<20xf32>, tensor<20xf32>, tensor<20xi32>, tensor<20xi32>, tensor<20xi32>) {
  // CHECK:      func.func @stays
  // CHECK:        relay.power
  // CHECK-NEXT:   relay.power
  // CHECK-NEXT:   relay.divide
  // CHECK-NEXT:   relay.divide
  // CHECK-NEXT:   relay.divide
  // CHECK-NEXT:   relay.divide
  // CHECK-NEXT:   relay.subtract
  // CHECK-NEXT:   relay.power
  // CHECK-NEXT:   relay.divide
  // CHECK-NEXT:   relay.subtract
  // CHECK-NEXT:   func.return
  %half = relay.constant dense<0.5> : tensor<f32>
  %twos = relay.constant dense<2.0> : tensor<2x1xf32>
  %zero = relay.constant dense<0.0> : tensor<f32>
  %huge = relay.constant dense<3.0e38> : tensor<f32>
  %w = relay.constant #partita.weight<"00112233445566778899aabbccddeeff"> : tensor<20xf32>
  %two = relay.constant dense<2> : tensor<i32>
  %0 = relay.power %x, %half : (tensor<20xf32>, tensor<f32>) -> tensor<20xf32>
  %1 = relay.power %x, %twos : (tensor<20xf32>, tensor<2x1xf32>) -> tensor<2x20xf32>
  %2 = relay.divide %x, %zero : (tensor<20xf32>, tensor<f32>) -> tensor<20xf32>
  %3 = relay.divide %x, %huge : (tensor<20xf32>, tensor<f32>) -> tensor<20xf32>
  %4 = relay.divide %x, %w : (tensor<20xf32>, tensor<20xf32>) -> tensor<20xf32>
  %5 = relay.divide %w, %x : (tensor<20xf32>, tensor<20xf32>) -> tensor<20xf32>
  %6 = relay.subtract %w, %x : (tensor<20xf32>, tensor<20xf32>) -> tensor<20xf32>
  %7 = relay.power %i, %two : (tensor<20xi32>, tensor<i32>) -> tensor<20xi32>
  %8 = relay.divide %i, %two : (tensor<20xi32>, tensor<i32>) -> tensor<20xi32>
  %9 = relay.subtract %i, %two : (tensor<20xi32>, tensor<i32>) -> tensor<20xi32>
  func.return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9 : tensor<20xf32>, tensor<2x20xf32>, tensor<20xf32>, tensor<20xf32>, tensor<20xf32>, tensor<20xf32>, tensor<20xf32>, tensor<20xi32>, tensor<20xi32>, tensor<20xi32>
}
