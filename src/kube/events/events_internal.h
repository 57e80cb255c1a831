/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <yyjson.h>

#include "base/time.h"
#include "kube/events/events.h"

/* The texts of an event, kept while it is written. All zeros is none. */
struct event_text {
    char *event_name;
    char *event_namespace;
    char *api_version;
    char *kind;
    char *namespace;
    char *name;
    char *uid;
    char *resource_version;  // may be NULL
    char *type;
    char *reason;
    char *message;
    yyjson_mut_doc *notes;  // an object; NULL: none
};

void event_text_done(struct event_text *text);

/* Takes the texts of an event; it is named when that is the first one. Afterwards only what may differ is taken. */
void event_text_set(struct event_text *text, const struct event *event, bool is_combined, nsec_t now);

/* Only the event's own name is kept until the texts are set again: there may be thousands that are never written again. */
void event_text_rest(struct event_text *text);

/* Another name, for writing it anew. */
void event_text_rename(struct event_text *text, nsec_t now);

struct event_times {
    uint32_t count;
    nsec_t first;
    nsec_t last;
};

/* The Event, and the patch that brings it up to date; to be freed by the caller, before the texts change. */
yyjson_mut_doc *event_encode(const struct event_text *text, const struct event_times *times, const char *component,
                             const char *instance);
yyjson_mut_doc *event_patch_encode(const struct event_text *text, const struct event_times *times);
