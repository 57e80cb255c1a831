/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Bytes as the records of a journal, in each of their forms: whatever is accepted goes into a state, and comes out as the same bytes again; and
 * as a whole segment, which has to be refused or cut short.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/err.h"
#include "fuzz.h"
#include "journal/record.h"
#include "journal/segment.h"
#include "model/state.h"

enum { MEMORY_MAX = 64 << 20 };

/* Numbers may be written longer than need be; once read and written, they stay as they are. */
static void check_again(const struct record *record, struct arena *arena)
{
    struct wire_bytes once = {0};
    struct wire_bytes twice = {0};
    struct record again;

    record_put(&once, record);
    struct wire_in in = {once.items, once.items + once.len, arena, MEMORY_MAX, false, RECORD_FORM};
    if (!record_get(&in, &again) || in.at != in.end)
        abort();
    record_put(&twice, &again);
    if (once.len != twice.len || memcmp(once.items, twice.items, once.len) != 0)
        abort();
    vec_done(&once);
    vec_done(&twice);
}

static void read_records(const uint8_t *data, size_t size, uint32_t form)
{
    struct state *state = state_new();
    struct arena arena;
    struct record record;

    arena_init(&arena);
    struct wire_in in = {data, data + size, &arena, MEMORY_MAX, false, form};
    while (in.at < in.end && record_get(&in, &record)) {
        check_again(&record, &arena);
        if (record.kind == RECORD_DELTA && state_apply(state, &record.delta, NULL) < 0)
            break;
    }
    state_settle(state);
    arena_done(&arena);
    state_free(state);
}

static void read_segment(const uint8_t *data, size_t size)
{
    int fd = memfd_create("segment", MFD_CLOEXEC);
    struct segment_reader *reader = NULL;
    const uint8_t *bytes;
    char path[64];
    size_t len;

    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (segment_open(path, &reader, NULL) == 0)
        while (segment_read(reader, &bytes, &len, NULL) > 0)
            read_records(bytes, len, segment_form(reader));
    segment_reader_free(reader);
    (void)close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    for (uint32_t form = 1; form <= RECORD_FORM; form++)
        read_records(data, size, form);
    read_segment(data, size);
    return 0;
}
