/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>
#include <yyjson.h>

#include "base/mem.h"
#include "base/time.h"
#include "base/vec.h"
#include "engine/engine.h"
#include "services/scheduler/keys.h"

struct err;
struct scheduler;

/* What a pod calls a claim, and the claim's own name. */
struct pod_claim_name {
    char *name;
    char *claim;
};

/* A bind that is under way, by the API server or by a BindRequest. */
struct carrying {
    struct scheduler *s;
    object_key key;
    name_id uid;
    name_id node;
    struct decision decision;  // its ids are those of the cycle that made it
    nsec_t began;
    char *text;           // of the Scheduled event
    yyjson_mut_doc *doc;  // the BindRequest
    bool has_claims;
    VEC(struct pod_claim_name) claims;
    uint32_t next_claim;  // to be read
    void (*on_claims)(struct carrying *carrying, const struct err *err);
    struct kube_bind *bind;
    struct kube_call *call;
    struct carrying *prev, *next;
};

/* Adds the devices of the pod's claims to the BindRequest, and calls `on_claims`. */
void carry_claims(struct carrying *carrying);

void carry_evictions_done(struct scheduler *s);
