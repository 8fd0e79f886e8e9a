"""Tensors of a model as numpy arrays, without a copy where the format allows it."""

from collections.abc import Iterable
from math import prod
from pathlib import Path, PurePosixPath

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, checker, external_data_helper, helper, numpy_helper

from partita.errors import ModelError
from partita.shapes import ElementType, Shape, element_type, has_element_type

Array = NDArray[np.generic]


def type_name(code: int) -> str:
    """Return ONNX's name of an element type, for messages."""
    try:
        return TensorProto.DataType.Name(code).lower()
    except ValueError:
        return f"type {code}"


def dtype_of_code(code: int) -> np.dtype[np.generic] | None:
    """Return the numpy dtype of an ONNX element type, `None` if we do not model it."""
    try:
        dtype = helper.tensor_dtype_to_np_dtype(code)
    except (KeyError, ValueError):
        return None
    return dtype if code != TensorProto.STRING and has_element_type(dtype) else None


def element_of_code(code: int) -> ElementType | None:
    """Return our element type for an ONNX element type, `None` if we do not model it."""
    dtype = dtype_of_code(code)
    return None if dtype is None else element_type(dtype)


def checked_shape(dims: Iterable[int], what: str) -> Shape:
    """Return a shape; raise `ModelError` if it has negative dimensions."""
    shape = tuple(dims)
    if min(shape, default=0) < 0:
        text = "x".join(map(str, shape))
        raise ModelError(
            f"{what}: expected dimensions that are not negative, got {text}"
        )
    return shape


def to_array(tensor: onnx.TensorProto, folder: Path | None, what: str) -> Array:
    """Return the read-only content of a tensor, called `what` in errors; external data is memory-mapped."""
    dtype = dtype_of_code(tensor.data_type)
    if dtype is None:
        raise ModelError(
            f"{what}: expected a numeric or boolean tensor, got {type_name(tensor.data_type)}"
        )
    shape = checked_shape(tensor.dims, what)
    if tensor.data_location == TensorProto.EXTERNAL:
        return _external(tensor, shape, dtype, folder, what)
    try:
        array = (
            np.frombuffer(tensor.raw_data, dtype.newbyteorder("<")).reshape(shape)
            if tensor.HasField("raw_data")
            else numpy_helper.to_array(tensor)
        )
    except (TypeError, ValueError):
        raise ModelError(
            f"{what}: expected {prod(shape)} elements of type {dtype}, got data of another size"
        ) from None
    array = array.astype(dtype, copy=False)
    array.flags.writeable = False
    return array


def _external(
    tensor: onnx.TensorProto,
    shape: Shape,
    dtype: np.dtype[np.generic],
    folder: Path | None,
    what: str,
) -> Array:
    """Map the part of a file that holds a tensor."""
    entries = {entry.key: entry.value for entry in tensor.external_data}
    location = entries.get("location", "")
    if folder is None:
        raise ModelError(
            f"{what} is kept in the file {location!r}; give the model as a path, so that the file can be found"
        )
    place = PurePosixPath(location)
    if not location or place.is_absolute() or ".." in place.parts:
        raise ModelError(
            f"{what}: expected external data in the folder of the model, got {location!r}"
        )
    path = folder / place
    try:
        offset = int(entries.get("offset", 0))
        length = int(entries.get("length", prod(shape) * dtype.itemsize))
    except ValueError:
        offset, length = -1, -1
    if offset < 0 or length != prod(shape) * dtype.itemsize:
        raise ModelError(
            f"{what}: expected external data of {prod(shape) * dtype.itemsize} bytes, "
            f"got offset {entries.get('offset', 0)} and length {entries.get('length')}"
        )
    try:
        size = path.stat().st_size
        if size < offset + length:
            raise ModelError(
                f"{what}: expected {offset + length} bytes in {path}, got {size}; the file is truncated"
            )
        if length == 0:
            return np.zeros(shape, dtype)
        little = dtype.newbyteorder("<")
        mapped = np.memmap(path, little, "r", offset, (prod(shape),))
    except OSError as error:
        raise ModelError(
            f"{what}: cannot read external data from {path}: {error.strerror or error}"
        ) from None
    return np.asarray(mapped).reshape(shape).astype(dtype, copy=False)


def load_data(tensor: onnx.TensorProto, folder: Path | None, what: str) -> None:
    """Read the external data of a tensor, called `what` in errors, into it, whatever its elements are."""
    if folder is None:
        raise ModelError(
            f"{what} is kept in another file; give the model as a path, so that the file can be found"
        )
    try:
        external_data_helper.load_external_data_for_tensor(tensor, str(folder))
    except (OSError, ValueError, RuntimeError, checker.ValidationError) as error:
        reason = " ".join(str(error).split())
        raise ModelError(f"{what}: cannot read external data: {reason}") from None
    tensor.data_location = TensorProto.DEFAULT
    del tensor.external_data[:]


def dense_array(
    sparse: onnx.SparseTensorProto, folder: Path | None, what: str
) -> Array:
    """Return a sparse tensor as a dense array."""
    values = to_array(sparse.values, folder, what)
    indices = to_array(sparse.indices, folder, what)
    shape = checked_shape(sparse.dims, what)
    dense = np.zeros(prod(shape), values.dtype)
    try:
        if indices.ndim == 2:
            columns = tuple(indices.astype(np.int64).T)
            dense.reshape(shape)[columns] = values
        else:
            dense[indices.astype(np.int64)] = values
    except (IndexError, ValueError):
        raise ModelError(
            f"{what}: expected sparse indices within {shape}, got others"
        ) from None
    dense.flags.writeable = False
    return dense.reshape(shape)
