// RUN: partita-opt %s --split-input-file --verify-diagnostics | filecheck %s

func.func @element_type() {
  // CHECK: expected result of numeric or i1 elements, got index
  %c = relay.constant dense<1> : tensor<2xindex>
  func.return
}

// -----

func.func @dynamic() {
  // CHECK: expected result of static shape, got tensor<?xf32>
  %c = relay.constant #partita.weight<"00112233445566778899aabbccddeeff"> : tensor<?xf32>
  func.return
}

// -----

func.func @value_type() {
  // CHECK: expected value of type tensor<3xf32>, got tensor<2xf32>
  %c = "relay.constant"() <{value = dense<1.000000e+00> : tensor<2xf32>}> : () -> tensor<3xf32>
  func.return
}
