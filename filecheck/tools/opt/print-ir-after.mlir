// RUN: partita-opt %s -p canonicalize,cse,dce --print-ir-after=cse,dce -o %t 2>&1 | filecheck %s --check-prefix SOME
// RUN: partita-opt %s -p canonicalize,cse,dce --print-ir-after-all -o %t 2>&1 | filecheck %s --check-prefix ALL

// SOME:      // IR after cse
// SOME-NEXT: builtin.module {
// SOME-NEXT:   func.func @f()
// SOME:      // IR after dce
// SOME-NEXT: builtin.module {

// ALL: // IR after canonicalize
// ALL: // IR after cse
// ALL: // IR after dce

func.func @f() {
  func.return
}
