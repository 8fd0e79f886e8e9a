"""Rules for loops find a legal schedule for every shape and every width of vectors."""

from collections.abc import Callable
from random import Random

import pytest
from relay_cases import Case
from relay_cases.case import Input, case

from partita.dialects import relay
from partita.driver import context
from partita.targets.host.schedule_host import ScheduleHostPass
from partita.transforms.apply_schedules import ApplySchedulesPass
from partita.transforms.fuse_ops import FuseOpsPass
from partita.transforms.lower_relay_to_te import LowerRelayToTePass
from partita.transforms.lower_te_to_tir import LowerTeToTirPass
from partita.transforms.split_stages import SplitStagesPass

EXTENTS = (
    *(1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 21, 28, 31, 32, 33, 37, 49, 56, 63, 64),
    *(65, 77, 96, 100, 127, 130, 255, 257, 300, 384, 511, 513, 768, 1000, 1024, 1025),
    *(1500, 2047, 2048, 3000),
)
"""Whole vectors and tiles, one more and one less, and panels that do not fit on a stack."""

DTYPES = ("float32", "float32", "float16", "float64", "int8", "int32")


def extent(random: Random, most: int) -> int:
    return random.choice([each for each in EXTENTS if each <= most])


def matmul(random: Random) -> Case:
    batch = random.choice([(), (2,), (3, 4)])
    rows, depth, columns = (extent(random, most) for most in (300, 3000, 2048))
    dtype = random.choice(DTYPES)
    operands = (*batch, rows, depth), (*batch, depth, columns)
    return case(relay.MatmulOp, "", *(Input(shape, dtype) for shape in operands))


def dense(random: Random) -> Case:
    rows, depth, columns = (extent(random, most) for most in (300, 3000, 2048))
    dtype = random.choice(DTYPES)
    operands = (rows, depth), (columns, depth)
    return case(relay.DenseOp, "", *(Input(shape, dtype) for shape in operands))


def grouped_convolution(random: Random) -> Case:
    groups, channels = random.randint(1, 5), random.choice((1, 3, 4, 17))
    features, size = random.choice((1, 3, 4, 6, 16, 17, 34, 46)), random.choice((1, 3))
    return case(
        relay.Conv2dOp,
        "",
        Input((1, groups * channels, extent(random, 33), extent(random, 65))),
        Input((groups * features, channels, size, size)),
        groups=groups,
        strides=(random.choice((1, 2)),) * 2,
        padding=(size // 2,) * 4,
    )


def softmax(random: Random) -> Case:
    shape = tuple(extent(random, 257) for _ in range(random.randint(1, 4)))
    op = random.choice((relay.SoftmaxOp, relay.LogSoftmaxOp))
    return case(op, "", Input(shape), axis=random.randrange(len(shape)))


def reduction(random: Random) -> Case:
    shape = tuple(extent(random, 257) for _ in range(random.randint(1, 4)))
    axes = random.sample(range(len(shape)), random.randint(1, len(shape)))
    op = random.choice((relay.SumOp, relay.MeanOp, relay.MaxOp, relay.ProdOp))
    keepdims = random.random() < 0.5
    return case(op, "", Input(shape), axes=tuple(sorted(axes)), keepdims=keepdims)


def transpose(random: Random) -> Case:
    shape = tuple(extent(random, 130) for _ in range(random.randint(2, 5)))
    axes = random.sample(range(len(shape)), len(shape))
    data = Input(shape, random.choice(DTYPES))
    return case(relay.TransposeOp, "", data, axes=tuple(axes))


KINDS = (matmul, dense, grouped_convolution, softmax, reduction, transpose)


@pytest.mark.parametrize("make", KINDS, ids=lambda make: make.__name__)
@pytest.mark.parametrize(
    "count", [12, pytest.param(300, marks=pytest.mark.full)], ids=["some", "many"]
)
def test_every_shape_has_a_schedule(make: Callable[[Random], Case], count: int) -> None:
    """What a rule writes is applied without a complaint, and leaves only nests that kernels can be made of."""
    random = Random(count)
    for _ in range(count):
        module = make(random).module()
        for each in (
            FuseOpsPass(),
            LowerRelayToTePass(),
            LowerTeToTirPass(),
            ScheduleHostPass(random.choice((128, 256, 512))),
            ApplySchedulesPass(),
            SplitStagesPass(),
        ):
            each.apply(context(), module)
        module.verify()
