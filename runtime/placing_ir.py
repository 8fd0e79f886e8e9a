"""On which processors worker threads run, as LLVM IR that the executor calls.

Linux likes to wake a thread on the processor of who wakes it, which goes on running there: the worker would wait for
milliseconds until it is moved. So the caller keeps workers off its own processor before it wakes any, and where one
has last run there. A worker that was woken may be moved to any processor again.

The layout of the memory that the functions get is that of `executor_ir`.
"""


def placing_ir(system: str) -> str:
    """Return the functions for an operating system, as `Machine` calls it.

    They do nothing where threads cannot be placed.
    """
    return LINUX if system == "linux" else ELSEWHERE


LINUX = """
declare i32 @sched_getaffinity(i32, i64, ptr)
declare i32 @sched_getcpu()
declare i32 @pthread_setaffinity_np(ptr, i64, ptr)
declare ptr @pthread_self()
declare i64 @llvm.vector.reduce.or.v16i64(<16 x i64>)

; Keep workers off the processor of this thread, if there are others for them.
define internal void @keep_off(ptr %state) {
entry:
  %others = alloca [16 x i64]
  %mask = getelementptr i8, ptr %state, i64 512
  %failed = call i32 @sched_getaffinity(i32 0, i64 128, ptr %mask)
  %processor = call i32 @sched_getcpu()
  %known = icmp ult i32 %processor, 1024
  %asked = icmp sge i32 %failed, 0
  %both = and i1 %known, %asked
  br i1 %both, label %place, label %done
place:
  call void @llvm.memcpy.p0.p0.i64(ptr %others, ptr %mask, i64 128, i1 false)
  %number = zext i32 %processor to i64
  %word = lshr i64 %number, 6
  %shift = and i64 %number, 63
  %bit = shl i64 1, %shift
  %rest = xor i64 %bit, -1
  %at = getelementptr i64, ptr %others, i64 %word
  %had = load i64, ptr %at
  %has = and i64 %had, %rest
  store i64 %has, ptr %at
  %all = load <16 x i64>, ptr %others, align 8
  %any = call i64 @llvm.vector.reduce.or.v16i64(<16 x i64> %all)
  %nowhere = icmp eq i64 %any, 0
  br i1 %nowhere, label %done, label %start
start:
  %workers_at = getelementptr i8, ptr %state, i64 168
  %started_at = getelementptr i8, ptr %state, i64 176
  %workers = load ptr, ptr %workers_at
  %started = load i64, ptr %started_at
  br label %head
head:
  %i = phi i64 [ 0, %start ], [ %next, %body ]
  %more = icmp ult i64 %i, %started
  br i1 %more, label %body, label %done
body:
  %next = add i64 %i, 1
  %offset = shl i64 %next, 6
  %worker = getelementptr i8, ptr %workers, i64 %offset
  %handle_at = getelementptr i8, ptr %worker, i64 16
  %handle = load ptr, ptr %handle_at
  call i32 @pthread_setaffinity_np(ptr %handle, i64 128, ptr %others)
  br label %head
done:
  ret void
}

; Note on which processor a worker is.
define internal void @note_place(ptr %self) {
  %at = getelementptr i8, ptr %self, i64 24
  %processor = call i32 @sched_getcpu()
  store atomic i32 %processor, ptr %at monotonic, align 4
  ret void
}

; Whether a worker was last seen on the processor of this thread.
define internal i1 @shares_place(ptr %state) {
entry:
  %here = call i32 @sched_getcpu()
  %workers_at = getelementptr i8, ptr %state, i64 168
  %started_at = getelementptr i8, ptr %state, i64 176
  %workers = load ptr, ptr %workers_at
  %started = load i64, ptr %started_at
  br label %head
head:
  %i = phi i64 [ 0, %entry ], [ %next, %body ]
  %more = icmp ult i64 %i, %started
  br i1 %more, label %body, label %done
body:
  %next = add i64 %i, 1
  %offset = shl i64 %next, 6
  %beyond = add i64 %offset, 24
  %at = getelementptr i8, ptr %workers, i64 %beyond
  %there = load atomic i32, ptr %at monotonic, align 4
  %same = icmp eq i32 %here, %there
  br i1 %same, label %done, label %head
done:
  %result = phi i1 [ false, %head ], [ true, %body ]
  ret i1 %result
}

; Let this worker run where the caller may.
define internal void @run_anywhere(ptr %state) {
  %mask = getelementptr i8, ptr %state, i64 512
  %self = call ptr @pthread_self()
  call i32 @pthread_setaffinity_np(ptr %self, i64 128, ptr %mask)
  ret void
}
"""

ELSEWHERE = """
define internal void @keep_off(ptr %state) {
  ret void
}

define internal void @run_anywhere(ptr %state) {
  ret void
}

define internal void @note_place(ptr %self) {
  ret void
}

define internal i1 @shares_place(ptr %state) {
  ret i1 false
}
"""
