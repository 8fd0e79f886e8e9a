// RUN: partita-opt %s | partita-opt | filecheck %s
// RUN: partita-opt %s --print-op-generic | partita-opt | filecheck %s

// Carry an operator that relay does not model.
func.func @topk(%x : tensor<4xf32>, %k : tensor<1xi64>) {
  // CHECK:      %y, %i = relay.onnx_node %x, %k {op_type = "TopK", domain = "", version = 20 : i64, inputs = array<i64: 0, 1>, outputs = array<i64: 0, 1>} : (tensor<4xf32>, tensor<1xi64>) -> (tensor<2xf32>, tensor<2xi64>)
  %y, %i = relay.onnx_node %x, %k {op_type = "TopK", domain = "", version = 20 : i64, inputs = array<i64: 0, 1>, outputs = array<i64: 0, 1>} : (tensor<4xf32>, tensor<1xi64>) -> (tensor<2xf32>, tensor<2xi64>)
  func.return
}

// Inputs and outputs that are left out have no operand and no result; attributes are a NodeProto.
func.func @left_out(%x : tensor<4xf32>, %k : tensor<1xi64>) {
  // CHECK:      %i = relay.onnx_node %x, %k {op_type = "TopK", domain = "", version = 20 : i64, inputs = array<i64: 0, 1>, outputs = array<i64: 1>, node_attributes = "KgsKBGF4aXMYAKABAg=="} : (tensor<4xf32>, tensor<1xi64>) -> tensor<2xi64>
  %i = relay.onnx_node %x, %k {op_type = "TopK", domain = "", version = 20 : i64, inputs = array<i64: 0, 1>, outputs = array<i64: 1>, node_attributes = "KgsKBGF4aXMYAKABAg=="} : (tensor<4xf32>, tensor<1xi64>) -> tensor<2xi64>
  func.return
}
