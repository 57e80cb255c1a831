/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <yyjson.h>

#include "base/intern.h"
#include "base/map.h"
#include "base/vec.h"
#include "text/quantity.h"

/*
 * ResourceLists of the API ("cpu": "1500m", "memory": "2Gi") for those who add them up: exact, and each different list
 * kept once. Most pods of a cluster ask for the same few lists, so that a pod costs a pointer.
 *
 * A list never changes; it is counted, and goes with its last user. NULL is the empty list, and may be passed for any.
 */
struct resource_list;

struct resource_lists {
    struct intern names;
    struct map64 by_hash;  // -> struct resource_list *, chained
};

void resource_lists_init(struct resource_lists *lists);

/* All lists have been given back. */
void resource_lists_done(struct resource_lists *lists);

const struct resource_list *resource_list_ref(const struct resource_list *list);
void resource_list_unref(struct resource_lists *lists, const struct resource_list *list);

/* Whether both have the same resources with the same amounts, however they were written. */
bool resource_list_is_equal(const struct resource_list *one, const struct resource_list *other);

/* The amount of a resource; whether it is there. */
bool resource_list_get(const struct resource_lists *lists, const struct resource_list *list, const char *name,
                       struct quantity *ret_amount);

/* The first resource, by name, whose name ends with `suffix`; whether there is one. */
bool resource_list_get_suffix(const struct resource_lists *lists, const struct resource_list *list, const char *suffix,
                              struct quantity *ret_amount);

/*
 * The resource list at `at`. An amount that is no quantity, or is negative, is kept as one that is equal to no other and
 * counts nothing, so that whoever owns the list writes it anew; `*ret_odd` (may be NULL) is the name of the last of them.
 */
const struct resource_list *resource_list_read(struct resource_lists *lists, yyjson_val *at, const char **ret_odd);

/*
 * What turns `from` into `to` as a merge patch (RFC 7386): resources that are new or have changed, and null for those that
 * are gone; null for all when `to` is empty. NULL when they are equal. Names are copied into `doc`.
 */
yyjson_mut_val *resource_list_patch(const struct resource_lists *lists, const struct resource_list *from,
                                    const struct resource_list *to, yyjson_mut_doc *doc);

/* A sum of lists, from which lists can be taken away again. All zeros is the empty sum. */
struct resource_total {
    quantity_nano nano;
    uint32_t name;
    uint32_t addends;  // lists that have the resource; at 0 it is not in the sum
    uint32_t binary;   // of them, those that write it with binary suffixes
};

struct resource_sum {
    VEC(struct resource_total) totals;
};

void resource_sum_done(struct resource_sum *sum);
void resource_sum_clear(struct resource_sum *sum);
void resource_sum_add(struct resource_sum *sum, const struct resource_list *list);
void resource_sum_subtract(struct resource_sum *sum, const struct resource_list *list);  // that was added
void resource_sum_add_all(struct resource_sum *sum, const struct resource_sum *other);
void resource_sum_add_one(struct resource_lists *lists, struct resource_sum *sum, const char *name,
                          struct quantity amount);

/* The sum as a list, to be given back. */
const struct resource_list *resource_sum_list(struct resource_lists *lists, const struct resource_sum *sum);
