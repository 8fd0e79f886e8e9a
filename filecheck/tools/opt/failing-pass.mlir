// A message says which pass it comes from, and shows the op that it is about.

// RUN: not %test-opt %s -p test-see-host,test-fail 2>&1 | filecheck %s --check-prefix DIAGNOSTIC
// DIAGNOSTIC:      partita-opt: error: in test-fail: expected better luck, got none
// DIAGNOSTIC-NEXT:   "func.return"()
// DIAGNOSTIC-NEXT:   ^^^^^^^^^^^^^

// RUN: not %test-opt %s -p 'test-fail{how=error}' 2>&1 | filecheck %s --check-prefix ERROR
// ERROR: partita-opt: error: in test-fail: expected better luck, got none

// A pass that breaks down is our fault, and still no traceback.

// RUN: not %test-opt %s -p 'test-fail{how=crash}' 2>&1 | filecheck %s --check-prefix CRASH
// CRASH: partita-opt: error: in test-fail: internal error: KeyError: 'crash'; please report it, with what PARTITA_TRACEBACK=1 adds to this message
// CRASH-NOT: {{.}}

// RUN: env PARTITA_TRACEBACK=1 not %test-opt %s -p 'test-fail{how=crash}' 2>&1 | filecheck %s --check-prefix TRACE
// TRACE: Traceback
// TRACE: KeyError
// TRACE: partita-opt: error: in test-fail

func.func @f() {
  func.return
}
