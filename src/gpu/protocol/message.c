/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Messages on the wire. One table says for each type which fields it has; encoding and decoding walk over it, so that
 * the two cannot disagree and every field is checked in one place. Bytes that no field covers are zero, and a packet
 * in which they are not is refused: they are for later versions.
 */
#include "gpu/protocol/message.h"

#include <endian.h>
#include <string.h>

enum { HEADER_SIZE = 8, FIELDS_MAX = 7 };

enum field_kind { FIELD_U32, FIELD_U64, FIELD_TEXT };

struct field {
    enum field_kind kind;
    uint8_t at;      // in the packet
    uint8_t offset;  // in struct gpu_message
    uint8_t size;    // of a text
    uint64_t max;
};

#define U32(position, member, limit) {FIELD_U32, (position), (uint8_t)offsetof(struct gpu_message, member), 4, (limit)}
#define U64(position, member, limit) {FIELD_U64, (position), (uint8_t)offsetof(struct gpu_message, member), 8, (limit)}
#define TEXT(position, member, length) \
    {FIELD_TEXT, (position), (uint8_t)offsetof(struct gpu_message, member), (length), 0}

#define MEMORY_FIELDS \
    U32(8, memory.gpu, GPU_MAX - 1), U32(12, memory.kind, GPU_KIND_COUNT_ - 1), U64(24, memory.bytes, GPU_BYTES_MAX)
#define LEASE_FIELDS                                                                                             \
    U32(8, lease.gpu, GPU_MAX - 1), U32(12, lease.word, UINT32_MAX), U32(16, lease.flags, GPU_DRAINED_HAS_MORE), \
        U64(24, lease.busy_ns, GPU_BUSY_MAX_NS), U64(32, lease.launches, UINT64_MAX)
#define PARK_FIELDS U32(8, park.gpu, GPU_MAX - 1), U64(16, park.bytes, GPU_BYTES_MAX)
#define MOVED_FIELDS                                                                   \
    PARK_FIELDS, U32(24, park.host_us, UINT32_MAX), U32(28, park.copy_us, UINT32_MAX), \
        U32(32, park.clear_us, UINT32_MAX), U32(36, park.map_us, UINT32_MAX)
#define NOTICE_FIELDS                                                               \
    U32(8, notice.reason, GPU_REASON_COUNT_ - 1), U32(12, notice.gpu, GPU_MAX - 1), \
        TEXT(16, notice.text, GPU_NOTICE_SIZE)

struct layout {
    bool is_known;
    struct field fields[FIELDS_MAX];
};

static const struct layout layouts[] = {
    [GPU_HELLO] = {true,
                   {U32(8, hello.flags, GPU_HELLO_RETURNS), U32(12, hello.pid, INT32_MAX),
                    U64(16, hello.session, UINT64_MAX), U64(24, hello.now_ns, INT64_MAX),
                    TEXT(32, hello.name, GPU_NAME_SIZE)}},
    [GPU_ATTACH] = {true, {MEMORY_FIELDS, U64(48, memory.context_bytes, GPU_BYTES_MAX)}},
    [GPU_RESERVE] = {true, {MEMORY_FIELDS}},
    [GPU_RELEASE] = {true, {MEMORY_FIELDS}},
    [GPU_QUERY] = {true, {U32(8, memory.gpu, GPU_MAX - 1)}},
    [GPU_PING] = {true, {U64(8, ping.value, UINT64_MAX)}},
    [GPU_ASK] = {true, {U32(8, lease.gpu, GPU_MAX - 1), U32(12, lease.word, UINT32_MAX)}},
    [GPU_YIELD] = {true, {LEASE_FIELDS}},
    [GPU_DRAINED] = {true, {LEASE_FIELDS}},
    [GPU_GREW] = {true, {U32(8, memory.gpu, GPU_MAX - 1)}},
    [GPU_UNHOOKED] = {true, {TEXT(16, notice.text, GPU_NOTICE_SIZE)}},
    [GPU_STOPPED] = {true,
                     {PARK_FIELDS, U64(24, park.driver_bytes, GPU_BYTES_MAX), U64(32, park.array_bytes, GPU_BYTES_MAX),
                      U64(40, park.pool_bytes, GPU_BYTES_MAX), U64(48, park.mapped_bytes, GPU_BYTES_MAX),
                      U64(56, park.exported_bytes, GPU_BYTES_MAX)}},
    [GPU_PARKED] = {true, {MOVED_FIELDS}},
    [GPU_RESUMED] = {true, {MOVED_FIELDS}},
    [GPU_WELCOME] = {true,
                     {U32(8, welcome.gpu_count, GPU_MAX), U32(12, welcome.control_bytes, 1 << 20),
                      U32(16, welcome.tenant_bytes, 1 << 20),
                      U32(20, welcome.flags, GPU_WELCOME_PARKABLE | GPU_WELCOME_PARKED),
                      U64(24, welcome.session, UINT64_MAX), U64(32, welcome.now_ns, INT64_MAX)}},
    [GPU_REFUSED] = {true, {NOTICE_FIELDS}},
    [GPU_GRANT] = {true, {MEMORY_FIELDS}},
    [GPU_DENY] = {true,
                  {MEMORY_FIELDS, U32(16, memory.reason, GPU_REASON_COUNT_ - 1),
                   U64(32, memory.free_bytes, GPU_BYTES_MAX)}},
    [GPU_INFO] = {true,
                  {MEMORY_FIELDS, U64(32, memory.free_bytes, GPU_BYTES_MAX),
                   U64(40, memory.total_bytes, GPU_BYTES_MAX)}},
    [GPU_PONG] = {true, {U64(8, ping.value, UINT64_MAX)}},
    [GPU_DRAIN] = {true, {U32(8, lease.gpu, GPU_MAX - 1), U32(12, lease.word, UINT32_MAX)}},
    [GPU_TRIM] = {true, {MEMORY_FIELDS}},
    [GPU_NOTICE] = {true, {NOTICE_FIELDS}},
    [GPU_PARK] = {true, {U32(8, park.gpu, GPU_MAX - 1)}},
    [GPU_MOVE] = {true, {PARK_FIELDS}},
    [GPU_RESUME] = {true, {PARK_FIELDS}},
};

static void put16(uint8_t *at, uint16_t value)
{
    value = htole16(value);
    memcpy(at, &value, sizeof value);
}

static void put32(uint8_t *at, uint32_t value)
{
    value = htole32(value);
    memcpy(at, &value, sizeof value);
}

static void put64(uint8_t *at, uint64_t value)
{
    value = htole64(value);
    memcpy(at, &value, sizeof value);
}

static uint16_t get16(const uint8_t *at)
{
    uint16_t value;

    memcpy(&value, at, sizeof value);
    return le16toh(value);
}

static uint32_t get32(const uint8_t *at)
{
    uint32_t value;

    memcpy(&value, at, sizeof value);
    return le32toh(value);
}

static uint64_t get64(const uint8_t *at)
{
    uint64_t value;

    memcpy(&value, at, sizeof value);
    return le64toh(value);
}

/* The rows of a layout that are in use. */
static size_t field_count(const struct layout *layout)
{
    size_t count = 0;

    while (count < FIELDS_MAX && layout->fields[count].size > 0)
        count++;
    return count;
}

static const struct layout *layout_of(uint32_t type)
{
    if (type >= sizeof layouts / sizeof *layouts || !layouts[type].is_known)
        return NULL;
    return &layouts[type];
}

void gpu_message_encode(const struct gpu_message *message, uint8_t bytes[static GPU_MESSAGE_SIZE])
{
    const struct layout *layout = layout_of((uint32_t)message->type);

    memset(bytes, 0, GPU_MESSAGE_SIZE);
    put16(bytes, GPU_PROTOCOL_VERSION);
    put16(bytes + 2, (uint16_t)message->type);
    put32(bytes + 4, message->sequence);
    for (size_t i = 0; layout && i < field_count(layout); i++) {
        const struct field *field = &layout->fields[i];
        const uint8_t *from = (const uint8_t *)message + field->offset;
        uint32_t u32;
        uint64_t u64;

        switch (field->kind) {
        case FIELD_U32:
            memcpy(&u32, from, sizeof u32);
            put32(bytes + field->at, u32);
            break;
        case FIELD_U64:
            memcpy(&u64, from, sizeof u64);
            put64(bytes + field->at, u64);
            break;
        case FIELD_TEXT:
            /* The NUL is part of the field. */
            memcpy(bytes + field->at, from, strnlen((const char *)from, field->size - 1u));
            break;
        }
    }
}

/* What would drive a terminal or break a log's line is shown as '?'. */
static bool get_text(const uint8_t *from, size_t size, uint8_t *to)
{
    size_t len = strnlen((const char *)from, size);

    if (len == size)
        return false;
    for (size_t i = 0; i < len; i++)
        to[i] = from[i] < 0x20 || from[i] > 0x7e ? '?' : from[i];
    return true;
}

static bool get_field(const struct field *field, const uint8_t *bytes, uint8_t *message)
{
    const uint8_t *from = bytes + field->at;
    uint8_t *to = message + field->offset;

    if (field->kind == FIELD_U32) {
        uint32_t value = get32(from);

        memcpy(to, &value, sizeof value);
        return value <= field->max;
    }
    if (field->kind == FIELD_U64) {
        uint64_t value = get64(from);

        memcpy(to, &value, sizeof value);
        return value <= field->max;
    }
    return get_text(from, field->size, to);
}

/* Bytes that belong to no field, and those behind the end of a text, mean nothing yet. */
static bool rest_is_zero(const struct layout *layout, const uint8_t *bytes)
{
    bool is_covered[GPU_MESSAGE_SIZE] = {false};

    for (size_t i = 0; i < field_count(layout); i++) {
        const struct field *field = &layout->fields[i];
        size_t len = field->kind == FIELD_TEXT ? strnlen((const char *)bytes + field->at, field->size) : field->size;

        memset(is_covered + field->at, true, len);
    }
    for (size_t i = HEADER_SIZE; i < GPU_MESSAGE_SIZE; i++) {
        if (!is_covered[i] && bytes[i] != 0)
            return false;
    }
    return true;
}

enum gpu_message_error gpu_message_decode(const void *packet, size_t len, struct gpu_message *ret_message)
{
    const uint8_t *bytes = packet;
    const struct layout *layout;
    struct gpu_message message;

    if (len != GPU_MESSAGE_SIZE)
        return GPU_MESSAGE_BAD_SIZE;
    if (get16(bytes) != GPU_PROTOCOL_VERSION)
        return GPU_MESSAGE_BAD_VERSION;
    layout = layout_of(get16(bytes + 2));
    if (!layout)
        return GPU_MESSAGE_BAD_TYPE;
    memset(&message, 0, sizeof message);
    message.type = (enum gpu_message_type)get16(bytes + 2);
    message.sequence = get32(bytes + 4);
    for (size_t i = 0; i < field_count(layout); i++) {
        if (!get_field(&layout->fields[i], bytes, (uint8_t *)&message))
            return GPU_MESSAGE_BAD_VALUE;
    }
    if (!rest_is_zero(layout, bytes))
        return GPU_MESSAGE_BAD_VALUE;
    *ret_message = message;
    return GPU_MESSAGE_FINE;
}

static const struct {
    const char *name;
    const char *text;
} reasons[] = {
    [GPU_REASON_NONE] = {"none", "nothing is wrong"},
    [GPU_REASON_VERSION] = {"version", "the library and the daemon are of different versions"},
    [GPU_REASON_PEER] = {"peer", "this process does not belong to the group of this socket"},
    [GPU_REASON_FULL] = {"full", "there are too many tenants already"},
    [GPU_REASON_LIMIT] = {"limit", "the group's memory limit is reached"},
    [GPU_REASON_EXHAUSTED] = {"exhausted", "the GPU has no memory left that may be lent"},
    [GPU_REASON_NO_GPU] = {"no_gpu", "the group has no such GPU"},
    [GPU_REASON_OUTSIDE] = {"outside", "the GPU is used in a way that was not reserved"},
    [GPU_REASON_NOT_DRAINED] = {"not_drained", "kernels still run after the end of the lease"},
    [GPU_REASON_RECLAIMED] = {"reclaimed", "the owner of borrowed memory needs it"},
};

_Static_assert(sizeof reasons / sizeof *reasons == GPU_REASON_COUNT_, "every reason has a name");

const char *gpu_reason_name(enum gpu_reason reason)
{
    return (unsigned)reason < GPU_REASON_COUNT_ ? reasons[reason].name : "unknown";
}

const char *gpu_reason_text(enum gpu_reason reason)
{
    return (unsigned)reason < GPU_REASON_COUNT_ ? reasons[reason].text : "unknown reason";
}
