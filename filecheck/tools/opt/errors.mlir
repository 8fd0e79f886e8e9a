// What a user gets wrong ends in one message and exit code 1 (tests/test_opt.py has the others).

// RUN: not partita-opt %s -p fuse-opps -o %t.mlir 2>&1 | filecheck %s --check-prefix NEAR
// RUN: not test -e %t.mlir
// NEAR: partita-opt: error: unknown pass fuse-opps; did you mean fuse-ops?
// NEAR-NOT: {{.}}

// RUN: not partita-opt %s -p 'fuse-ops{max-dept=3}' 2>&1 | filecheck %s --check-prefix OPTION
// OPTION: partita-opt: error: pass fuse-ops has no option max-dept; did you mean max-depth?; its options are max-depth: int = {{[0-9]+}}

func.func @f() {
  func.return
}
