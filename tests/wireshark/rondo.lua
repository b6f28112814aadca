-- Dissects Rondo packets in UDP as docs/wire-format.md describes them, and checks both CRCs.
--
--   tshark -X lua_script:tests/wireshark/rondo.lua -r capture.pcap
--
-- The UDP destination port is the preference rondo.port.

local rondo = Proto("rondo", "Rondo Packet Spraying Transport")

rondo.prefs.port = Pref.uint("UDP port", 4793, "Destination port of Rondo packets")

local HEADER_BYTES = 38
local CRC_BYTES = 34
local BEAT_BYTES = 64
local MAX_PAYLOAD = 9216
local RESERVED_PSN = 0xffffffff

local DATA, PROBE, ACK, NAK = 0, 1, 2, 3
local KINDS = { [DATA] = "Data", [PROBE] = "Probe", [ACK] = "ACK", [NAK] = "NAK" }
local STATUS = { [0] = "wrong", [1] = "right", [2] = "unchecked" }
local WRONG, RIGHT, UNCHECKED = 0, 1, 2

local f = {
    version = ProtoField.uint8("rondo.version", "Version", base.DEC, nil, 0xf0),
    kind = ProtoField.uint8("rondo.kind", "Kind", base.DEC, KINDS, 0x0f),
    flags = ProtoField.uint8("rondo.flags", "Flags", base.HEX),
    last = ProtoField.bool("rondo.flags.last", "Last packet of its message", 8, nil, 0x01),
    retransmission = ProtoField.bool("rondo.flags.retransmission", "Retransmission", 8, nil, 0x02),
    of_probe = ProtoField.bool("rondo.flags.of_probe", "A probe is acknowledged", 8, nil, 0x04),
    duplicate = ProtoField.bool("rondo.flags.duplicate", "Was a duplicate", 8, nil, 0x08),
    path = ProtoField.uint8("rondo.path", "Path", base.DEC, nil, 0x0f),
    reserved = ProtoField.uint8("rondo.reserved", "Reserved", base.HEX),
    flow = ProtoField.uint16("rondo.flow", "Flow"),
    epoch = ProtoField.uint16("rondo.epoch", "Epoch"),
    psn = ProtoField.uint32("rondo.psn", "PSN"),
    message = ProtoField.uint32("rondo.message", "Message id"),
    offset = ProtoField.uint32("rondo.offset", "Message offset", base.DEC),
    message_length = ProtoField.uint32("rondo.message_length", "Message length"),
    expected = ProtoField.uint32("rondo.expected", "Next expected PSN", base.DEC, nil, 0xffffff),
    selective = ProtoField.uint64("rondo.selective", "Selective map", base.HEX),
    sent = ProtoField.uint32("rondo.sent_ns", "Sent (ns)"),
    received = ProtoField.uint32("rondo.received_ns", "Received (ns)"),
    payload_crc = ProtoField.uint32("rondo.payload_crc", "Payload CRC-32C", base.HEX),
    payload_crc_status = ProtoField.uint8("rondo.payload_crc.status", "Payload CRC", base.DEC, STATUS),
    payload_length = ProtoField.uint16("rondo.payload_length", "Payload length"),
    header_crc = ProtoField.uint32("rondo.header_crc", "Header CRC-32C", base.HEX),
    header_crc_status = ProtoField.uint8("rondo.header_crc.status", "Header CRC", base.DEC, STATUS),
    payload = ProtoField.bytes("rondo.payload", "Payload"),
}
rondo.fields = f

local e = {
    format = ProtoExpert.new("rondo.bad_format", "Value that the field may not have",
        expert.group.MALFORMED, expert.severity.ERROR),
    length = ProtoExpert.new("rondo.bad_length", "Lengths do not agree",
        expert.group.MALFORMED, expert.severity.ERROR),
    header_crc = ProtoExpert.new("rondo.header_crc.bad", "Header CRC is wrong",
        expert.group.CHECKSUM, expert.severity.ERROR),
    payload_crc = ProtoExpert.new("rondo.payload_crc.bad", "Payload CRC is wrong",
        expert.group.CHECKSUM, expert.severity.ERROR),
}
rondo.experts = e

-- Lua 5.2 has bit32; Wireshark adds bit, with signed results, to any version.
local bits = bit32 or bit
local band, bxor, rshift = bits.band, bits.bxor, bits.rshift

local CRC_TABLE = {}
for byte = 0, 255 do
    local crc = byte
    for _ = 1, 8 do
        local carry = band(crc, 1)
        crc = rshift(crc, 1)
        if carry == 1 then
            crc = bxor(crc, 0x82f63b78)
        end
    end
    CRC_TABLE[byte] = crc
end

-- CRC-32C of a string and zeros up to a multiple of 64 bytes.
local function crc32c_padded(text)
    local crc = 0xffffffff
    for i = 1, #text do
        crc = bxor(rshift(crc, 8), CRC_TABLE[band(bxor(crc, text:byte(i)), 0xff)])
    end
    for _ = 1, -#text % BEAT_BYTES do
        crc = bxor(rshift(crc, 8), CRC_TABLE[band(crc, 0xff)])
    end
    return bxor(crc, 0xffffffff) % 0x100000000
end

-- Adds a CRC's field and, below it, whether it is right. `text` is what it covers, or nil.
local function add_crc(tree, range, field, status_field, text, expert_info)
    local item = tree:add(field, range)
    local status = UNCHECKED
    if text then
        local computed = crc32c_padded(text)
        status = computed == range:uint() and RIGHT or WRONG
        if status == WRONG then
            item:append_text(string.format(" (should be 0x%08x)", computed))
            item:add_proto_expert_info(expert_info)
        end
    end
    item:add(status_field, range, status):set_generated()
end

-- Adds a field; `wrong` says that the value may not be.
local function add(tree, field, range, wrong)
    local item = tree:add(field, range)
    if wrong then
        item:add_proto_expert_info(e.format)
    end
    return item
end

local function add_flags(tree, range)
    local flags = tree:add(f.flags, range)
    flags:add(f.last, range)
    flags:add(f.retransmission, range)
    flags:add(f.of_probe, range)
    flags:add(f.duplicate, range)
end

-- What the packet says, for the info column; `has` tells a flag.
local function summary(tvb, kind, has)
    local text = string.format("%s flow %d", KINDS[kind], tvb(4, 2):uint())
    local psn = tvb(8, 4):uint()
    local path = band(tvb(2, 1):uint(), 0x0f)
    if psn ~= RESERVED_PSN then
        text = text .. string.format(" PSN %d", psn)
    elseif kind ~= PROBE then
        text = text .. " of probe"
    end
    text = text .. string.format(" path %d", path)
    if kind == DATA then
        local offset, length = tvb(16, 4):uint(), tvb(32, 2):uint()
        text = text .. string.format(" msg %d [%.0f..%.0f) of %d", tvb(12, 4):uint(), offset,
            offset + length, tvb(20, 4):uint())
        text = text .. (has.last and " LAST" or "") .. (has.retransmission and " RETX" or "")
    elseif kind == PROBE then
        text = text .. string.format(" %d bytes", tvb(32, 2):uint())
    else
        if not has.of_probe then
            text = text .. string.format(" expected %d", tvb(13, 3):uint())
        end
        text = text .. (has.duplicate and " DUP" or "")
    end
    return text
end

-- The fields of a kind from the PSN to the payload length.
local function add_kind(tree, tvb, kind, has, payload)
    local length = tvb(32, 2):uint()
    local of_probe = (kind == ACK or kind == NAK) and has.of_probe
    local psn = tvb(8, 4):uint()
    if kind == PROBE or of_probe then
        add(tree, f.psn, tvb(8, 4), psn ~= RESERVED_PSN or kind == NAK)
            :append_text(" (reserved: no PSN)")
    else
        add(tree, f.psn, tvb(8, 4), psn > 0xffffff)
    end
    if kind == ACK or kind == NAK then
        add(tree, f.expected, tvb(12, 4))
        add(tree, f.selective, tvb(16, 8))
        add(tree, f.sent, tvb(24, 4))
        add(tree, f.received, tvb(28, 4))
        return add(tree, f.payload_length, tvb(32, 2), length ~= 0)
    end
    add(tree, f.message, tvb(12, 4))
    add(tree, f.offset, tvb(16, 4))
    add(tree, f.message_length, tvb(20, 4))
    add(tree, f.sent, tvb(24, 4))
    local covered = kind == DATA and payload or nil
    add_crc(tree, tvb(28, 4), f.payload_crc, f.payload_crc_status, covered, e.payload_crc)
    local wrong = kind == DATA and (length == 0 or length > MAX_PAYLOAD)
    return add(tree, f.payload_length, tvb(32, 2), wrong)
end

-- The payload, nil if the capture or the packet cuts it off.
local function payload_of(tvb)
    local length = tvb(32, 2):uint()
    local missing = tvb:captured_len() < HEADER_BYTES + length
    if missing then
        return nil
    end
    return length == 0 and "" or tvb:raw(HEADER_BYTES, length)
end

function rondo.dissector(tvb, pinfo, root)
    if tvb:captured_len() < HEADER_BYTES then
        return 0
    end
    pinfo.cols.protocol = "Rondo"
    local tree = root:add(rondo, tvb(0, HEADER_BYTES))
    local kind = band(tvb(0, 1):uint(), 0x0f)
    local flags = tvb(1, 1):uint()
    local has = {
        last = band(flags, 1) ~= 0,
        retransmission = band(flags, 2) ~= 0,
        of_probe = band(flags, 4) ~= 0,
        duplicate = band(flags, 8) ~= 0,
    }
    add(tree, f.version, tvb(0, 1), rshift(tvb(0, 1):uint(), 4) ~= 1)
    add(tree, f.kind, tvb(0, 1), KINDS[kind] == nil)
    add_flags(tree, tvb(1, 1))
    tree:add(f.path, tvb(2, 1))
    tree:add(f.reserved, tvb(3, 1))
    tree:add(f.flow, tvb(4, 2))
    tree:add(f.epoch, tvb(6, 2))
    if KINDS[kind] then
        local length_item = add_kind(tree, tvb, kind, has, payload_of(tvb))
        if tvb:reported_len() ~= HEADER_BYTES + tvb(32, 2):uint() then
            length_item:add_proto_expert_info(e.length)
        end
        local text = summary(tvb, kind, has)
        tree:append_text(", " .. text)
        pinfo.cols.info = text
    end
    add_crc(tree, tvb(34, 4), f.header_crc, f.header_crc_status, tvb:raw(0, CRC_BYTES), e.header_crc)
    if tvb:captured_len() > HEADER_BYTES then
        tree:add(f.payload, tvb(HEADER_BYTES))
    end
    return tvb:captured_len()
end

local registered

local function register()
    local ports = DissectorTable.get("udp.port")
    if registered then
        ports:remove(registered, rondo)
    end
    registered = rondo.prefs.port
    ports:add(registered, rondo)
end

rondo.prefs_changed = register
register()
