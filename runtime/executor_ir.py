"""The native executor as LLVM IR: it walks a table of steps, alone or with worker threads.

**Work is claimed, not assigned.** A parallel step's iterations are cut into one share a thread. A thread takes
pieces of its own share (half of what is left, at least an eighth of the share), then of the others'. A step is complete
when the count of finished iterations reaches its grid. So nobody waits for a thread that has no work in hand: a
worker that sleeps or is descheduled only takes less. Serial steps belong to thread 0, the caller.

**Waiting** spins on one word for at most `SPINS` pauses, then sleeps in slices; who had to sleep spins less next time.
Between runs workers spin as long, then park on a condition variable.

**The gate** is one word, `run << 16 | open << 15 | workers inside`. A worker enters an open gate it has not been
through, by compare-and-swap; the caller closes it without waiting, and opens the next run when the last worker has
left. A negative gate sends the workers home.

**Places** of workers are the subject of `placing_ir`.

Memory the caller provides (offsets in bytes, every group on cache lines of its own):

    state     0 gate   64 parked workers   128 steps, 136 number of steps, 144 threads, 152 counters, 160 bytes of them,
              168 workers, 176 how many of them were started   256 mutex   384 condition   512 processors to run on
    step      0 function, 8 arguments, 16 grid, 24 1 if parallel, 32 counters or null if nobody waits for it; 40 in all
    counters  of a step: 0 finished iterations, 64 * (1 + t) claimed iterations of share t
    worker    0 state, 8 thread number, 16 thread handle, 24 processor of its last run
"""

from time import CLOCK_MONOTONIC

from partita.runtime.placing_ir import placing_ir

STATE_BYTES = 640
WORKER_BYTES = 64
STEP_WORDS = 5
LINE = 64

SPINS = 3000
SLEEP = 30
"""Microseconds that one slice of sleep lasts."""

PAUSES = {
    "x86_64": ("llvm.x86.sse2.pause()", "llvm.x86.sse2.pause()"),
    "aarch64": ("llvm.aarch64.isb(i32)", "llvm.aarch64.isb(i32 15)"),
}
"""The intrinsic that eases a spinning processor, by architecture: its declaration and a call."""

STACK = 1 << 21
"""Bytes of stack of a worker; kernels use at most an eighth of them."""


def executor_ir(architecture: str, system: str = "linux") -> str:
    """Return the module's text for an architecture and operating system, as `Machine` calls them."""
    declared, called = PAUSES.get(architecture, ("llvm.donothing()",) * 2)
    text = TEXT.replace("$PAUSE", f"call void @{called}")
    numbers = {
        "$SPINS": SPINS,
        "$SLEEP": SLEEP,
        "$STACK": STACK,
        "$CLOCK": CLOCK_MONOTONIC,
    }
    for name, value in numbers.items():
        text = text.replace(name, str(value))
    return f"declare void @{declared}\n{text}{placing_ir(system)}"


TEXT = """
declare i32 @usleep(i32)
declare i32 @clock_gettime(i32, ptr)
declare i32 @pthread_mutex_init(ptr, ptr)
declare i32 @pthread_mutex_lock(ptr)
declare i32 @pthread_mutex_unlock(ptr)
declare i32 @pthread_cond_init(ptr, ptr)
declare i32 @pthread_cond_wait(ptr, ptr)
declare i32 @pthread_cond_broadcast(ptr)
declare i32 @pthread_attr_init(ptr)
declare i32 @pthread_attr_setstacksize(ptr, i64)
declare i32 @pthread_attr_destroy(ptr)
declare i32 @pthread_create(ptr, ptr, ptr, ptr)
declare i32 @pthread_join(ptr, ptr)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)

; A copy step: a kernel whose iterations are bytes.
define void @partita_copy(ptr %arguments, i64 %begin, i64 %end) {
  %second = getelementptr i8, ptr %arguments, i64 8
  %source = load ptr, ptr %arguments
  %destination = load ptr, ptr %second
  %from = getelementptr i8, ptr %source, i64 %begin
  %to = getelementptr i8, ptr %destination, i64 %begin
  %size = sub i64 %end, %begin
  call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr %from, i64 %size, i1 false)
  ret void
}

; A step that notes the time, as seconds and nanoseconds.
define void @partita_clock(ptr %arguments, i64 %begin, i64 %end) {
  %stamp = load ptr, ptr %arguments
  call i32 @clock_gettime(i32 $CLOCK, ptr %stamp)
  ret void
}

; Every step, one after another, on this thread.
define void @partita_run_alone(ptr %steps, i64 %number) {
entry:
  br label %head
head:
  %i = phi i64 [ 0, %entry ], [ %next, %body ]
  %more = icmp slt i64 %i, %number
  br i1 %more, label %body, label %done
body:
  %step = getelementptr [5 x i64], ptr %steps, i64 %i
  call void @whole(ptr %step)
  %next = add i64 %i, 1
  br label %head
done:
  ret void
}

define internal void @whole(ptr %step) alwaysinline {
  %arguments_at = getelementptr i8, ptr %step, i64 8
  %grid_at = getelementptr i8, ptr %step, i64 16
  %function = load ptr, ptr %step
  %arguments = load ptr, ptr %arguments_at
  %grid = load i64, ptr %grid_at
  call void %function(ptr %arguments, i64 0, i64 %grid)
  ret void
}

; Wait until a counter reaches a value; `spins` is how long this thread spins before it sleeps.
define internal void @await(ptr %counter, i64 %value, ptr %spins) {
entry:
  %limit = load i64, ptr %spins
  br label %spin
spin:
  %left = phi i64 [ %limit, %entry ], [ %fewer, %wait ]
  %seen = load atomic i64, ptr %counter acquire, align 8
  %reached = icmp eq i64 %seen, %value
  br i1 %reached, label %quick, label %again
again:
  %spent = icmp eq i64 %left, 0
  br i1 %spent, label %tired, label %wait
wait:
  $PAUSE
  %fewer = sub i64 %left, 1
  br label %spin
quick:
  %double = shl i64 %limit, 1
  %over = icmp ugt i64 %double, $SPINS
  %longer = select i1 %over, i64 $SPINS, i64 %double
  store i64 %longer, ptr %spins
  ret void
tired:
  %half = lshr i64 %limit, 1
  %under = icmp ult i64 %half, 128
  %shorter = select i1 %under, i64 128, i64 %half
  store i64 %shorter, ptr %spins
  br label %sleep
sleep:
  call i32 @usleep(i32 $SLEEP)
  %now = load atomic i64, ptr %counter acquire, align 8
  %at_last = icmp eq i64 %now, %value
  br i1 %at_last, label %done, label %sleep
done:
  ret void
}

; Claim and compute pieces of a parallel step until nothing is left to claim.
define internal void @share(ptr %step, ptr %counters, i64 %thread, i64 %threads) {
entry:
  %arguments_at = getelementptr i8, ptr %step, i64 8
  %grid_at = getelementptr i8, ptr %step, i64 16
  %function = load ptr, ptr %step
  %arguments = load ptr, ptr %arguments_at
  %grid = load i64, ptr %grid_at
  %quotient = udiv i64 %grid, %threads
  %remainder = urem i64 %grid, %threads
  br label %owner
owner:
  %visited = phi i64 [ 0, %entry ], [ %visited_next, %empty ]
  %all = icmp eq i64 %visited, %threads
  br i1 %all, label %done, label %open
open:
  %unwrapped = add i64 %thread, %visited
  %wraps = icmp uge i64 %unwrapped, %threads
  %wrapped = sub i64 %unwrapped, %threads
  %who = select i1 %wraps, i64 %wrapped, i64 %unwrapped
  ; Share `who` is [first, first + size): the first `remainder` shares have one iteration more.
  %full = mul i64 %who, %quotient
  %late = icmp ult i64 %who, %remainder
  %extra = select i1 %late, i64 %who, i64 %remainder
  %first = add i64 %full, %extra
  %one = zext i1 %late to i64
  %size = add i64 %quotient, %one
  %eighth = lshr i64 %size, 3
  %tiny = icmp eq i64 %eighth, 0
  %least = select i1 %tiny, i64 1, i64 %eighth
  %line = shl i64 %who, 6
  %line_next = add i64 %line, 64
  %cursor = getelementptr i8, ptr %counters, i64 %line_next
  br label %look
look:
  %claimed = load atomic i64, ptr %cursor monotonic, align 8
  br label %claim
claim:
  %from = phi i64 [ %claimed, %look ], [ %actual, %retry ], [ %to, %finished ]
  %gone = icmp uge i64 %from, %size
  br i1 %gone, label %empty, label %try
try:
  %left = sub i64 %size, %from
  %half = lshr i64 %left, 1
  %small = icmp ult i64 %half, %least
  %wanted = select i1 %small, i64 %least, i64 %half
  %beyond = icmp ugt i64 %wanted, %left
  %taken = select i1 %beyond, i64 %left, i64 %wanted
  %to = add i64 %from, %taken
  %swap = cmpxchg ptr %cursor, i64 %from, i64 %to acq_rel acquire, align 8
  %won = extractvalue { i64, i1 } %swap, 1
  %actual = extractvalue { i64, i1 } %swap, 0
  br i1 %won, label %compute, label %retry
retry:
  br label %claim
compute:
  %begin = add i64 %first, %from
  %end = add i64 %first, %to
  call void %function(ptr %arguments, i64 %begin, i64 %end)
  br label %finished
finished:
  %before = atomicrmw add ptr %counters, i64 %taken acq_rel, align 8
  br label %claim
empty:
  %visited_next = add i64 %visited, 1
  br label %owner
done:
  ret void
}

; Walk the table as one of the threads of a run.
define internal void @walk(ptr %state, i64 %thread, ptr %spins) {
entry:
  %steps_at = getelementptr i8, ptr %state, i64 128
  %number_at = getelementptr i8, ptr %state, i64 136
  %threads_at = getelementptr i8, ptr %state, i64 144
  %steps = load ptr, ptr %steps_at
  %number = load i64, ptr %number_at
  %threads = load i64, ptr %threads_at
  %caller = icmp eq i64 %thread, 0
  br label %head
head:
  %i = phi i64 [ 0, %entry ], [ %next, %latch ]
  %more = icmp slt i64 %i, %number
  br i1 %more, label %body, label %done
body:
  %step = getelementptr [5 x i64], ptr %steps, i64 %i
  %grid_at = getelementptr i8, ptr %step, i64 16
  %parallel_at = getelementptr i8, ptr %step, i64 24
  %counters_at = getelementptr i8, ptr %step, i64 32
  %grid = load i64, ptr %grid_at
  %parallel = load i64, ptr %parallel_at
  %counters = load ptr, ptr %counters_at
  %awaited = icmp ne ptr %counters, null
  %serial = icmp eq i64 %parallel, 0
  br i1 %serial, label %alone, label %together
together:
  call void @share(ptr %step, ptr %counters, i64 %thread, i64 %threads)
  call void @await(ptr %counters, i64 %grid, ptr %spins)
  br label %latch
alone:
  br i1 %caller, label %compute, label %look
compute:
  call void @whole(ptr %step)
  br i1 %awaited, label %tell, label %latch
tell:
  store atomic i64 %grid, ptr %counters release, align 8
  br label %latch
look:
  br i1 %awaited, label %wait, label %latch
wait:
  call void @await(ptr %counters, i64 %grid, ptr %spins)
  br label %latch
latch:
  %next = add i64 %i, 1
  br label %head
done:
  ret void
}

; Wait until no worker is inside; the result is the gate.
define internal i64 @vacated(ptr %state) {
entry:
  br label %spin
spin:
  %left = phi i64 [ $SPINS, %entry ], [ %fewer, %pause ], [ 0, %sleep ]
  %gate = load atomic i64, ptr %state acquire, align 8
  %inside = and i64 %gate, 32767
  %empty = icmp eq i64 %inside, 0
  br i1 %empty, label %done, label %wait
wait:
  %spent = icmp eq i64 %left, 0
  br i1 %spent, label %sleep, label %pause
pause:
  $PAUSE
  %fewer = sub i64 %left, 1
  br label %spin
sleep:
  call i32 @usleep(i32 $SLEEP)
  br label %spin
done:
  ret i64 %gate
}

; Run the table with whatever workers come along; the caller is thread 0.
define void @partita_run(ptr %state) {
  %spins = alloca i64
  store i64 $SPINS, ptr %spins
  %seen = call i64 @vacated(ptr %state)
  %counters_at = getelementptr i8, ptr %state, i64 152
  %bytes_at = getelementptr i8, ptr %state, i64 160
  %counters = load ptr, ptr %counters_at
  %bytes = load i64, ptr %bytes_at
  call void @llvm.memset.p0.i64(ptr %counters, i8 0, i64 %bytes, i1 false)
  %run = lshr i64 %seen, 16
  %run_next = add i64 %run, 1
  %high = shl i64 %run_next, 16
  %open = or i64 %high, 32768
  store atomic i64 %open, ptr %state seq_cst, align 8
  %parked_at = getelementptr i8, ptr %state, i64 64
  %parked = load atomic i64, ptr %parked_at seq_cst, align 8
  %nobody = icmp eq i64 %parked, 0
  br i1 %nobody, label %look, label %wake
wake:
  call void @keep_off(ptr %state)
  call void @broadcast(ptr %state)
  br label %work
look:
  %crowded = call i1 @shares_place(ptr %state)
  br i1 %crowded, label %part, label %work
part:
  call void @keep_off(ptr %state)
  br label %work
work:
  call void @walk(ptr %state, i64 0, ptr %spins)
  %closed = atomicrmw and ptr %state, i64 -32769 release, align 8
  ret void
}

define internal void @broadcast(ptr %state) {
  %mutex = getelementptr i8, ptr %state, i64 256
  %condition = getelementptr i8, ptr %state, i64 384
  call i32 @pthread_mutex_lock(ptr %mutex)
  call i32 @pthread_cond_broadcast(ptr %condition)
  call i32 @pthread_mutex_unlock(ptr %mutex)
  ret void
}

; Whether a gate is shut for a worker that has last been through `run`.
define internal i1 @shut(i64 %gate, i64 %run) alwaysinline {
  %bit = and i64 %gate, 32768
  %closed = icmp eq i64 %bit, 0
  %this = lshr i64 %gate, 16
  %old = icmp eq i64 %this, %run
  %either = or i1 %closed, %old
  %running = icmp sge i64 %gate, 0
  %result = and i1 %running, %either
  ret i1 %result
}

; The life of a worker thread.
define internal ptr @worker(ptr %self) {
entry:
  %spins = alloca i64
  store i64 $SPINS, ptr %spins
  %thread_at = getelementptr i8, ptr %self, i64 8
  %state = load ptr, ptr %self
  %thread = load i64, ptr %thread_at
  %parked_at = getelementptr i8, ptr %state, i64 64
  %mutex = getelementptr i8, ptr %state, i64 256
  %condition = getelementptr i8, ptr %state, i64 384
  br label %idle
idle:
  %last = phi i64 [ 0, %entry ], [ %run, %leave ]
  br label %spin
spin:
  %left = phi i64 [ $SPINS, %idle ], [ %fewer, %pause ], [ $SPINS, %woken ], [ %left, %enter ]
  %gate = load atomic i64, ptr %state acquire, align 8
  %shut = call i1 @shut(i64 %gate, i64 %last)
  br i1 %shut, label %rest, label %ready
rest:
  %spent = icmp eq i64 %left, 0
  br i1 %spent, label %park, label %pause
pause:
  $PAUSE
  %fewer = sub i64 %left, 1
  br label %spin
park:
  call i32 @pthread_mutex_lock(ptr %mutex)
  %more = atomicrmw add ptr %parked_at, i64 1 seq_cst, align 8
  br label %check
check:
  %gate_now = load atomic i64, ptr %state seq_cst, align 8
  %still = call i1 @shut(i64 %gate_now, i64 %last)
  br i1 %still, label %sleep, label %woken
sleep:
  call i32 @pthread_cond_wait(ptr %condition, ptr %mutex)
  call void @run_anywhere(ptr %state)
  br label %check
woken:
  %less = atomicrmw sub ptr %parked_at, i64 1 seq_cst, align 8
  call i32 @pthread_mutex_unlock(ptr %mutex)
  br label %spin
ready:
  %stop = icmp slt i64 %gate, 0
  br i1 %stop, label %done, label %enter
enter:
  %run = lshr i64 %gate, 16
  %inside = add i64 %gate, 1
  %swap = cmpxchg ptr %state, i64 %gate, i64 %inside acq_rel acquire, align 8
  %won = extractvalue { i64, i1 } %swap, 1
  br i1 %won, label %leave, label %spin
leave:
  call void @note_place(ptr %self)
  call void @walk(ptr %state, i64 %thread, ptr %spins)
  %out = atomicrmw sub ptr %state, i64 1 release, align 8
  br label %idle
done:
  ret ptr null
}

define void @partita_prepare(ptr %state) {
  %mutex = getelementptr i8, ptr %state, i64 256
  %condition = getelementptr i8, ptr %state, i64 384
  call i32 @pthread_mutex_init(ptr %mutex, ptr null)
  call i32 @pthread_cond_init(ptr %condition, ptr null)
  ret void
}

; Start a worker; its state and number are filled in. The result is 0 or an error number.
define i32 @partita_start(ptr %self) {
  %attributes = alloca [128 x i8], align 16
  %handle = getelementptr i8, ptr %self, i64 16
  call i32 @pthread_attr_init(ptr %attributes)
  call i32 @pthread_attr_setstacksize(ptr %attributes, i64 $STACK)
  %result = call i32 @pthread_create(ptr %handle, ptr %attributes, ptr @worker, ptr %self)
  call i32 @pthread_attr_destroy(ptr %attributes)
  ret i32 %result
}

; Send all workers home; nobody may be running the table.
define void @partita_stop(ptr %state) {
  %seen = call i64 @vacated(ptr %state)
  store atomic i64 -9223372036854775808, ptr %state seq_cst, align 8
  call void @broadcast(ptr %state)
  ret void
}

define void @partita_join(ptr %self) {
  %handle = getelementptr i8, ptr %self, i64 16
  %thread = load ptr, ptr %handle
  call i32 @pthread_join(ptr %thread, ptr null)
  ret void
}
"""
