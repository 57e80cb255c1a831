/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>
#include <yyjson.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/time.h"
#include "base/vec.h"
#include "engine/engine.h"
#include "net/loop.h"
#include "services/scheduler/keys.h"

struct placement;
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
    struct loop_timer look;  // runs while the bind waits for a GPU that is being given back
    void (*on_room)(struct carrying *carrying, pod_id pod);
    struct kube_bind *bind;
    struct kube_call *call;
    struct err refused;  // why a BindRequest may not have been made, while we look
    struct carrying *prev, *next;
};

/* The decision is carried out, or is not and is taken back. Frees it. */
void carry_succeed(struct carrying *carrying);
void carry_fail(struct carrying *carrying, const struct err *err);

/* Has the binder do it: carry_request.c. */
void carry_request(struct carrying *carrying, const struct placement *placement, pod_id pod);

/* Adds the devices of the pod's claims to the BindRequest, and calls `on_claims`. */
void carry_claims(struct carrying *carrying);

/*
 * Calls `on_room` when no GPU of the pod's node is kept for pods that have gone, which is at once in nearly every case;
 * with NO_ID when the pod has gone meanwhile, or has no place any more.
 */
void carry_when_free(struct carrying *carrying, pod_id pod);

void carry_evictions_done(struct scheduler *s);
