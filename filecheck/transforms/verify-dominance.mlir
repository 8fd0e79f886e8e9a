// RUN: partita-opt %s --disable-verify -p verify-dominance --split-input-file --verify-diagnostics | filecheck %s

// A use above its definition is refused.

func.func @above() {
  // CHECK: expected operand 0 of test.op to be defined before its use, got result 1 of test.op
  %0 = "test.op"(%1#1) : (i32) -> i32
  %1:2 = "test.op"() : () -> (i32, i32)
  func.return
}

// -----

// So is an op that uses itself.

func.func @self() {
  // CHECK: expected operand 1 of test.op to be defined before its use, got %y, result 0 of test.op
  %x = "test.op"() : () -> i32
  %y = "test.op"(%x, %y) : (i32, i32) -> i32
  func.return
}

// -----

// A block that one of two branches skips does not dominate their join.

func.func @join(%c : i1) {
  cf.cond_br %c, ^left, ^join
^left:
  %x = "test.op"() : () -> i32
  cf.br ^join
^join:
  // CHECK: expected operand 0 of test.op to be defined before its use, got %x, result 0 of test.op
  "test.op"(%x) : (i32) -> ()
  func.return
}

// -----

// Values are seen below, in nested regions, and around a loop.

// CHECK-LABEL: @fine
func.func @fine(%c : i1, %n : i32) {
  %x = "test.op"(%n) : (i32) -> i32
  cf.br ^head(%x : i32)
^head(%i : i32):
  %y = "test.op"(%i, %x) : (i32, i32) -> i32
  "test.op"() ({
    %z = "test.op"(%y, %n) : (i32, i32) -> i32
    "test.termop"(%z) : (i32) -> ()
  }) : () -> ()
  cf.cond_br %c, ^head(%y : i32), ^done
^done:
  "test.op"(%y) : (i32) -> ()
  func.return
// A block that nothing reaches may use what it likes.
^never:
  "test.op"(%i, %y) : (i32, i32) -> ()
  func.return
}
