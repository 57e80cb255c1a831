/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <yyjson.h>

#include "services/scheduler/intake/kinds.h"
#include "services/scheduler/keys.h"

/*
 * Objects that are read for the sake of others: a node's NUMA zones, a claim's volume and class, the labels of
 * namespaces. Of each only the members that its row in kinds.c names are kept, as text. Claims on volumes are kept as well, to be read again when
 * their volume or class changes.
 */
struct beside;

struct beside *beside_new(void);
void beside_free(struct beside *beside);

/* Keeps what counts of the object. Whether that differs from what was kept before. */
bool beside_put(struct beside *beside, enum watch_kind kind, object_key key, yyjson_val *object);

/* Whether it was there. */
bool beside_drop(struct beside *beside, enum watch_kind kind, object_key key);

/* The object as it was kept, to be freed by the caller; NULL when there is none. */
yyjson_doc *beside_get(const struct beside *beside, enum watch_kind kind, object_key key);

/* Walks over all of a kind, as map64_next() does. */
bool beside_next(const struct beside *beside, enum watch_kind kind, size_t *cursor, object_key *ret_key,
                 yyjson_doc **ret_doc);

size_t beside_len(const struct beside *beside, enum watch_kind kind);
