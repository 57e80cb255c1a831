/* SPDX-License-Identifier: Apache-2.0 */
#include "services/scheduler/intake/complain.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "services/scheduler/context.h"

/* The reason of such events. */
#define INVALID "Invalid"

/* Complaints of the time before we lead, such as those about everything that was there at the start. */
enum { COMPLAINTS_MAX = 1000 };

struct complaint {
    enum watch_kind kind;
    object_key key;
    name_id uid;
    char *text;
};

static void record(struct scheduler *s, const struct complaint *complaint)
{
    const struct kube_resource *resource = watch_resource(s, complaint->kind);
    char api_version[128];

    (void)snprintf(api_version, sizeof api_version, "%s%s%s", resource->group, *resource->group ? "/" : "",
                   resource->version);
    recorder_record(s->recorder, &(struct event){
                                     .api_version = api_version,
                                     .kind = resource->kind,
                                     .namespace = key_namespace(s->state, complaint->key),
                                     .name = key_name(s->state, complaint->key),
                                     .uid = state_name(s->state, complaint->uid),
                                     .type = "Warning",
                                     .reason = INVALID,
                                     .message = complaint->text,
                                 });
}

static void tell(struct scheduler *s, enum watch_kind kind, const struct follow_event *event, const char *text)
{
    struct complaint complaint = {
        .kind = kind,
        .key = key_put(s->state, event->namespace, event->name),
        .uid = name_put(s->state, event->uid),
        .text = xstrdup(text),
    };

    log_info(s->log, "object makes no sense", log_str("kind", watch_resource(s, kind)->kind),
             log_str("namespace", event->namespace), log_str("name", event->name), log_str("problem", text));
    if (s->is_leading) {
        record(s, &complaint);
    } else if (s->complaints.len < COMPLAINTS_MAX) {
        struct complaint *kept = xmalloc(sizeof *kept);

        *kept = complaint;
        vec_push(&s->complaints, kept);
        return;
    }
    free(complaint.text);
}

void complaints_tell(struct scheduler *s)
{
    vec_foreach (&s->complaints, complaint)
        record(s, *complaint);
    complaints_done(s);
}

void complaints_done(struct scheduler *s)
{
    vec_foreach (&s->complaints, complaint) {
        free((*complaint)->text);
        free(*complaint);
    }
    vec_done(&s->complaints);
}

void complain(struct scheduler *s, enum watch_kind kind, const struct follow_event *event, const struct err *err)
{
    if (err->code < 0)
        tell(s, kind, event, err->text);
    if (s->notes.warnings.len == 0)
        return;
    vec_foreach (&s->notes.warnings, warning)
        tell(s, kind, event, *warning);
    object_notes_done(&s->notes);
    object_notes_init(&s->notes);
}
