/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * What a tenant (the library in a process that uses a GPU) and the node daemon say to each other. Needs libc alone, so
 * that the library may carry it.
 *
 * The socket. Each group of tenants has a folder with one SOCK_SEQPACKET unix socket in it: which socket was used says
 * which group it is, and the kernel says which process (credentials and pidfd of the peer). Every packet is one message
 * of GPU_MESSAGE_SIZE bytes in little-endian order, in both directions. A message that does not check ends the
 * connection.
 *
 * The beginning.
 *
 *     tenant                          daemon
 *     HELLO                      ->
 *                                <-   WELCOME with three descriptors, or REFUSED
 *     ATTACH for each GPU        ->                                            (only when it comes back, see below)
 *                                <-   GRANT each
 *
 * The descriptors, in this order: the control page (protocol/pages.h; may be mapped for reading only), the tenant's own
 * page (reading and writing), and a second SOCK_SEQPACKET socket for events. On the first socket the tenant speaks and
 * the daemon answers: HELLO, ATTACH, RESERVE, QUERY and PING have one answer each with the same `sequence`; RELEASE, GREW
 * and UNHOOKED have none. On the second one nothing is answered: ASK, YIELD and DRAINED go to the daemon, DRAIN, TRIM and NOTICE come from
 * it, as do the messages of parking, so that a thread can sit and read there while others make requests.
 *
 * Memory. The daemon's ledger counts what it has handed to a process: RESERVE before the driver is called, GRANT or DENY
 * as the answer. A grant of GPU_KIND_PLAIN may come with credit: bytes beyond those asked for, which the daemon puts into
 * `credit_bytes` of the tenant's page. As long as there is credit, allocations are taken from it by compare-and-swap and
 * no message is needed; what is freed goes back there. The daemon takes unused credit out of the page in the same way
 * when someone else needs it. A tenant whose credit has grown beyond `credit_max_bytes` of the control page takes some
 * out and sends RELEASE. GPU_KIND_CONTEXT is what a context costs by itself: RESERVE with 0 bytes means the size that
 * the daemon has learned, GRANT says it, RELEASE gives it back when the context is gone.
 *
 * GREW says that a process has taken memory on a GPU by a call that does not tell how much, as the load of a module: the
 * daemon looks at NVML soon. UNHOOKED names a function of the driver that the library should stand in front of and does
 * not.
 *
 * Compute. protocol/pages.h has the gate that every launch looks at.
 *
 *     tenant                          daemon
 *     ASK                        ->                          a launch waits at the closed gate of this word
 *                                     opens the gate: word changes, waiters are woken
 *     YIELD                      ->                          nothing is left to run; its gate counts as closed
 *                                     closes the gate: word changes
 *                                <-   DRAIN                  to whoever was active under the word
 *     DRAINED                    ->                          the last kernel has ended
 *
 * `busy_ns` is from the first launch under the word until the end of the last one. It is believed within narrow bounds
 * of what the daemon's own clock says.
 *
 * Parking. A group that is made for it (GPU_WELCOME_PARKABLE) can be told to leave its GPU. All of this goes over the
 * socket for events.
 *
 *     tenant                          daemon
 *                                <-   PARK                   no call reaches the device from now on
 *     STOPPED                    ->                          all work has ended; so much can move, so much cannot
 *                                <-   MOVE with a descriptor host memory, of this process alone, for what can move
 *     PARKED                     ->                          so much lies there now and is gone from the GPU
 *                                <-   RESUME                 so much of the GPU is this process's again
 *     RESUMED                    ->                          so much still lies in host memory; 0: calls go on
 *
 * STOPPED repeats the `sequence` of PARK. RESUME at any time before MOVE takes the order back. What has moved was given back with RELEASE, as if it had been freed,
 * and belongs to the account again from RESUME on. A process that has lost its daemon in the middle finishes what it was
 * doing, stays stopped while anything of it is in host memory, and says PARKED to the next daemon. One that joins a group
 * that is parked is told so (GPU_WELCOME_PARKED), and stops before it makes a context.
 *
 * When the daemon goes away both sockets end. The tenant then lets launches pass, and grants itself nothing beyond what
 * it holds: what is in use, and its credit. It tries HELLO again with GPU_HELLO_RETURNS and its old session, and says
 * with ATTACH what it uses on each GPU; its credit is gone with the old page.
 */
enum {
    GPU_PROTOCOL_VERSION = 1,
    GPU_MESSAGE_SIZE = 64,
    GPU_MAX = 16,          // GPUs of one group
    GPU_NAME_SIZE = 24,    // with its NUL
    GPU_NOTICE_SIZE = 48,  // with its NUL
    GPU_HELLO_FDS = 3,
};

#define GPU_BYTES_MAX (UINT64_C(1) << 50)    // of any amount of memory
#define GPU_BUSY_MAX_NS (UINT64_C(1) << 50)  // thirteen days

/* Where a tenant finds its socket: this variable, or else the place at which containers have the folder. */
#define GPU_SOCKET_VARIABLE "MUSTER_GPU_SOCKET"
#define GPU_SOCKET_PATH "/run/muster/gpu/tenant.sock"

enum gpu_message_type {
    /* From the tenant. */
    GPU_HELLO = 1,
    GPU_ATTACH = 2,
    GPU_RESERVE = 3,
    GPU_RELEASE = 4,
    GPU_QUERY = 5,
    GPU_PING = 6,
    GPU_ASK = 7,
    GPU_YIELD = 8,
    GPU_DRAINED = 9,
    GPU_GREW = 10,
    GPU_UNHOOKED = 11,
    GPU_STOPPED = 12,
    GPU_PARKED = 13,
    GPU_RESUMED = 14,
    /* From the daemon. */
    GPU_WELCOME = 65,
    GPU_REFUSED = 66,
    GPU_GRANT = 67,
    GPU_DENY = 68,
    GPU_INFO = 69,
    GPU_PONG = 70,
    GPU_DRAIN = 71,
    GPU_TRIM = 72,
    GPU_NOTICE = 73,
    GPU_PARK = 74,
    GPU_MOVE = 75,
    GPU_RESUME = 76,
};

enum { GPU_HELLO_RETURNS = 1 };  // flags of HELLO
enum {
    GPU_WELCOME_PARKABLE = 1,  // flags of WELCOME: the group's memory has to be such that it can move
    GPU_WELCOME_PARKED = 2,    // and it has moved
};
enum { GPU_DRAINED_HAS_MORE = 1 };  // flags of DRAINED: launches wait already, as if ASK followed

/* What memory is for. The sum counts; the kinds are told apart in figures alone. */
enum gpu_memory_kind {
    GPU_KIND_PLAIN,    // what the program asked for, in whatever way
    GPU_KIND_CONTEXT,  // what the driver takes for a context, its code and its stacks
    GPU_KIND_COUNT_,
};

enum gpu_reason {
    GPU_REASON_NONE,
    GPU_REASON_VERSION,      // the other side speaks another version
    GPU_REASON_PEER,         // this process may not use this socket
    GPU_REASON_FULL,         // too many tenants
    GPU_REASON_LIMIT,        // the group's limit is reached
    GPU_REASON_EXHAUSTED,    // the GPU has no memory left that could be lent
    GPU_REASON_NO_GPU,       // the group has no such GPU
    GPU_REASON_OUTSIDE,      // NVML shows more in use than was reserved
    GPU_REASON_NOT_DRAINED,  // the lease is over and work goes on
    GPU_REASON_RECLAIMED,    // it had borrowed memory that its owner needs
    GPU_REASON_COUNT_,
};

/* One message, in the order of this machine. Members that a type does not use are zero. */
struct gpu_message {
    enum gpu_message_type type;
    uint32_t sequence;  // chosen by who asks, repeated in the answer
    union {
        struct {
            uint32_t flags;
            uint32_t pid;      // as the tenant sees itself
            uint64_t session;  // with GPU_HELLO_RETURNS
            uint64_t now_ns;   // CLOCK_MONOTONIC of the tenant
            char name[GPU_NAME_SIZE];
        } hello;
        struct {
            uint32_t gpu_count;
            uint32_t control_bytes;  // sizes of the two pages
            uint32_t tenant_bytes;
            uint32_t flags;
            uint64_t session;
            uint64_t now_ns;  // CLOCK_MONOTONIC of the daemon
        } welcome;
        struct {
            uint32_t reason;
            uint32_t gpu;
            char text[GPU_NOTICE_SIZE];  // for a log
        } notice;                        // REFUSED, NOTICE, UNHOOKED
        struct {
            uint32_t gpu;
            uint32_t kind;
            uint32_t reason;  // DENY
            uint32_t flags;
            uint64_t bytes;          // asked for, granted, given back, or to be given back
            uint64_t free_bytes;     // DENY, INFO: what would be granted now
            uint64_t total_bytes;    // INFO: the limit
            uint64_t context_bytes;  // ATTACH: of `bytes`, for contexts
        } memory;                    // ATTACH, GREW, RESERVE, RELEASE, QUERY, GRANT, DENY, INFO, TRIM
        struct {
            uint32_t gpu;
            uint32_t word;  // of the gate, as it was when this began
            uint32_t flags;
            uint32_t reserved;
            uint64_t busy_ns;
            uint64_t launches;
        } lease;  // ASK, YIELD, DRAIN, DRAINED
        struct {
            uint32_t gpu;
            uint64_t bytes;  // that can move, or have; RESUME: that this process may take again
            /* STOPPED: what stays on the GPU, and is charged, because */
            uint64_t driver_bytes;    // the driver has allocated it: small pieces, managed memory, older interfaces
            uint64_t array_bytes;     // it is an array
            uint64_t pool_bytes;      // it belongs to a pool
            uint64_t mapped_bytes;    // the program has mapped it itself
            uint64_t exported_bytes;  // somebody else may use it
            /* PARKED, RESUMED: how long the steps took; 0 where nothing was moved */
            uint32_t host_us;   // host memory mapped, or given back
            uint32_t copy_us;   // copies
            uint32_t clear_us;  // GPU memory cleared
            uint32_t map_us;    // GPU memory given back, or taken and mapped
        } park;                 // PARK, MOVE, RESUME, STOPPED, PARKED, RESUMED
        struct {
            uint64_t value;  // returned as it came
        } ping;
    };
};

/* Writes the message as it travels. */
void gpu_message_encode(const struct gpu_message *message, uint8_t bytes[static GPU_MESSAGE_SIZE]);

/* What is wrong with a packet, for counters. */
enum gpu_message_error {
    GPU_MESSAGE_FINE = 0,
    GPU_MESSAGE_BAD_SIZE = -1,
    GPU_MESSAGE_BAD_VERSION = -2,
    GPU_MESSAGE_BAD_TYPE = -3,
    GPU_MESSAGE_BAD_VALUE = -4,  // a GPU, kind, amount or text out of bounds, or a bit that means nothing
};

/* Reads a packet of `len` bytes from anyone. Texts are NUL-terminated and printable in what is returned. */
enum gpu_message_error gpu_message_decode(const void *bytes, size_t len, struct gpu_message *ret_message)
    __attribute__((warn_unused_result));

/* "limit", "peer": one word for figures and logs. */
const char *gpu_reason_name(enum gpu_reason reason);

/* A sentence for people. */
const char *gpu_reason_text(enum gpu_reason reason);
