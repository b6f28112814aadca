"""Reads `tshark -T json` with Rondo's dissector on standard input; demands that every packet is
Rondo's, has every field of its kind and no error. Prints how many of each kind there are."""

import collections
import json
import sys

COMMON = """version kind flags flags.last flags.retransmission flags.of_probe flags.duplicate path
    reserved flow epoch psn sent_ns payload_length header_crc header_crc.status""".split()
PAYLOAD = "message offset message_length payload_crc payload_crc.status".split()
ACKNOWLEDGEMENT = "expected selective received_ns".split()
FIELDS = {
    "data": COMMON + PAYLOAD,
    "probe": COMMON + PAYLOAD,
    "ack": COMMON + ACKNOWLEDGEMENT,
    "nak": COMMON + ACKNOWLEDGEMENT,
}
KINDS = list(FIELDS)

# Wireshark's severities: chat, note, warning, error.
WARNING = 0x600000


def leaves(pairs):
    """All (name, value) of a tree of fields, repeated names included."""
    for name, value in pairs:
        yield name, value
        for inner in value if isinstance(value, list) else [value]:
            if isinstance(inner, tuple):
                yield from leaves([inner])
            elif isinstance(inner, list):
                yield from leaves(inner)


def faults(fields):
    """What Wireshark complains of."""
    if any(name.startswith("_ws.malformed") for name in fields):
        yield "malformed"
    severities = fields.get("_ws.expert.severity", [])
    messages = fields.get("_ws.expert.message", severities)
    for severity, message in zip(severities, messages):
        if int(severity, 0) >= WARNING:
            yield message


def check(fields):
    """The packet's kind and version of IP, and what is wrong with it."""
    version = "IPv6" if "ipv6" in fields else "IPv4"
    if "rondo.kind" not in fields:
        return "not Rondo's", ["not dissected as Rondo"]
    number = int(fields["rondo.kind"][0], 0)
    if number >= len(KINDS):
        return f"kind {number}, {version}", ["unknown kind"]
    kind = KINDS[number]
    wrong = list(faults(fields))
    wanted = list(FIELDS[kind])
    cut_off = int(fields["frame.cap_len"][0]) < int(fields["frame.len"][0])
    if fields["rondo.payload_length"] != ["0"] and not cut_off:
        wanted.append("payload")
        if kind == "data" and fields.get("rondo.payload_crc.status") != ["1"]:
            wrong.append("payload CRC not found right")
    if fields.get("rondo.header_crc.status") != ["1"]:
        wrong.append("header CRC not found right")
    wrong += [f"no field rondo.{name}" for name in wanted if f"rondo.{name}" not in fields]
    return f"{kind}, {version}{', cut off' if cut_off else ''}", wrong


def main():
    packets = json.load(sys.stdin, object_pairs_hook=lambda pairs: pairs)
    counts = collections.Counter()
    bad = 0
    for number, packet in enumerate(packets, 1):
        fields = collections.defaultdict(list)
        for name, value in leaves(packet):
            fields[name].append(value)
        kind, wrong = check(fields)
        counts[kind] += 1
        bad += bool(wrong)
        for fault in wrong:
            print(f"packet {number} ({kind}): {fault}", file=sys.stderr)
    for kind, count in sorted(counts.items()):
        print(f"{count:8} {kind}")
    print(f"{len(packets):8} packets, {bad} bad")
    if bad or not packets:
        sys.exit(1)


if __name__ == "__main__":
    main()
