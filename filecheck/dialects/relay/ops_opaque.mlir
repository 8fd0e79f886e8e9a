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

// Carry several operators as one op, with what is between them: here a sequence.
func.func @sequence(%x : tensor<3xf32>, %w : tensor<2xf32>) {
  // CHECK:      %y = relay.onnx_graph %x, %w {graph = "CAk6YQoeCgF4CgF3EgFzIhFTZXF1ZW5jZUNvbnN0cnVjdDoACikKAXMSAXkiEkNvbmNhdEZyb21TZXF1ZW5jZSoLCgRheGlzGACgAQI6ABIFZ3JhcGhaAwoBeFoDCgF3YgMKAXlCBAoAEBQ="} : (tensor<3xf32>, tensor<2xf32>) -> tensor<5xf32>
  %y = relay.onnx_graph %x, %w {graph = "CAk6YQoeCgF4CgF3EgFzIhFTZXF1ZW5jZUNvbnN0cnVjdDoACikKAXMSAXkiEkNvbmNhdEZyb21TZXF1ZW5jZSoLCgRheGlzGACgAQI6ABIFZ3JhcGhaAwoBeFoDCgF3YgMKAXlCBAoAEBQ="} : (tensor<3xf32>, tensor<2xf32>) -> tensor<5xf32>
  func.return
}
