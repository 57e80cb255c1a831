/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "services/scheduler/keys.h"

struct decision;
struct kube_client;
struct log;
struct loop;
struct observers;
struct placements;
struct report;
struct setbacks;
struct setup;
struct state;
struct traffic;
struct writes;

/*
 * Binds that the engine decided: sent to the API server where nothing has to be done before, made by a BindRequest
 * otherwise. A bind that fails is undone in the state and decided anew.
 */
struct carry;

/* What binds work with; all borrowed. */
struct carry_options {
    struct state *state;
    const struct setup *setup;
    struct loop *loop;
    struct log *log;
    struct kube_client *client;
    const uint32_t *device_version;  // of resource.k8s.io, for kube_known_of()
    struct placements *placements;
    struct setbacks *setbacks;
    struct writes *writes;
    struct report *report;
    struct observers *observers;
    struct traffic *traffic;
    const struct pace *pace;
};

struct carry *carry_new(const struct carry_options *options);
void carry_free(struct carry *carry);

/* The engine has put the pod on its node; `text` is that of its Scheduled event. */
void carry_bind(struct carry *carry, const struct decision *decision, const char *text);

/* Shared GPUs that decisions opened get their names. */
void carry_name_groups(struct carry *carry, const struct decision *decisions, size_t count);

/* Deletes BindRequests that failed, or whose node is gone. */
void carry_delete_stale(struct carry *carry);

/* Binds that have not been sent, be it for the limits on the client or because the server cannot be reached, are undone in
 * the state: the next cycle decides them again. */
void carry_take_back_unsent(struct carry *carry);

/* No bind is under way. */
bool carry_is_idle(const struct carry *carry);
