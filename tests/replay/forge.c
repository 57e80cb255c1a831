/* SPDX-License-Identifier: Apache-2.0 */

/* Copies a segment of a journal with its first bind sent to another node: forge FROM TO NODE */
#include <stdio.h>
#include <stdlib.h>

#include "base/err.h"
#include "journal/record.h"
#include "journal/segment.h"

static void expect(int r, const struct err *err)
{
    if (r >= 0)
        return;
    (void)fprintf(stderr, "%s\n", err->text);
    exit(1);
}

static bool forge(struct record_cycle *cycle, const char *node)
{
    for (size_t i = 0; i < cycle->decision_count; i++) {
        /* The record is ours alone. */
        struct record_decision *decision = (struct record_decision *)(uintptr_t)&cycle->decisions[i];

        if (decision->kind == DECISION_BIND) {
            decision->node = node;
            return true;
        }
    }
    return false;
}

int main(int argc, char **argv)
{
    struct segment_reader *reader;
    struct segment_writer *writer;
    struct wire_bytes out = {0};
    struct arena arena;
    const uint8_t *bytes;
    struct err err;
    size_t len;
    bool is_forged = false;

    if (argc != 4)
        return 2;
    arena_init(&arena);
    expect(segment_open(argv[1], &reader, &err), &err);
    expect(segment_create(argv[2], segment_created(reader), &writer, &err), &err);
    while (segment_read(reader, &bytes, &len, &err) > 0) {
        struct wire_in in = {bytes, bytes + len, &arena, SIZE_MAX, false, segment_form(reader)};
        struct record record;

        vec_clear(&out);
        while (in.at < in.end && record_get(&in, &record)) {
            if (record.kind == RECORD_CYCLE && !is_forged)
                is_forged = forge(&record.cycle, argv[3]);
            record_put(&out, &record);
        }
        expect(segment_write(writer, out.items, out.len, &err), &err);
        arena_clear(&arena);
    }
    segment_reader_free(reader);
    segment_close(writer);
    vec_done(&out);
    arena_done(&arena);
    return !is_forged;
}
