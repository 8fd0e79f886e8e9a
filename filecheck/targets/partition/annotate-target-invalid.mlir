// RUN: not %test-opt %s -p 'annotate-target{targets=exampel}' 2>&1 | filecheck %s --check-prefix=UNKNOWN
// RUN: not %test-opt %s -p 'annotate-target{targets=example,"example{ops=exp}"}' 2>&1 | filecheck %s --check-prefix=TWICE
// RUN: not %test-opt %s -p 'annotate-target' 2>&1 | filecheck %s --check-prefix=NONE

// UNKNOWN: unknown target exampel; did you mean example?; choose from host, c, onnxruntime, onednn, example, other
// TWICE: expected each target once, got example twice
// NONE: pass annotate-target needs option targets
builtin.module {
}
