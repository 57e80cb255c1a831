/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "engine/reasons/explain.h"
#include "model/ids.h"

struct decision;
struct engine;
struct state;
struct strbuf;

/*
 * KAI's texts for events and conditions, rendered from explanations and decisions. People and tools match on the wording,
 * so that it is the same to the byte; what is counted differs in one point: a node counts once, not once for each attempt
 * of the cycle.
 */
struct verdict_text {
    struct engine *engine;
    const struct explanation *explanation;
    const char *node_pool;  // NULL: "default"
    bool names_pool;        // the gang is tried in several pools in turn: the text says which one this is about
    bool is_detailed;       // node by node, domain by domain
};

/* Event Unschedulable and condition PodScheduled of a waiting pod of the explained gang. */
void verdict_text_pod(const struct verdict_text *text, pod_id pod, struct strbuf *out);

/* Event Unschedulable and scheduling condition of the explained gang. */
void verdict_text_gang(const struct verdict_text *text, struct strbuf *out);

/* Event NotReady: too few of the gang's pods exist. */
void verdict_text_not_ready(const struct engine *engine, gang_id id, struct strbuf *out);

/* Event StaleJob: too few of its pods are left. */
void verdict_text_stale(const struct engine *engine, gang_id id, struct strbuf *out);

/* Condition of a pod that names a pod set that its gang does not have. */
void verdict_text_stray(const struct engine *engine, pod_id pod, const char *pod_set, struct strbuf *out);

/* Events Scheduled, Pipelined and Evict: what was decided about a pod. */
/* The pod goes to that node: KAI's words for its Scheduled event. */
void verdict_text_assigned(const struct state *state, pod_id pod, const char *node, const char *node_pool,
                           struct strbuf *out);

void verdict_text_decision(const struct engine *engine, const struct decision *decision, const char *node_pool,
                           struct strbuf *out);
