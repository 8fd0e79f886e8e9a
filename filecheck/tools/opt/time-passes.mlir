// RUN: partita-opt %s -p canonicalize,cse --time-passes -o %t 2>&1 | filecheck %s

// CHECK:      step {{ *}}seconds {{ *}}share
// CHECK-NEXT: (read) {{ *}}{{[0-9.]+}} {{ *}}{{[0-9.]+}}%
// CHECK-NEXT: (verify)
// CHECK-NEXT: canonicalize {{ *}}{{[0-9.]+}} {{ *}}{{[0-9.]+}}%
// CHECK-NEXT: cse
// CHECK-NEXT: (print)
// CHECK-NEXT: total

func.func @f() {
  func.return
}
