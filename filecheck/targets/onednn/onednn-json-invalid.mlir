// RUN: not partita-opt %s -t onednn-json 2>&1 | filecheck %s

// CHECK: oneDNN has no relay.erf
func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = relay.erf %x : tensor<3xf32>
  func.return %0 : tensor<3xf32>
}
