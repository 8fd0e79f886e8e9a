"""Convolutions, products and pools."""

from collections.abc import Iterator

from partita.dialects import relay
from relay_cases.case import FLOATS, NUMBERS, Case, Input, case


def conv2d() -> Iterator[Case]:
    """Convolutions in every layout, grouping and geometry."""
    for dtype in NUMBERS:
        yield case(
            relay.Conv2dOp,
            dtype,
            Input((1, 3, 5, 6), dtype),
            Input((4, 3, 3, 3), dtype),
            padding=(1, 1, 1, 1),
        )
    geometries = {
        "plain": {},
        "strided": {"strides": (2, 3)},
        "dilated": {"dilation": (2, 1)},
        "asymmetric": {"padding": (0, 2, 1, 0)},
        "everything": {
            "strides": (2, 1),
            "padding": (2, 1, 0, 3),
            "dilation": (1, 2),
        },
        "trailing": {"strides": (2, 2), "padding": (0, 0, 1, 1)},
    }
    for name, attributes in geometries.items():
        yield case(
            relay.Conv2dOp,
            name,
            Input((2, 3, 7, 8)),
            Input((4, 3, 3, 2)),
            **attributes,
        )
    for groups, channels, features in ((2, 4, 6), (4, 4, 4), (4, 4, 8), (1, 1, 3)):
        yield case(
            relay.Conv2dOp,
            f"groups-{groups}-{features}",
            Input((2, channels, 6, 5)),
            Input((features, channels // groups, 3, 3)),
            groups=groups,
            padding=(1, 1, 1, 1),
        )
    for groups, features, width in ((3, 18, 20), (2, 10, 14), (2, 46, 9)):
        yield case(
            relay.Conv2dOp,
            f"pointwise-groups-{groups}-{features}",
            Input((2, 12, 3, width)),
            Input((features, 12 // groups, 1, 1)),
            groups=groups,
        )
    for groups, weight in (
        (1, (2, 3, 3, 3, 4)),
        (2, (2, 3, 1, 1, 4)),
        (8, (2, 1, 3, 3, 4)),
    ):
        yield case(
            relay.Conv2dOp,
            f"blocked-{groups}",
            Input((1, weight[1] * groups, 5, 5)),
            Input(weight),
            groups=groups,
            kernel_layout="OIHW4o",
        )
    for name, data, weight, groups, layouts in (
        ("in", (2, 2, 5, 6, 4), (8, 8, 3, 3), 1, ("NCHW4c", None, None)),
        ("out", (1, 3, 5, 6), (2, 3, 3, 3, 4), 1, (None, "OIHW4o", "NCHW4c")),
        (
            "both",
            (2, 2, 5, 6, 4),
            (3, 4, 3, 3, 2, 4),
            1,
            ("NCHW4c", "OIHW2i4o", "NCHW4c"),
        ),
        (
            "differ",
            (1, 2, 5, 6, 4),
            (3, 2, 3, 3, 4, 8),
            1,
            ("NCHW4c", "OIHW4i8o", "NCHW8c"),
        ),
        (
            "groups",
            (1, 4, 5, 6, 4),
            (6, 2, 3, 3, 4, 4),
            2,
            ("NCHW4c", "OIHW4i4o", "NCHW4c"),
        ),
        (
            "across",
            (1, 2, 5, 6, 4),
            (4, 2, 3, 3),
            4,
            ("NCHW4c", None, None),
        ),
        (
            "depthwise",
            (1, 2, 5, 6, 4),
            (2, 1, 3, 3, 4),
            8,
            ("NCHW4c", "OIHW4o", "NCHW4c"),
        ),
        ("one", (1, 1, 5, 6, 4), (1, 4, 1, 1, 4), 1, ("NCHW4c", "OIHW4o", None)),
    ):
        data_layout, kernel_layout, result_layout = layouts
        for strides in ((1, 1), (2, 1)):
            yield case(
                relay.Conv2dOp,
                f"blocked-{name}-{strides[0]}",
                Input(data),
                Input(weight),
                groups=groups,
                strides=strides,
                padding=(1, 0, 1, 1),
                data_layout=data_layout,
                kernel_layout=kernel_layout,
                result_layout=result_layout,
            )
    yield case(relay.Conv2dOp, "1x1", Input((1, 8, 4, 4)), Input((6, 8, 1, 1)))


def products() -> Iterator[Case]:
    """Dense layers and matrix products."""
    for dtype in NUMBERS:
        yield case(relay.DenseOp, dtype, Input((3, 5), dtype), Input((4, 5), dtype))
        yield case(relay.MatmulOp, dtype, Input((3, 5), dtype), Input((5, 4), dtype))
    yield case(
        relay.DenseOp, "blocked", Input((3, 5)), Input((2, 5, 8)), weight_layout="OI8o"
    )
    for lhs, rhs in (
        ((5,), (5,)),
        ((5,), (5, 4)),
        ((3, 5), (5,)),
        ((2, 3, 5), (5, 4)),
        ((2, 3, 5), (2, 5, 4)),
        ((2, 1, 3, 5), (4, 5, 6)),
        ((5,), (2, 5, 4)),
        ((2, 3, 5), (5,)),
        ((1, 1), (1, 1)),
    ):
        name = "-".join("x".join(map(str, shape)) for shape in (lhs, rhs))
        yield case(relay.MatmulOp, name, Input(lhs), Input(rhs))
    # Tiles of rows and columns, some cut short; panels of columns that are copied, some transposed.
    for name, lhs, rhs in (
        ("tiles", (2, 33, 24), (2, 24, 21)),
        ("row", (1, 40), (40, 77)),
        ("panels", (49, 280), (280, 37)),
        ("even-panels", (56, 260), (260, 64)),
    ):
        yield case(relay.MatmulOp, name, Input(lhs), Input(rhs))
    yield case(relay.DenseOp, "panels", Input((19, 40)), Input((37, 40)))
    yield case(
        relay.DenseOp,
        "half-panels",
        Input((9, 70), "float16"),
        Input((20, 70), "float16"),
    )
    yield case(
        relay.DenseOp,
        "integer-panels",
        Input((9, 35), "int32"),
        Input((20, 35), "int32"),
    )


def pools() -> Iterator[Case]:
    """Pools in every geometry."""
    for dtype in NUMBERS:
        yield case(
            relay.MaxPool2dOp,
            dtype,
            Input((1, 2, 5, 6), dtype, -9, 9),
            kernel=(3, 2),
            padding=(1, 1, 1, 0),
        )
    for dtype in FLOATS:
        yield case(
            relay.AvgPool2dOp,
            dtype,
            Input((1, 2, 5, 6), dtype),
            kernel=(3, 2),
            padding=(1, 1, 1, 0),
        )
    geometries = {
        "plain": {"kernel": (2, 3)},
        "strided": {"kernel": (2, 2), "strides": (2, 2)},
        "dilated": {"kernel": (2, 3), "dilation": (3, 2), "padding": (1, 2, 1, 2)},
        "global": {"kernel": (7, 9)},
        "ceil": {"kernel": (3, 2), "strides": (2, 2), "ceil_mode": True},
        "ceil-padded": {
            "kernel": (3, 3),
            "strides": (2, 3),
            "padding": (1, 0, 1, 1),
            "ceil_mode": True,
        },
    }
    for name, attributes in geometries.items():
        data = Input((2, 3, 7, 9))
        yield case(relay.MaxPool2dOp, name, data, **attributes)
        for include in (False, True):
            yield case(
                relay.AvgPool2dOp,
                f"{name}-{include:d}",
                data,
                count_include_pad=include,
                **attributes,
            )
        blocked = Input((2, 2, 7, 9, 4))
        yield case(
            relay.MaxPool2dOp, f"{name}-blocked", blocked, layout="NCHW4c", **attributes
        )
        yield case(
            relay.AvgPool2dOp, f"{name}-blocked", blocked, layout="NCHW4c", **attributes
        )
    yield case(
        relay.MaxPool2dOp,
        "special",
        Input((1, 2, 6, 6), special=True),
        kernel=(2, 2),
        strides=(2, 2),
    )


NN_CASES: tuple[Case, ...] = (*conv2d(), *products(), *pools())
