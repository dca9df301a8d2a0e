"""The messages are those of api/weir/v1/limiter.proto, bit for bit."""

import dataclasses
import os
import random
import subprocess
import tempfile
import unittest

from weir import messages
from weir.wire import WireError, decode, encode, specs

API = os.environ.get("WEIR_API") or os.path.join(
    os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "api")

try:
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
except ImportError:  # only this test needs it
    descriptor_pb2 = None

NUMBERS = [0, 1, 2, 127, 128, 300, 2**31, 2**32, 2**63 - 1, 2**63, 2**64 - 1]
MESSAGES = [kind for kind in vars(messages).values()
            if dataclasses.is_dataclass(kind) and kind.__module__ == messages.__name__]


def protoc_pool():
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "api.bin")
        subprocess.run(["protoc", "-I", API, "-o", out, "weir/v1/limiter.proto"], check=True)
        with open(out, "rb") as file:
            files = descriptor_pb2.FileDescriptorSet.FromString(file.read())
    pool = descriptor_pool.DescriptorPool()
    for file in files.file:
        pool.Add(file)
    return pool, files.file[0]


def message_class(pool, name):
    found = pool.FindMessageTypeByName(name)
    if hasattr(message_factory, "GetMessageClass"):
        return message_factory.GetMessageClass(found)
    return message_factory.MessageFactory(pool).GetPrototype(found)


def some(spec, chance):
    if spec.kind == "message":
        return some_message(spec.message, chance)
    if spec.kind == "string":
        return chance.choice(["", "a", "größe", "x" * 200])
    if spec.kind == "bool":
        return chance.random() < 0.5
    if spec.kind == "enum":
        return chance.choice(spec.names)
    if spec.kind == "uint64":
        return chance.choice(NUMBERS)
    most = 2**31 if spec.kind == "int32" else 2**63
    return chance.choice([0, 1, -1, 5000, most - 1, -most])


def some_message(kind, chance):
    values = {}
    oneof = kind in (messages.SessionRequest, messages.SessionResponse)
    members = [name for name, spec in specs(kind).values() if spec.kind == "message"]
    chosen = chance.choice(members) if oneof else ""
    for name, spec in specs(kind).values():
        if spec.repeated:
            values[name] = tuple(some(spec, chance) for _ in range(chance.randrange(3)))
        elif oneof and name in members and name != chosen:
            continue
        elif chance.random() < 0.8:
            values[name] = some(spec, chance)
    return kind(**values)


def has_api():
    if descriptor_pb2 is None or not os.path.isdir(API):
        return False
    try:
        return subprocess.run(["protoc", "--version"], capture_output=True).returncode == 0
    except FileNotFoundError:
        return False


@unittest.skipUnless(has_api(), "needs api/, protoc and the protobuf package")
class AgainstProtoc(unittest.TestCase):
    def test_every_message_has_the_fields_of_the_proto_file(self):
        _, file = protoc_pool()
        self.assertEqual(sorted(kind.__name__ for kind in MESSAGES),
                         sorted(message.name for message in file.message_type))
        kinds = {4: "uint64", 3: "int64", 5: "int32", 8: "bool", 9: "string", 11: "message",
                 14: "enum"}
        for message in file.message_type:
            ours = specs(getattr(messages, message.name))
            self.assertEqual(set(ours), {field.number for field in message.field}, message.name)
            for field in message.field:
                name, spec = ours[field.number]
                self.assertEqual((name, spec.kind), (field.name, kinds[field.type]))
                self.assertEqual(spec.repeated, field.label == field.LABEL_REPEATED)
                if spec.kind == "message":
                    self.assertEqual(spec.message.__name__, field.type_name.split(".")[-1])
                else:
                    self.assertEqual(spec.optional, field.proto3_optional, name)
        outcome = file.message_type[[m.name for m in file.message_type].index("Reservation")]
        names = specs(messages.Reservation)[2][1].names
        self.assertEqual([value.name.lower().replace("outcome_", "")
                          for value in outcome.enum_type[0].value], list(names))

    def test_random_messages_are_the_same_bytes(self):
        pool, _ = protoc_pool()
        chance = random.Random(7)
        for kind in MESSAGES:
            theirs = message_class(pool, "weir.v1." + kind.__name__)
            for _ in range(200):
                ours = some_message(kind, chance)
                data = encode(ours)
                parsed = theirs.FromString(data)
                self.assertEqual(parsed.SerializeToString(deterministic=True), data)
                self.assertEqual(decode(kind, parsed.SerializeToString()), ours)


class Hostile(unittest.TestCase):
    def test_cut_or_random_bytes_decode_or_are_refused(self):
        chance = random.Random(8)
        whole = encode(some_message(messages.Decision, chance))
        for end in range(len(whole)):
            self.decodes_or_refuses(whole[:end])
        for _ in range(3000):
            self.decodes_or_refuses(bytes(chance.randrange(256)
                                          for _ in range(chance.randrange(40))))

    def decodes_or_refuses(self, data):
        for kind in (messages.Decision, messages.SessionResponse):
            try:
                decode(kind, data)
            except WireError:
                pass

    def test_unknown_fields_are_skipped(self):
        unknown = bytes([0xF8, 0x07, 0x05, 0xFA, 0x07, 0x01, 0x00, 0xFD, 0x07, 1, 2, 3, 4,
                         0xF9, 0x07, 1, 2, 3, 4, 5, 6, 7, 8])
        self.assertEqual(decode(messages.Released, unknown + b"\x08\x03").copies, 3)

    def test_numbers_that_do_not_fit_are_refused_before_they_are_sent(self):
        for cost in (-1, 2**64):
            with self.assertRaises(WireError):
                encode(messages.LimitRequest("a", "b", "c", cost))


if __name__ == "__main__":
    unittest.main()
