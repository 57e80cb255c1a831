/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>
#include <yyjson.h>

#include "base/err.h"
#include "base/list.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/time.h"
#include "base/vec.h"
#include "engine/engine.h"
#include "kube/client/client.h"
#include "net/loop.h"
#include "services/scheduler/carry/carry.h"
#include "services/scheduler/carry/placements.h"
#include "services/scheduler/keys.h"
#include "services/scheduler/setup.h"

/* What a pod calls a claim, and the claim's own name. */
struct pod_claim_name {
    char *name;
    char *claim;
};

/* A bind that is under way, by the API server or by a BindRequest. */
struct carrying {
    struct carry *carry;
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
    struct kube_bind *bind;        // one of these is under way
    struct kube_certain *request;  // the BindRequest is being made
    struct kube_removal *removal;  // an older BindRequest is being deleted
    struct kube_call *call;        // something is being read
    struct list_link in_all;
};

struct carry {
    struct state *state;
    const struct setup *setup;
    struct loop *loop;
    struct log *log;
    struct kube_client *client;
    const uint32_t *device_version;
    struct placements *placements;
    struct setbacks *setbacks;
    struct writes *writes;
    struct report *report;
    struct observers *observers;
    struct traffic *traffic;
    const struct pace *pace;
    struct list all;  // binds under way
};

/* The decision is carried out, or is not and is taken back. Frees it. */
void carry_succeed(struct carrying *carrying);
void carry_fail(struct carrying *carrying, const struct err *err);

/* The server has not seen it: the pod is decided on again at once, as if nothing had been. */
void carry_take_back(struct carrying *carrying, const struct err *err);

/* The server may have done it: the pod keeps its place until that is certain. */
void carry_unknown(struct carrying *carrying, const struct err *err);

/* Whether a write of the bind may be made again; takes a struct carrying. */
enum kube_repeat carry_may_repeat(void *arg);

/* Has the binder do it: carry_request.c. */
void carry_request(struct carrying *carrying, const struct placement *placement, pod_id pod);

/* Are autoscalers to leave the pod alone, once it is bound? */
bool carry_is_lasting(const struct carry *carry, pod_id pod);

/* Has it claims that were given devices, or have to be? GPUs asked for as a resource may come from a device plugin. */
bool carry_has_claims(const struct state *state, const struct pod *pod);

/* Adds the devices of the pod's claims to the BindRequest, and calls `on_claims`. */
void carry_claims(struct carrying *carrying);

/* Adds those of GPUs that the pod asks for as a resource, if it was given any; `object` is the pod as it is written. */
int carry_extended(struct carrying *carrying, yyjson_val *object, struct err *err);

/* A new UUID of version 4. */
enum { CARRY_UUID_TEXT = 37 };
void carry_uuid(const struct carry *carry, char text[static CARRY_UUID_TEXT]);

/* An AllocationResult of the claim's devices on the pod's node; `request_of` says which request a device is for. */
typedef const char *(*device_request_fn)(const void *arg, uint32_t device);
void carry_allocation(struct carrying *carrying, yyjson_mut_val *allocation, const struct claim *claim,
                      device_request_fn request_of, const void *arg);

/*
 * Calls `on_room` when the pod's GPU is not kept for pods that have gone, which is at once in nearly every case; with NO_ID
 * when the pod has gone meanwhile, or has no place any more. Fails where the GPU stays kept.
 */
void carry_when_free(struct carrying *carrying, pod_id pod);
