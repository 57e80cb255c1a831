/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <yyjson.h>

#include "base/macros.h"
#include "base/time.h"
#include "base/vec.h"

struct err;

/* A BindRequest: what the scheduler has decided about a pod. Kept as long as the object is there. */
enum request_phase { REQUEST_ACTIVE, REQUEST_SUCCEEDED, REQUEST_FAILED };

struct request_groups VEC_OF(char *);

struct request {
    char *namespace;
    char *name;
    char *uid;
    char *pod;
    char *pod_uid;  // of its owner; "" when it has none
    char *node;
    char *type;     // "Regular", "Fraction", "MigInstance"
    char *portion;  // of each device, "0.50"
    struct request_groups groups;
    int64_t backoff_limit;  // negative: none
    int64_t failed_attempts;
    enum request_phase phase;
    uint64_t version;
    bool is_lasting;  // its pod is to be left alone by autoscalers
    /* What only some have: resourceClaimAllocations, extendedResourceClaimAllocation, predictedNUMAZones. NULL: none. */
    yyjson_mut_doc *plan;
};

/* Reads an object. Unknown members are left alone, missing ones are empty. Returns NULL for what has no name. */
struct request *request_new(yyjson_val *object);
void request_free(struct request *request);

bool request_is_fraction(const struct request *request);

/* Cannot be carried out by anybody: a part of a GPU without saying of which. */
bool request_is_corrupt(const struct request *request);

bool request_has_group(const struct request *request, const char *group);

/* A member of the plan, NULL when it is not there. */
yyjson_mut_val *request_plan(const struct request *request, const char *key);

/* What becomes of a request after an attempt. */
struct request_outcome {
    enum request_phase phase;
    int64_t failed_attempts;
    nsec_t retry_after;  // 0: it is not tried again
};

/* Pure, so that it can be tested as a table. */
struct request_outcome request_outcome_of(bool has_failed, int64_t backoff_limit, int64_t failed_attempts);

/* How long until a request that failed before we were there is tried again; 0: never. */
nsec_t request_retry_after(const struct request *request);
