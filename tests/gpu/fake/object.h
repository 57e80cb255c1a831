/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* What the pretended driver hands out. Everything lives in the process's own memory; only amounts and times are shared
 * between processes (state.h). One lock guards all of it: this driver is to be right, not fast. */

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpu/abi/cuda.h"
#include "gpu/tenant/hooks.h"
#include "state.h"

enum fake_kind {
    FAKE_CONTEXT = 0x0fa4e001,
    FAKE_STREAM,
    FAKE_EVENT,
    FAKE_POOL,
    FAKE_ARRAY,
    FAKE_GRAPH,
    FAKE_EXEC,
    FAKE_NODE,
    FAKE_FUNCTION,
    FAKE_BLOCK,
};

/* Any object; each kind uses what it needs. */
struct fake_object {
    enum fake_kind kind;
    int gpu;
    struct fake_object *ctx;
    struct fake_object *next;   // in the list of all
    struct fake_object *owner;  // graph of a node, graph of an exec
    uint64_t bytes;
    uint64_t reserved, used, threshold;  // pool; of a node, `used` is the address for add_one
    int64_t tail_ns;                     // stream: when its last work ends; event: what it waits for
    int references;                      // context, block
    int mappings;                        // block
    int capture;                         // stream
    int type;                            // node
    struct fake_object *graph;           // stream: what it captures into
    _Atomic uint32_t *word;              // stream, event: not zero when it may end; NULL: needs none
    uint8_t *content;                    // block; NULL: zeros
    bool is_primary, is_dead, has_memory;
    bool is_strict;  // stream: no other thread may ask the device anything while it captures
    char name[64];
};

/* One piece of device memory. */
enum fake_memory { FAKE_PLAIN, FAKE_MANAGED, FAKE_POOLED, FAKE_MAPPED, FAKE_IN_GRAPH };

struct fake_range {
    uint64_t address;
    uint64_t bytes;
    enum fake_memory memory;
    int gpu;
    struct fake_object *of;  // context, pool or block
    struct fake_range *next;
};

extern struct fake_object *fake_objects;
extern struct fake_range *fake_ranges;

void fake_lock(void);
void fake_unlock(void);

struct fake_object *fake_new(enum fake_kind kind, int gpu);
/* The object behind a handle, if it is one of this kind. */
struct fake_object *fake_get(void *handle, enum fake_kind kind);
void fake_delete(struct fake_object *object);

uint64_t fake_new_address(uint64_t bytes);
struct fake_range *fake_add_range(uint64_t address, uint64_t bytes, enum fake_memory memory, struct fake_object *of);
struct fake_range *fake_find_range(uint64_t address);
void fake_remove_range(struct fake_range *range);

/* The thread's context, or NULL; the device's default pool; the stream that a handle means. */
struct fake_object *fake_current(void);
struct fake_object *fake_default_pool(int gpu);
struct fake_object *fake_stream(void *handle);

/* As much as the device really takes. */
uint64_t fake_rounded(uint64_t bytes);

/* Begins a call: its name is noted, an injected fault is returned, and after a fork nothing works any more. */
cu_result fake_begin(const char *name);
#define BEGIN(name)                           \
    do {                                      \
        cu_result begun_ = fake_begin(#name); \
        if (begun_)                           \
            return begun_;                    \
    } while (0)
#define FAKE_EXPORT __attribute__((visibility("default")))
