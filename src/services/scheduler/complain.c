/* SPDX-License-Identifier: Apache-2.0 */
#include "services/scheduler/complain.h"

#include <stdio.h>

#include "base/err.h"
#include "services/scheduler/scheduler_internal.h"

/* The reason of such events. */
#define INVALID "Invalid"

static void tell(struct scheduler *s, enum watch_kind kind, const struct follow_event *event, const char *text)
{
    const struct kube_resource *resource = watch_resource(kind);
    char api_version[128];

    (void)snprintf(api_version, sizeof api_version, "%s%s%s", resource->group, *resource->group ? "/" : "",
                   resource->version);
    log_info(s->log, "object makes no sense", log_str("kind", resource->kind), log_str("namespace", event->namespace),
             log_str("name", event->name), log_str("problem", text));
    if (!s->is_leading)
        return;
    recorder_record(s->recorder, &(struct event){
                                     .api_version = api_version,
                                     .kind = resource->kind,
                                     .namespace = event->namespace,
                                     .name = event->name,
                                     .uid = event->uid,
                                     .type = "Warning",
                                     .reason = INVALID,
                                     .message = text,
                                 });
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
