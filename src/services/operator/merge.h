/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>
#include <yyjson.h>

#include "services/operator/desired.h"

/*
 * What is there and what should be, put together. What the operator sets is exactly as desired afterwards: additions of
 * others to it are gone. What belongs to others stays: their labels, annotations and owners, the annotations that
 * `kubectl rollout restart` puts on pods, addresses of Services, and of webhooks the CA, the timeout, the match policy
 * and selectors that clouds add.
 */

/* The object that owns all of the desired ones. */
struct merge_owner {
    const char *api_version;
    const char *kind;
    const char *name;
    const char *uid;
};

/* Changes `live`, the root of `doc`, into what should be there. */
void merge_into(yyjson_mut_doc *doc, yyjson_mut_val *live, enum owned_kind kind, yyjson_mut_val *wanted,
                const struct merge_owner *owner);

/* The object to create where there is none; to be freed with yyjson_mut_doc_free(). */
yyjson_mut_doc *merge_new(yyjson_mut_val *wanted, const struct merge_owner *owner);

/* The same while nothing of an object changes but its status and the server's notes about it. */
uint64_t digest_live(yyjson_val *object);
uint64_t digest_wanted(yyjson_mut_val *object);
