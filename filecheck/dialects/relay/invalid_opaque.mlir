// RUN: partita-opt %s --split-input-file --verify-diagnostics | filecheck %s

func.func @order(%x : tensor<4xf32>, %k : tensor<1xi64>) {
  // CHECK: expected inputs in ascending order from 0, got 1, 0
  %y = relay.onnx_node %x, %k {op_type = "TopK", domain = "", version = 20 : i64, inputs = array<i64: 1, 0>, outputs = array<i64: 0>} : (tensor<4xf32>, tensor<1xi64>) -> tensor<2xf32>
  func.return
}

// -----

func.func @count(%x : tensor<4xf32>, %k : tensor<1xi64>) {
  // CHECK: expected outputs of 1 places, one for each of the results, got 2
  %y = relay.onnx_node %x, %k {op_type = "TopK", domain = "", version = 20 : i64, inputs = array<i64: 0, 1>, outputs = array<i64: 0, 1>} : (tensor<4xf32>, tensor<1xi64>) -> tensor<2xf32>
  func.return
}

// -----

func.func @attributes(%x : tensor<4xf32>, %k : tensor<1xi64>) {
  // CHECK: expected node_attributes of a NodeProto in base64
  %y = relay.onnx_node %x, %k {op_type = "TopK", domain = "", version = 20 : i64, inputs = array<i64: 0, 1>, outputs = array<i64: 0>, node_attributes = "axis = 1"} : (tensor<4xf32>, tensor<1xi64>) -> tensor<2xf32>
  func.return
}

// -----

func.func @elements(%x : tensor<4xf32>) {
  // CHECK: expected results of numeric or i1 elements, got index
  %y = relay.onnx_node %x {op_type = "Size", domain = "", version = 20 : i64, inputs = array<i64: 0>, outputs = array<i64: 0>} : (tensor<4xf32>) -> tensor<index>
  func.return
}

// -----

func.func @graph(%x : tensor<4xf32>) {
  // CHECK: expected graph of a ModelProto in base64
  %y = relay.onnx_graph %x {graph = "If"} : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// -----

func.func @operands(%x : tensor<3xf32>) {
  // CHECK: expected a graph of 1 inputs, one for each of the operands, got 2
  %y = relay.onnx_graph %x {graph = "CAk6YQoeCgF4CgF3EgFzIhFTZXF1ZW5jZUNvbnN0cnVjdDoACikKAXMSAXkiEkNvbmNhdEZyb21TZXF1ZW5jZSoLCgRheGlzGACgAQI6ABIFZ3JhcGhaAwoBeFoDCgF3YgMKAXlCBAoAEBQ="} : (tensor<3xf32>) -> tensor<5xf32>
  func.return
}
