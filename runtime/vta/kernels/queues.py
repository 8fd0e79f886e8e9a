"""The function that finds an order of execution: three modules that work in order, and the tokens between them.

Fetch puts instructions, in program order, into the queues of their modules, up to one whose queue is full. The
instruction at the head of a queue may be executed when there is a token in every token queue that it pops; then it
pushes its own. Which of several such instructions comes next is a matter of `Policy`.

Token queues are first in, first out: the nth pop takes the nth push, whatever the order. So what an instruction knows
to be complete when it starts, a clock with one count for each module, is what the one before it in its module knew,
and what the instructions knew that pushed its tokens; every order gives the same clocks.
"""

from collections.abc import Mapping, Sequence
from enum import IntEnum
from types import MappingProxyType
from typing import Any

from partita.runtime.vta.isa import COLUMNS, FIELD_NAMES, Memory, Module, Opcode
from partita.runtime.vta.kernels.emitter import Array, Function, Value, Variable, ir

ORDER = "partita_vta_order"
"""`ORDER(words, begin, end)` orders the instructions of one launch and returns an `Outcome`."""


class Policy(IntEnum):
    """Which of the instructions that may be executed is."""

    PROGRAM = 0
    """The first of the program."""

    EARLY_LOADS = 1
    """Loads before compute before stores."""

    LATE_LOADS = 2
    """Stores before compute before loads."""

    RANDOM = 3
    """Any."""


class Outcome(IntEnum):
    """How ordering ended."""

    ORDERED = 0
    DEADLOCK = 1
    EARLY_FINISH = 2
    """FINISH does not wait for an instruction that moves data."""


class TokenQueue(IntEnum):
    """A queue of tokens, from one module to another."""

    LOAD_TO_COMPUTE = 0
    COMPUTE_TO_LOAD = 1
    STORE_TO_COMPUTE = 2
    COMPUTE_TO_STORE = 3


POPS: Mapping[Module, Mapping[str, TokenQueue]] = {
    Module.LOAD: {"pop_next": TokenQueue.COMPUTE_TO_LOAD},
    Module.COMPUTE: {
        "pop_prev": TokenQueue.LOAD_TO_COMPUTE,
        "pop_next": TokenQueue.STORE_TO_COMPUTE,
    },
    Module.STORE: {"pop_prev": TokenQueue.COMPUTE_TO_STORE},
}
"""What the flags of instructions pop, by module; other flags mean nothing there."""

PUSHES: Mapping[Module, Mapping[str, TokenQueue]] = {
    Module.LOAD: {"push_next": TokenQueue.LOAD_TO_COMPUTE},
    Module.COMPUTE: {
        "push_prev": TokenQueue.COMPUTE_TO_LOAD,
        "push_next": TokenQueue.COMPUTE_TO_STORE,
    },
    Module.STORE: {"push_prev": TokenQueue.STORE_TO_COMPUTE},
}
"""What they push."""

_GROUPS: Mapping[str, int] = {
    "instructions": 1,  # pointer to int64[N, 29]
    "order": 1,  # pointer to int32[N], written: the instruction at each place
    "clocks": 1,  # pointer to int32[N, 3], written: instructions of each module that each one knows to be complete
    "queues": 1,  # pointer to int32[3, N], written: the instructions of each module
    "tokens": 1,  # pointer to int32[4, N], written: who pushed each token
    "capacity": 1,  # N
    "depth": 1,  # instructions that fit in the queue of a module
    "policy": 1,
    "random": 1,  # the state of the random numbers; not 0
    "fetched": 1,  # instructions that fetch has delivered
    "placed": 1,  # instructions that have their place in the order
    "queued": 3,  # instructions of each module that fetch has delivered
    "done": 3,  # instructions of each module that have their place
    "pushed": 4,  # tokens pushed to each token queue
    "popped": 4,
    "clock": 9,  # what each module knows of each
    "moved": 3,  # the last instruction of each module that moves data, as its number in the module
    "finish": 3,  # what FINISH knows
}

OFFSETS: Mapping[str, int] = MappingProxyType(
    {name: sum(list(_GROUPS.values())[:place]) for place, name in enumerate(_GROUPS)}
)
"""Where each group of words starts."""

ORDER_WORDS = sum(_GROUPS.values())

WORST = 1 << 62
"""A score worse than any."""


class Ordering:
    """The function under construction, and its memory."""

    def __init__(self, function: Function):
        self.function = function
        self.words: Array = function.array(function.pointer("words_at"), 64)
        self.rows = self._array("instructions", 64)
        self.order = self._array("order", 32)
        self.clocks = self._array("clocks", 32)
        self.queues = self._array("queues", 32)
        self.tokens = self._array("tokens", 32)
        self.capacity = self["capacity"]

    def _array(self, name: str, bits: int) -> Array:
        builder: Any = self.function.builder
        pointer = builder.inttoptr(self[name].raw, ir.PointerType())
        return self.function.array(pointer, bits)

    def __getitem__(self, name: str) -> Value:
        return self.words[OFFSETS[name]]

    def at(self, name: str, index: Value | int) -> Value:
        return self.words[index + OFFSETS[name]]

    def put(self, name: str, index: Value | int, value: Value | int) -> None:
        self.words[index + OFFSETS[name]] = value

    def column(self, number: Value, name: str) -> Value:
        return self.rows[number * len(FIELD_NAMES) + COLUMNS[name]]


def order_ir() -> str:
    """Return the module's text; it is the same for all hardware."""
    module = ir.Module("vta")
    deliver = _emit_deliver(module)
    ready = [_emit_ready(module, each) for each in Module]
    execute = [_emit_execute(module, each) for each in Module]
    function = Function(module, ORDER, ("words_at", "begin", "end"))
    ordering = Ordering(function)
    words = function.pointer("words_at")
    end = function["end"]
    _start_launch(ordering)
    ordering.words[OFFSETS["fetched"]] = function["begin"]
    with function.loop() as loop:
        loop.stop_when(ordering["placed"].equals(end))
        function.call(deliver, words, end)
        best = function.variable(WORST)
        chosen = function.variable(len(Module))
        with function.when(ordering["policy"].equals(Policy.RANDOM)):
            _draw(ordering)
        for each in Module:
            with function.when(function.call(ready[each], words).differs(0)):
                score = _score(ordering, each)
                with function.when(score < best.value):
                    best.value = score
                    chosen.value = each
        with function.when(chosen.value.equals(len(Module)), likely=False):
            function.leave(Outcome.DEADLOCK)
        with function.cases(chosen.value) as cases:
            for each in Module:
                with cases.case(each):
                    function.call(execute[each], words)
    for each in (Module.LOAD, Module.STORE):
        late = ordering.at("moved", each) > ordering.at("finish", each)
        with function.when(late, likely=False):
            function.leave(Outcome.EARLY_FINISH)
    function.leave(Outcome.ORDERED)
    return str(module)


def _start_launch(ordering: Ordering) -> None:
    """Let every module know that all instructions of launches before are complete: the host has waited for them."""
    for each in Module:
        done = ordering.at("done", each)
        for knower in Module:
            ordering.put("clock", knower * len(Module) + each, done)


def _draw(ordering: Ordering) -> None:
    """Go on to the next random number (Marsaglia, Xorshift RNGs, 2003)."""
    drawn = ordering["random"]
    for left, by in ((True, 13), (False, 7), (True, 17)):
        drawn = drawn ^ (drawn << by if left else drawn >> by)
    ordering.words[OFFSETS["random"]] = drawn


def _score(ordering: Ordering, module: Module) -> Value:
    """Return how much later than others an instruction at the head of this module's queue is to come."""
    function = ordering.function
    policy = ordering["policy"]
    place = ordering.at("done", module)
    program = ordering.queues[ordering.capacity * module + place]
    drawn = (ordering["random"] >> 16 * module) & 0xFFFF
    scores: Sequence[tuple[Policy, Value]] = (
        (Policy.EARLY_LOADS, function.word(module)),
        (Policy.LATE_LOADS, function.word(len(Module) - module)),
        (Policy.RANDOM, drawn),
    )
    score = program
    for which, value in scores:
        score = policy.equals(which).choose(value, score)
    return score


def _emit_deliver(module: Any) -> Function:
    """Emit fetch: put instructions before `end` into queues, up to one whose queue is full."""
    function = Function(module, "deliver", ("words_at", "end"))
    function.hide()
    ordering = Ordering(function)
    with function.loop() as loop:
        number = ordering["fetched"]
        loop.stop_when(number.equals(function["end"]))
        home = _module_of(ordering, number).value
        queued = ordering.at("queued", home)
        loop.stop_when(queued - ordering.at("done", home) >= ordering["depth"])
        ordering.queues[ordering.capacity * home + queued] = number
        ordering.put("queued", home, queued + 1)
        ordering.words[OFFSETS["fetched"]] = number + 1
    function.leave(0)
    return function


def _module_of(ordering: Ordering, number: Value) -> Variable:
    """Return the module of an instruction; one that means nothing is left to compute."""
    function = ordering.function
    opcode = ordering.column(number, "opcode")
    memory = ordering.column(number, "memory")
    home = function.variable(Module.COMPUTE)
    with function.when(opcode.equals(Opcode.STORE)):
        home.value = Module.STORE
    on_load = memory.equals(Memory.INP) | memory.equals(Memory.WGT)
    with function.when(opcode.equals(Opcode.LOAD) & on_load):
        home.value = Module.LOAD
    return home


def _emit_ready(module: Any, performer: Module) -> Function:
    """Emit whether a module can execute the instruction at the head of its queue."""
    function = Function(module, f"ready_{performer.name.lower()}", ("words_at",))
    function.hide()
    ordering = Ordering(function)
    done = ordering.at("done", performer)
    with function.when(done.equals(ordering.at("queued", performer))):
        function.leave(0)
    number = ordering.queues[ordering.capacity * performer + done]
    for flag, queue in POPS[performer].items():
        empty = ordering.at("pushed", queue).equals(ordering.at("popped", queue))
        with function.when(ordering.column(number, flag).differs(0) & empty):
            function.leave(0)
    function.leave(1)
    return function


def _emit_execute(module: Any, performer: Module) -> Function:
    """Emit what a module does with the tokens and clock of the instruction at the head of its queue."""
    function = Function(module, f"execute_{performer.name.lower()}", ("words_at",))
    function.hide()
    ordering = Ordering(function)
    done = ordering.at("done", performer)
    number = ordering.queues[ordering.capacity * performer + done]
    clock = performer * len(Module)
    for flag, queue in POPS[performer].items():
        with function.when(ordering.column(number, flag).differs(0)):
            popped = ordering.at("popped", queue)
            ordering.put("popped", queue, popped + 1)
            pusher = ordering.tokens[ordering.capacity * queue + popped]
            home = _module_of(ordering, pusher).value
            for each in Module:
                told = ordering.clocks[pusher * len(Module) + each]
                told = told + home.equals(each).choose(1, 0)
                known = ordering.at("clock", clock + each)
                ordering.put("clock", clock + each, known.larger(told))
    for each in Module:
        known = ordering.at("clock", clock + each)
        ordering.clocks[number * len(Module) + each] = known
        if performer is Module.COMPUTE:
            with function.when(_is(ordering, number, Opcode.FINISH)):
                ordering.put("finish", each, known)
    ordering.put("clock", clock + performer, done + 1)
    ordering.put("done", performer, done + 1)
    for flag, queue in PUSHES[performer].items():
        with function.when(ordering.column(number, flag).differs(0)):
            pushed = ordering.at("pushed", queue)
            ordering.tokens[ordering.capacity * queue + pushed] = number
            ordering.put("pushed", queue, pushed + 1)
    if performer is not Module.COMPUTE:
        with function.when(ordering.column(number, "x_size").differs(0)):
            ordering.put("moved", performer, done + 1)
    placed = ordering["placed"]
    ordering.order[placed] = number
    ordering.words[OFFSETS["placed"]] = placed + 1
    function.leave(0)
    return function


def _is(ordering: Ordering, number: Value, opcode: Opcode) -> Value:
    return ordering.column(number, "opcode").equals(opcode)
