/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/time.h"
#include "engine/engine.h"
#include "services/scheduler/keys.h"

struct scheduler;

/* A bind that is under way, by the API server or by a BindRequest. */
struct carrying {
    struct scheduler *s;
    object_key key;
    name_id uid;
    name_id node;
    struct decision decision;  // its ids are those of the cycle that made it
    nsec_t began;
    char *text;  // of the Scheduled event
    char *body;  // of the BindRequest
    struct kube_bind *bind;
    struct kube_call *call;
    struct carrying *prev, *next;
};

void carry_evictions_done(struct scheduler *s);
