/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <yyjson.h>

#include "services/scheduler/keys.h"

struct decision;
struct scheduler;

/*
 * What the cluster is told of the engine's verdicts: conditions of pods, scheduling conditions of PodGroups, events. A
 * gang is explained when its verdict has changed, or after a while; when there are many, a part of them each cycle.
 */

/* Explains what waits. The engine is open, after its last action. Whether some are left for the next cycle. */
bool report_waiting(struct scheduler *s, nsec_t now);

/* Gangs of which nothing waits any more lose their scheduling conditions. */
void report_gangs(struct scheduler *s);

/* The gang is gone, or was placed: what comes next about it is news. */
void report_forget(struct scheduler *s, object_key gang);

/* What the pod's object has as its PodScheduled condition. */
void report_note_condition(struct scheduler *s, object_key pod, yyjson_val *object);

/* Has the pod's condition set: PodScheduled False, with the reason and the text. Nothing when it has it. */
void report_condition(struct scheduler *s, object_key pod, const char *reason, const char *message);

/* Events about a pod or its gang, written after binds. `notes` are annotations. */
struct event_note;
void report_pod_event(struct scheduler *s, object_key pod, name_id uid, const char *type, const char *reason,
                      const char *message);
void report_gang_event(struct scheduler *s, gang_id gang, const char *reason, const char *message,
                       const struct event_note *notes, size_t note_count);

/* We stop, for so long already: whether events that waited have been handed on, or will not be any more. */
bool report_is_over(struct scheduler *s, nsec_t stopping_for);

void report_init(struct scheduler *s);
void report_done(struct scheduler *s);
