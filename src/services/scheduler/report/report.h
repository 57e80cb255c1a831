/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <yyjson.h>

#include "services/scheduler/keys.h"

struct decision;
struct engine;
struct event_note;
struct gang_notes;
struct loop;
struct pace;
struct pod_notes;
struct recorder;
struct setup;
struct state;
struct traffic;
struct writes;

/*
 * What the cluster is told of the engine's verdicts: conditions of pods, scheduling conditions of PodGroups, events. A
 * gang is explained when its verdict has changed, or after a while; when there are many, a part of them each cycle.
 */
struct report;

/* What reports are made with; all borrowed. */
struct report_options {
    struct state *state;
    struct engine *engine;
    const struct setup *setup;
    struct loop *loop;
    struct recorder *recorder;
    struct writes *writes;
    struct pod_notes *pod_notes;
    struct gang_notes *gang_notes;
    const struct pace *pace;
    struct traffic *traffic;
};

struct report *report_new(const struct report_options *options);
void report_free(struct report *report);

/* Explains what waits. The engine is open, after its last action. Whether some are left for the next cycle. */
bool report_waiting(struct report *report, nsec_t now);

/* Gangs of which nothing waits any more lose their scheduling conditions. */
void report_gangs(struct report *report);

/* The gang is gone, or was placed: what comes next about it is news. */
void report_forget(struct report *report, object_key gang);

/* The same for a pod. A condition of it that has not been written yet is not written any more. */
void report_forget_pod(struct report *report, object_key pod);

/* What the pod's object has as its PodScheduled condition. */
void report_note_condition(struct report *report, object_key pod, yyjson_val *object);

/* Has the pod's condition set: PodScheduled False, with the reason and the text. Nothing when it has it. */
void report_condition(struct report *report, object_key pod, const char *reason, const char *message);

/* Events about a pod or its gang, written after binds. `notes` are annotations. */
void report_pod_event(struct report *report, object_key pod, name_id uid, const char *type, const char *reason,
                      const char *message);
/* The pod is on its node, by our own bind: Scheduled, with the text, and what the binder would say where that is wanted. */
void report_bound(struct report *report, object_key pod, name_id uid, const char *text, const char *node);

void report_gang_event(struct report *report, gang_id gang, const char *reason, const char *message,
                       const struct event_note *notes, size_t note_count);

/* The pod was promised its node. A promise is made again in every cycle until it is kept; it is told once for each node. */
void report_promise(struct report *report, const struct decision *decision, const char *text);

/* We stop, for so long already: whether events that waited have been handed on, or will not be any more. */
bool report_is_over(struct report *report, nsec_t stopping_for);
