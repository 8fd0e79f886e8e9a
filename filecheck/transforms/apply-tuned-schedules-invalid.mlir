// RUN: partita-opt %s -p apply-tuned-schedules --verify-diagnostics | filecheck %s --check-prefix NO-DB
// RUN: partita-opt %s -p 'apply-tuned-schedules{db="%S/schedules.db"}' --verify-diagnostics | filecheck %s
// RUN: not partita-opt %s -p 'apply-tuned-schedules{db="nowhere.db"}' 2>&1 | filecheck %s --check-prefix NOWHERE
// RUN: not partita-opt %s -p 'apply-tuned-schedules{db="%s"}' 2>&1 | filecheck %s --check-prefix FOREIGN

// NO-DB: expected db, got none; set it to a schedule database
// CHECK: expected te.compute, got relay.relu; run lower-relay-to-te first
// NOWHERE: in apply-tuned-schedules: there is no schedule database nowhere.db
// FOREIGN: apply-tuned-schedules-invalid.mlir is no schedule database
func.func private @computed(%x : tensor<2xf32>) -> tensor<2xf32> attributes {partita.kernel} {
  %y = te.compute "twice" (%i in 2) {
    %v = te.read %x[%i] : tensor<2xf32>
    %r = arith.addf %v, %v : f32
    te.yield %r : f32
  } : tensor<2xf32>
  func.return %y : tensor<2xf32>
}
func.func private @graph(%x : tensor<2xf32>) -> tensor<2xf32> attributes {partita.kernel} {
  %y = relay.relu %x : tensor<2xf32>
  func.return %y : tensor<2xf32>
}
