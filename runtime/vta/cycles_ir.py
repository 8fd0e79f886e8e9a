"""The event loop of the cycle model as LLVM IR: when each instruction of a launch arrives, starts and ends.

The loop takes, of the instructions at the heads of the three queues, the one that is ready first (load before compute
before store at the same time). Nothing that happens later can make another one ready earlier, so the memory channel is
granted in order of readiness too.

Times are integers, in parts of a cycle. Memory the caller provides, all of it 64-bit words:

    rows    per instruction: module; mask of the token queues it pops; mask of those it pushes; time on the memory
            channel, negative if it needs none; other time
    times   per instruction, written: arrival in its module's queue; start, with all tokens; start on the memory
            channel, or the start again; end
    queue   instruction numbers of the load module, then of compute, then of store
    tokens  per token queue, `capacity` words: when each token was pushed; left-over tokens come first, at time 0
    order   instruction numbers in the order of their start, written
    state   as `STATE` lists
"""

import numpy as np

STATE = np.dtype(
    [
        ("next", np.int64, 3),  # of each module: how many instructions it has started
        ("free", np.int64, 3),  # of each module: when it ended the last one
        ("delivered", np.int64, 3),  # to each module's queue: how many instructions
        ("begin", np.int64, 3),  # of each module: where its instructions are in `queue`
        ("popped", np.int64, 4),  # of each token queue: how many tokens came out
        ("pushed", np.int64, 4),  # of each token queue: how many went in
        ("fetched", np.int64),  # how many instructions fetch has delivered
        ("fetch_time", np.int64),  # when it delivered the last one
        ("channel", np.int64),  # when the memory channel is free
        ("count", np.int64),  # instructions of the launch
        ("fetch_interval", np.int64),  # time between two deliveries
        ("depth", np.int64),  # how many instructions a module's queue holds
        ("capacity", np.int64),  # words of each token queue in `tokens`
    ]
)
"""What the loop keeps. Given are `begin`, `pushed` (tokens left over) and, from `count` on, what never changes."""

ROW_WORDS = 5
TIME_WORDS = 4

FUNCTION = "partita_vta_cycles"


def cycles_ir() -> str:
    """Return the module's text.

    `FUNCTION(state, rows, times, queue, tokens, order)` returns how many instructions have started at the end.
    """
    fields = STATE.fields or {}
    places = "\n".join(
        f"  %{name}_at = getelementptr i8, ptr %state, i64 {fields[name][1]}"
        for name in fields
    )
    return TEXT.replace("$PLACES", places)


TEXT = """
declare i64 @llvm.smax.i64(i64, i64)

; Put instructions into their modules' queues, up to one whose queue is full. A queue's place is free again when the
; instruction in it starts.
define internal void @deliver(ptr %state, ptr %rows, ptr %times, ptr %queue) {
entry:
$PLACES
  %count = load i64, ptr %count_at
  %interval = load i64, ptr %fetch_interval_at
  %depth = load i64, ptr %depth_at
  br label %head
head:
  %i = load i64, ptr %fetched_at
  %more = icmp slt i64 %i, %count
  br i1 %more, label %body, label %done
body:
  %row = getelementptr [5 x i64], ptr %rows, i64 %i
  %time = getelementptr [4 x i64], ptr %times, i64 %i
  %module = load i64, ptr %row
  %delivered_m = getelementptr i64, ptr %delivered_at, i64 %module
  %k = load i64, ptr %delivered_m
  %last = load i64, ptr %fetch_time_at
  %soonest = add i64 %last, %interval
  %before = sub i64 %k, %depth
  %room = icmp slt i64 %before, 0
  br i1 %room, label %put, label %full
full:
  %next_m = getelementptr i64, ptr %next_at, i64 %module
  %next = load i64, ptr %next_m
  %gone = icmp slt i64 %before, %next
  br i1 %gone, label %late, label %done
late:
  %begin_m = getelementptr i64, ptr %begin_at, i64 %module
  %begin = load i64, ptr %begin_m
  %slot = add i64 %begin, %before
  %slot_at = getelementptr i64, ptr %queue, i64 %slot
  %j = load i64, ptr %slot_at
  %left_at = getelementptr [4 x i64], ptr %times, i64 %j, i64 1
  %left = load i64, ptr %left_at
  %later = call i64 @llvm.smax.i64(i64 %soonest, i64 %left)
  br label %put
put:
  %arrival = phi i64 [ %soonest, %body ], [ %later, %late ]
  store i64 %arrival, ptr %time
  store i64 %arrival, ptr %fetch_time_at
  %k_next = add i64 %k, 1
  store i64 %k_next, ptr %delivered_m
  %i_next = add i64 %i, 1
  store i64 %i_next, ptr %fetched_at
  br label %head
done:
  ret void
}

; When the instruction at the head of a module's queue can start; -1 if that is not known yet.
define internal i64 @ready(ptr %state, ptr %rows, ptr %times, ptr %queue, ptr %tokens, i64 %module) {
entry:
$PLACES
  %next_m = getelementptr i64, ptr %next_at, i64 %module
  %delivered_m = getelementptr i64, ptr %delivered_at, i64 %module
  %free_m = getelementptr i64, ptr %free_at, i64 %module
  %begin_m = getelementptr i64, ptr %begin_at, i64 %module
  %capacity = load i64, ptr %capacity_at
  %k = load i64, ptr %next_m
  %delivered = load i64, ptr %delivered_m
  %there = icmp slt i64 %k, %delivered
  br i1 %there, label %look, label %unknown
look:
  %begin = load i64, ptr %begin_m
  %slot = add i64 %begin, %k
  %slot_at = getelementptr i64, ptr %queue, i64 %slot
  %i = load i64, ptr %slot_at
  %arrival_at = getelementptr [4 x i64], ptr %times, i64 %i
  %arrival = load i64, ptr %arrival_at
  %free = load i64, ptr %free_m
  %least = call i64 @llvm.smax.i64(i64 %arrival, i64 %free)
  %pops_at = getelementptr [5 x i64], ptr %rows, i64 %i, i64 1
  %pops = load i64, ptr %pops_at
  br label %head
head:
  %q = phi i64 [ 0, %look ], [ %q_next, %latch ]
  %start = phi i64 [ %least, %look ], [ %start_next, %latch ]
  %end = icmp eq i64 %q, 4
  br i1 %end, label %done, label %body
body:
  %shifted = lshr i64 %pops, %q
  %bit = and i64 %shifted, 1
  %wanted = icmp ne i64 %bit, 0
  br i1 %wanted, label %pop, label %latch
pop:
  %popped_q = getelementptr i64, ptr %popped_at, i64 %q
  %pushed_q = getelementptr i64, ptr %pushed_at, i64 %q
  %popped = load i64, ptr %popped_q
  %pushed = load i64, ptr %pushed_q
  %has = icmp slt i64 %popped, %pushed
  br i1 %has, label %token, label %unknown
token:
  %base = mul i64 %q, %capacity
  %place = add i64 %base, %popped
  %token_at = getelementptr i64, ptr %tokens, i64 %place
  %pushed_time = load i64, ptr %token_at
  %later = call i64 @llvm.smax.i64(i64 %start, i64 %pushed_time)
  br label %latch
latch:
  %start_next = phi i64 [ %start, %body ], [ %later, %token ]
  %q_next = add i64 %q, 1
  br label %head
done:
  ret i64 %start
unknown:
  ret i64 -1
}

; Take the tokens that an instruction pops: add its mask's bits to the counts.
define internal void @take(ptr %popped_at, i64 %mask) {
entry:
  br label %head
head:
  %q = phi i64 [ 0, %entry ], [ %q_next, %body ]
  %end = icmp eq i64 %q, 4
  br i1 %end, label %done, label %body
body:
  %shifted = lshr i64 %mask, %q
  %bit = and i64 %shifted, 1
  %popped_q = getelementptr i64, ptr %popped_at, i64 %q
  %popped = load i64, ptr %popped_q
  %sum = add i64 %popped, %bit
  store i64 %sum, ptr %popped_q
  %q_next = add i64 %q, 1
  br label %head
done:
  ret void
}

; Push tokens at a time to the queues of a mask.
define internal void @give(ptr %pushed_at, ptr %tokens, i64 %capacity, i64 %mask, i64 %time) {
entry:
  br label %head
head:
  %q = phi i64 [ 0, %entry ], [ %q_next, %latch ]
  %end = icmp eq i64 %q, 4
  br i1 %end, label %done, label %body
body:
  %shifted = lshr i64 %mask, %q
  %bit = and i64 %shifted, 1
  %wanted = icmp ne i64 %bit, 0
  br i1 %wanted, label %push, label %latch
push:
  %pushed_q = getelementptr i64, ptr %pushed_at, i64 %q
  %pushed = load i64, ptr %pushed_q
  %base = mul i64 %q, %capacity
  %place = add i64 %base, %pushed
  %token_at = getelementptr i64, ptr %tokens, i64 %place
  store i64 %time, ptr %token_at
  %sum = add i64 %pushed, 1
  store i64 %sum, ptr %pushed_q
  br label %latch
latch:
  %q_next = add i64 %q, 1
  br label %head
done:
  ret void
}

define i64 @partita_vta_cycles(ptr %state, ptr %rows, ptr %times, ptr %queue, ptr %tokens, ptr %order) {
entry:
$PLACES
  %capacity = load i64, ptr %capacity_at
  br label %head
head:
  %started = phi i64 [ 0, %entry ], [ %started_next, %retire ]
  call void @deliver(ptr %state, ptr %rows, ptr %times, ptr %queue)
  br label %choose
choose:
  %m = phi i64 [ 0, %head ], [ %m_next, %look ]
  %who = phi i64 [ -1, %head ], [ %who_next, %look ]
  %when = phi i64 [ 9223372036854775807, %head ], [ %when_next, %look ]
  %chosen = icmp eq i64 %m, 3
  br i1 %chosen, label %decide, label %look
look:
  %start = call i64 @ready(ptr %state, ptr %rows, ptr %times, ptr %queue, ptr %tokens, i64 %m)
  %known = icmp sge i64 %start, 0
  %sooner = icmp slt i64 %start, %when
  %better = and i1 %known, %sooner
  %who_next = select i1 %better, i64 %m, i64 %who
  %when_next = select i1 %better, i64 %start, i64 %when
  %m_next = add i64 %m, 1
  br label %choose
decide:
  %stuck = icmp slt i64 %who, 0
  br i1 %stuck, label %done, label %issue
issue:
  %next_m = getelementptr i64, ptr %next_at, i64 %who
  %free_m = getelementptr i64, ptr %free_at, i64 %who
  %begin_m = getelementptr i64, ptr %begin_at, i64 %who
  %k = load i64, ptr %next_m
  %begin = load i64, ptr %begin_m
  %slot = add i64 %begin, %k
  %slot_at = getelementptr i64, ptr %queue, i64 %slot
  %i = load i64, ptr %slot_at
  %row = getelementptr [5 x i64], ptr %rows, i64 %i
  %pops_at = getelementptr i64, ptr %row, i64 1
  %pushes_at = getelementptr i64, ptr %row, i64 2
  %service_at = getelementptr i64, ptr %row, i64 3
  %rest_at = getelementptr i64, ptr %row, i64 4
  %pops = load i64, ptr %pops_at
  %pushes = load i64, ptr %pushes_at
  %service = load i64, ptr %service_at
  %rest = load i64, ptr %rest_at
  call void @take(ptr %popped_at, i64 %pops)
  %transfers = icmp sge i64 %service, 0
  br i1 %transfers, label %request, label %retire
request:
  %channel = load i64, ptr %channel_at
  %granted = call i64 @llvm.smax.i64(i64 %when, i64 %channel)
  %served = add i64 %granted, %service
  store i64 %served, ptr %channel_at
  br label %retire
retire:
  %beginning = phi i64 [ %when, %issue ], [ %granted, %request ]
  %transferred = phi i64 [ %when, %issue ], [ %served, %request ]
  %end = add i64 %transferred, %rest
  %time = getelementptr [4 x i64], ptr %times, i64 %i
  %start_at = getelementptr i64, ptr %time, i64 1
  %beginning_at = getelementptr i64, ptr %time, i64 2
  %end_at = getelementptr i64, ptr %time, i64 3
  store i64 %when, ptr %start_at
  store i64 %beginning, ptr %beginning_at
  store i64 %end, ptr %end_at
  store i64 %end, ptr %free_m
  %k_next = add i64 %k, 1
  store i64 %k_next, ptr %next_m
  call void @give(ptr %pushed_at, ptr %tokens, i64 %capacity, i64 %pushes, i64 %end)
  %order_at = getelementptr i64, ptr %order, i64 %started
  store i64 %i, ptr %order_at
  %started_next = add i64 %started, 1
  br label %head
done:
  ret i64 %started
}
"""
