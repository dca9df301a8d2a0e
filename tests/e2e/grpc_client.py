#!/usr/bin/python3
"""Checks every method of a running server's gRPC port with a client that is not ours.

    grpc_client.py HOST:PORT

The server runs with the rules of grpc_rules.yaml, and nobody has asked it anything before. Messages
are made from api/ by protoc; nothing of Weir's own code is used.
"""

import os
import subprocess
import sys
import tempfile
import threading

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

API = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "api")
ENVOY = "envoy.service.ratelimit.v3"


class Api:
    """The messages and methods of all .proto files."""

    def __init__(self, channel):
        self.channel = channel
        self.pool = descriptor_pool.DescriptorPool()
        protos = [os.path.relpath(os.path.join(folder, name), API)
                  for folder, _, names in os.walk(API) for name in names if name.endswith(".proto")]
        with tempfile.TemporaryDirectory() as folder:
            out = os.path.join(folder, "api.bin")
            subprocess.run(["protoc", "-I", API, "--include_imports", "-o", out, *sorted(protos)],
                           check=True)
            with open(out, "rb") as file:
                files = descriptor_pb2.FileDescriptorSet.FromString(file.read())
        for file in files.file:
            self.pool.Add(file)
        self.factory = message_factory.MessageFactory(self.pool)

    def message(self, name, **fields):
        return self.factory.GetPrototype(self.pool.FindMessageTypeByName(name))(**fields)

    def method(self, service, name):
        described = self.pool.FindServiceByName(service).FindMethodByName(name)
        proto = descriptor_pb2.MethodDescriptorProto()
        described.CopyToProto(proto)
        make = {(False, False): self.channel.unary_unary, (False, True): self.channel.unary_stream,
                (True, True): self.channel.stream_stream}
        answer = self.factory.GetPrototype(described.output_type)
        return make[proto.client_streaming, proto.server_streaming](
            f"/{service}/{name}", request_serializer=lambda message: message.SerializeToString(),
            response_deserializer=answer.FromString)


def equal(found, expected, what):
    if found != expected:
        raise AssertionError(f"{what}: {found!r}, not {expected!r}")


def status_of(call, *arguments, **options):
    try:
        call(*arguments, timeout=5, **options)
    except grpc.RpcError as error:
        return error.code()
    return grpc.StatusCode.OK


def search(api, subject, **fields):
    return api.message("weir.v1.LimitRequest", namespace="e2e", resource="search", subject=subject,
                       **fields)


def check_native(api):
    request = api.method("weir.v1.Limiter", "Request")
    peek = api.method("weir.v1.Limiter", "Peek")
    settle = api.method("weir.v1.Limiter", "Settle")
    decision = request(search(api, "ann"), timeout=5)
    equal((decision.allowed, decision.granted, decision.remaining, decision.limit),
          (True, 1, 9, "burst"), "Request")
    equal(peek(search(api, "ann"), timeout=5).remaining, 9, "Peek")
    decision = request(search(api, "ann", cost=10), timeout=5)
    equal((decision.allowed, decision.retry_after_ms > 0), (False, True), "a refusal")
    ticket = request(search(api, "ann", cost=5, settle=True), timeout=5).ticket
    settled = settle(api.message("weir.v1.SettleRequest", ticket=ticket, cost=2), timeout=5)
    equal((settled.charged, settled.remaining), (2, 7), "Settle")
    equal(status_of(settle, api.message("weir.v1.SettleRequest", ticket=ticket, cost=2)),
          grpc.StatusCode.NOT_FOUND, "a ticket settled twice")
    equal(status_of(request, api.message("weir.v1.LimitRequest", namespace="nowhere")),
          grpc.StatusCode.NOT_FOUND, "an unknown namespace")
    equal(status_of(request, api.message("weir.v1.LimitRequest", namespace="e2e", resource="seats",
                                         subject="ann")),
          grpc.StatusCode.FAILED_PRECONDITION, "copies that were requested")
    equal(status_of(request, search(api, "s" * 2_000_000)), grpc.StatusCode.RESOURCE_EXHAUSTED,
          "a message that is too long")
    equal(status_of(request, search(api, "ann"), compression=grpc.Compression.Gzip) in
          (grpc.StatusCode.UNIMPLEMENTED, grpc.StatusCode.OK), True, "a compressed message")


def check_session(api):
    to_server = "weir.v1.SessionRequest"
    questions = [api.message(to_server, id=1, request=search(api, "bob", cost=4)),
                 api.message(to_server, id=2, peek=search(api, "bob")),
                 api.message(to_server, id=3, reserve=api.message("weir.v1.ReserveRequest"))]
    answers = list(api.method("weir.v1.Limiter", "Session")(iter(questions), timeout=5))
    equal([answer.id for answer in answers], [1, 2, 3], "the answers of Session")
    equal(answers[0].decision.remaining, 6, "a request on a Session")
    equal(answers[1].decision.remaining, 6, "a peek on a Session")
    equal(answers[2].HasField("error") or answers[2].HasField("reservation"), True,
          "a reservation on a Session")


def check_envoy(api):
    ask = api.method(ENVOY + ".RateLimitService", "ShouldRateLimit")

    def descriptor(key, value):
        return {"entries": [{"key": key, "value": value}]}

    def request(*descriptors, domain="e2e", **fields):
        return api.message(ENVOY + ".RateLimitRequest", domain=domain, descriptors=descriptors,
                           **fields)

    response = ask(request(descriptor("user", "ann"), descriptor("free", "x"),
                           descriptor("none", "x")), timeout=5)
    equal(response.overall_code, 1, "the overall code")
    equal([status.code for status in response.statuses], [1, 1, 1], "the codes")
    first = response.statuses[0]
    equal((first.current_limit.requests_per_unit, first.current_limit.unit,
           first.current_limit.name, first.limit_remaining), (3, 4, "per-user", 2), "the limit")
    equal(first.duration_until_reset.seconds > 0, True, "the time until the reset")
    equal(response.statuses[1].limit_remaining, 2**32 - 1, "what is left of no limit")
    equal(dict(response.dynamic_metadata), {"team": "edge"}, "the metadata")
    equal([header.key for header in response.response_headers_to_add],
          ["RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"], "the headers")
    equal(ask(request(descriptor("user", "ann"), hits_addend=3), timeout=5).overall_code, 2,
          "over the limit")
    equal(ask(request(descriptor("user", "ann"), hits_addend=2), timeout=5).overall_code, 1,
          "a refusal that counted nothing")
    equal(ask(request(descriptor("user", "x"), domain="other"), timeout=5).overall_code, 1,
          "an unknown domain")
    for wrong in (request(), request(descriptor("user", "x"), domain="")):
        equal(status_of(ask, wrong), grpc.StatusCode.INVALID_ARGUMENT, "a bad request")


def check_health(api):
    check = api.method("grpc.health.v1.Health", "Check")
    for service in ("", "weir.v1.Limiter", ENVOY + ".RateLimitService"):
        question = api.message("grpc.health.v1.HealthCheckRequest", service=service)
        equal(check(question, timeout=5).status, 1, f"the health of {service!r}")
    unknown = api.message("grpc.health.v1.HealthCheckRequest", service="nobody")
    equal(status_of(check, unknown), grpc.StatusCode.NOT_FOUND, "the health of nobody")
    watch = api.method("grpc.health.v1.Health", "Watch")(
        api.message("grpc.health.v1.HealthCheckRequest"), timeout=5)
    equal(next(watch).status, 1, "the health that is watched")
    watch.cancel()


def check_reflection(api):
    for version in ("v1", "v1alpha"):
        package = f"grpc.reflection.{version}"
        question = package + ".ServerReflectionRequest"
        ask = api.method(package + ".ServerReflection", "ServerReflectionInfo")
        services = next(ask(iter([api.message(question, list_services="*")]), timeout=5))
        names = [service.name for service in services.list_services_response.service]
        equal("weir.v1.Limiter" in names, True, "the list of services")
        questions = [api.message(question, file_containing_symbol=name) for name in names]
        pool = descriptor_pool.DescriptorPool()
        files = {}
        for answer in ask(iter(questions), timeout=5):
            for data in answer.file_descriptor_response.file_descriptor_proto:
                file = descriptor_pb2.FileDescriptorProto.FromString(data)
                files[file.name] = file

        def add(name):
            if name in files:
                file = files.pop(name)
                for needed in file.dependency:
                    add(needed)
                pool.Add(file)

        for name in list(files):
            add(name)
        for name in names:
            pool.FindServiceByName(name)


def check_protocol(api):
    nothing = api.channel.unary_unary("/weir.v1.Limiter/Nothing")
    equal(status_of(nothing, b""), grpc.StatusCode.UNIMPLEMENTED, "an unknown method")


def check_many(api):
    """Many calls at once on one connection: what is granted is what the limit has."""
    request = api.method("weir.v1.Limiter", "Request")
    granted = []

    def ask():
        calls = [request.future(search(api, "crowd"), timeout=10) for _ in range(100)]
        granted.extend(call.result().granted for call in calls)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    equal((len(granted), sum(granted)), (400, 10), "what a crowd was granted")


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    with grpc.insecure_channel(sys.argv[1]) as channel:
        grpc.channel_ready_future(channel).result(timeout=10)
        api = Api(channel)
        for check in (check_native, check_session, check_envoy, check_health, check_reflection,
                      check_protocol, check_many):
            check(api)
            print("ok", check.__name__.removeprefix("check_"))


if __name__ == "__main__":
    main()
