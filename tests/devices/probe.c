/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Allocates devices: a cluster a line on stdin, an answer a line on stdout, in the form of the program in
 * tests/devices/reference. The claims are those without an allocation, in the order of the line.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "engine/devices/allocate.h"
#include "model/delta.h"
#include "objects/kinds.h"
#include "objects/notes.h"
#include "objects/object.h"
#include "objects/reader.h"
#include "text/json.h"

enum { CLAIMS_MAX = 16, CAPACITIES_MAX = 32 };

static int read_objects(struct state *state, yyjson_val *objects, struct err *err)
{
    struct object_source source = {.name = "line"};
    struct object_notes notes;
    struct object_set set;
    struct object_options options;
    struct object_reader reader;
    size_t i, max;
    yyjson_val *object;
    int r = 0;

    object_notes_init(&notes);
    object_set_init(&set, &notes);
    object_options_init(&options);
    yyjson_arr_foreach(objects, i, max, object) if (r >= 0) r = object_set_add(&set, object, &source, err);
    object_reader_init(&reader, state, &options, &set, &notes);
    if (r >= 0)
        r = object_set_decode(&set, &reader, err);
    object_reader_done(&reader);
    object_set_done(&set);
    object_notes_done(&notes);
    state_settle(state);
    return r;
}

static void hold_device(const struct inventory *inventory, const struct claim *claim, const struct device *device,
                        struct bitset *held, struct share_book *shares)
{
    uint32_t number = device_number(inventory, device->driver, device->pool, device->name);

    if (number == NO_ID || device->is_admin)
        return;
    if (device->is_share)
        share_book_add(shares, number, claim->amounts ? claim->amounts + device->first_amount : NULL,
                       device->amount_count);
    else
        bitset_set(held, number);
}

static void hold(const struct state *state, const struct inventory *inventory, struct bitset *held,
                 struct share_book *shares)
{
    bitset_resize(held, inventory->device_count);
    vec_foreach (&state->claims, claim)
        for (uint32_t i = 0; claim->is_allocated && i < claim->device_count; i++)
            hold_device(inventory, claim, &claim->devices[i], held, shares);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct device_amount *)a)->name, ((const struct device_amount *)b)->name);
}

/* In thousandths, which is as fine as the cases have them. */
static void print_amounts(const struct pick *pick)
{
    struct device_amount amounts[CAPACITIES_MAX];
    uint32_t count = pick->is_share && pick->amount_count <= CAPACITIES_MAX ? pick->amount_count : 0;

    for (uint32_t i = 0; i < count; i++)
        amounts[i] = pick->amounts[i];
    if (count > 1)
        qsort(amounts, count, sizeof *amounts, by_name);
    printf("%s, {", pick->is_share ? "true" : "false");
    for (uint32_t i = 0; i < count; i++)
        printf("%s\"%s\": %lld", i > 0 ? ", " : "", amounts[i].name, (long long)(amount_nano(&amounts[i]) / 1000000));
    printf("}");
}

static void print_picks(const struct allocator *allocator)
{
    const struct state *state = allocator->state;

    printf("{\"ok\": true, \"results\": [");
    for (uint32_t i = 0; i < allocator->picks.len; i++) {
        const struct pick *pick = &allocator->picks.items[i];

        printf("%s[%u, \"%s\", \"%s\", \"%s\", \"%s\", ", i > 0 ? ", " : "", pick->claim, pick->ask->full_name,
               pick->driver, state_name(state, slice_pool_name(state, pick->slice)),
               state_name(state, pick->slice->devices[pick->device]));
        print_amounts(pick);
        printf("]");
    }
    printf("]}\n");
}

static void answer(yyjson_val *line)
{
    const struct claim *claims[CLAIMS_MAX];
    struct state *state = state_new();
    struct inventory inventory = {0};
    struct allocator allocator = {.inventory = &inventory, .state = state};
    struct bitset held = {0};
    struct share_book shares = {0};
    struct err err = {0};
    uint32_t count = 0;

    if (read_objects(state, yyjson_obj_get(line, "objects"), &err) < 0) {
        fprintf(stderr, "%s\n", err.text);
        exit(1);
    }
    inventory_refresh(&inventory, state);
    hold(state, &inventory, &held, &shares);
    allocator.held = &held;
    allocator.shares = &shares;
    /* Claims keep the order in which they were read. */
    vec_foreach (&state->claims, claim)
        if (claim->is_present && !claim->is_allocated && count < CLAIMS_MAX)
            claims[count++] = claim;
    node_id node = state_find_node(state, yyjson_get_str(yyjson_obj_get(line, "node")));
    if (allocator_find(&allocator, node, claims, count))
        print_picks(&allocator);
    else
        printf("{\"ok\": false}\n");
    allocator_done(&allocator);
    inventory_done(&inventory);
    bitset_done(&held);
    share_book_done(&shares);
    state_free(state);
}

int main(void)
{
    char *line = NULL;
    size_t cap = 0;
    ssize_t len;

    while ((len = getline(&line, &cap, stdin)) > 0) {
        yyjson_doc *doc = yyjson_read(line, (size_t)len, 0);

        if (!doc)
            return 1;
        answer(yyjson_doc_get_root(doc));
        yyjson_doc_free(doc);
    }
    free(line);
    return 0;
}
