"""Protocol Buffers for dataclasses: as much of the format as weir.v1 uses.

A message is a dataclass. A field that travels is made by one of the functions below, which name its
number and kind; fields made in another way stay at home. All numbers of weir.v1 are varints and all
else has a length, so that this is the whole of it. protobuf's own package is not needed, hence none
of its versions can be the wrong one. tests/test_wire.py compares with what protoc makes of api/.

As in proto3 a field that has its default value is not sent, except that an optional one is sent
unless it is None. Unknown fields are skipped, so that an older client understands a newer server.
"""

from __future__ import annotations

import dataclasses
from typing import Any, Dict, Optional, Tuple, Type, TypeVar, cast

M = TypeVar("M")

_VARINT, _FIXED64, _LENGTH, _FIXED32 = 0, 1, 2, 5
_MOST = 2**64


class WireError(ValueError):
    """Bytes that are no message, or a number that fits in none."""


@dataclasses.dataclass(frozen=True)
class Spec:
    number: int
    kind: str  # uint64, int64, int32, bool, string, enum, message
    optional: bool = False
    repeated: bool = False
    message: Optional[type] = None
    names: Tuple[str, ...] = ()  # of an enum's values

    @property
    def wire_type(self) -> int:
        return _LENGTH if self.kind in ("string", "message") else _VARINT


def _field(default: Any, spec: Spec) -> Any:
    return dataclasses.field(default=default, metadata={"wire": spec})


def uint64(number: int) -> Any:
    return _field(0, Spec(number, "uint64"))


def optional_uint64(number: int) -> Any:
    return _field(None, Spec(number, "uint64", optional=True))


def int64(number: int) -> Any:
    return _field(0, Spec(number, "int64"))


def int32(number: int) -> Any:
    return _field(0, Spec(number, "int32"))


def boolean(number: int) -> Any:
    return _field(False, Spec(number, "bool"))


def optional_boolean(number: int) -> Any:
    return _field(None, Spec(number, "bool", optional=True))


def string(number: int) -> Any:
    return _field("", Spec(number, "string"))


def enum(number: int, *names: str) -> Any:
    """Its values are kept by name; the first one is the default."""
    return _field(names[0], Spec(number, "enum", names=names))


def message(number: int, kind: type) -> Any:
    """None if absent; a member of a oneof is the same."""
    return _field(None, Spec(number, "message", optional=True, message=kind))


def messages(number: int, kind: type) -> Any:
    return _field((), Spec(number, "message", repeated=True, message=kind))


_specs: Dict[type, Dict[int, Tuple[str, Spec]]] = {}


def specs(kind: type) -> Dict[int, Tuple[str, Spec]]:
    """The fields of a message that travel: their names and kinds by number."""
    if kind not in _specs:
        fields = dataclasses.fields(cast(Any, kind))
        found = ((field.name, field.metadata.get("wire")) for field in fields)
        _specs[kind] = {spec.number: (name, spec) for name, spec in found if spec is not None}
    return _specs[kind]


def encode(value: Any) -> bytes:
    out = bytearray()
    for name, spec in specs(type(value)).values():
        content = getattr(value, name)
        for item in content if spec.repeated else (content,):
            if item is None or (_is_default(item, spec) and not (spec.optional or spec.repeated)):
                continue
            _append_varint(out, spec.number << 3 | spec.wire_type)
            _append_item(out, item, spec)
    return bytes(out)


def decode(kind: Type[M], data: bytes) -> M:
    known = specs(kind)
    values: Dict[str, Any] = {}
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        name, spec = known.get(key >> 3, ("", None))
        if spec is None or spec.wire_type != key & 7:
            at = _skip(data, at, key & 7)
            continue
        raw: Any
        if spec.wire_type == _VARINT:
            raw, at = _varint(data, at)
        else:
            raw, at = _bytes(data, at)
        item = _item(raw, spec)
        if spec.repeated:
            values.setdefault(name, []).append(item)
        else:
            values[name] = item
    return kind(**{name: tuple(value) if isinstance(value, list) else value
                   for name, value in values.items()})


def _is_default(item: Any, spec: Spec) -> bool:
    return bool(item == spec.names[0]) if spec.kind == "enum" else not item


def _append_item(out: bytearray, item: Any, spec: Spec) -> None:
    if spec.kind == "string" or spec.kind == "message":
        data = item.encode() if spec.kind == "string" else encode(item)
        _append_varint(out, len(data))
        out += data
    elif spec.kind == "enum":
        _append_varint(out, spec.names.index(item))
    elif spec.kind in ("int64", "int32"):
        _append_varint(out, int(item) % _MOST)
    else:
        _append_varint(out, int(item))


def _item(raw: Any, spec: Spec) -> Any:
    if spec.kind == "string":
        try:
            return raw.decode()
        except UnicodeDecodeError as error:
            raise WireError("a string that is not UTF-8") from error
    if spec.kind == "message":
        assert spec.message is not None
        return decode(spec.message, raw)
    if spec.kind == "bool":
        return raw != 0
    if spec.kind == "enum":
        return spec.names[raw] if raw < len(spec.names) else spec.names[0]
    if spec.kind in ("int64", "int32"):
        return raw - _MOST if raw >= _MOST // 2 else raw
    return raw


def _append_varint(out: bytearray, value: int) -> None:
    if not 0 <= value < _MOST:
        raise WireError(f"{value} does not fit in 64 bits without a sign")
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)


def _varint(data: bytes, at: int) -> Tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        if at >= len(data):
            raise WireError("the message ends within a number")
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value % _MOST, at
    raise WireError("a number of more than ten bytes")


def _bytes(data: bytes, at: int) -> Tuple[bytes, int]:
    length, at = _varint(data, at)
    if length > len(data) - at:
        raise WireError("the message ends within a field")
    return data[at:at + length], at + length


def _skip(data: bytes, at: int, wire_type: int) -> int:
    if wire_type == _VARINT:
        return _varint(data, at)[1]
    if wire_type == _LENGTH:
        return _bytes(data, at)[1]
    if wire_type not in (_FIXED32, _FIXED64):
        raise WireError(f"wire type {wire_type}")
    at += 4 if wire_type == _FIXED32 else 8
    if at > len(data):
        raise WireError("the message ends within a field")
    return at
