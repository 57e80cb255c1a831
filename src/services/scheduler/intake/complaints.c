/* SPDX-License-Identifier: Apache-2.0 */
#include "services/scheduler/intake/complaints.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/vec.h"
#include "kube/events/events.h"
#include "objects/notes.h"
#include "services/scheduler/pace.h"

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

struct complaints {
    struct state *state;
    struct recorder *recorder;
    const struct pace *pace;
    const uint32_t *device_version;
    struct log *log;
    VEC(struct complaint) waiting;  // until we lead
};

struct complaints *complaints_new(struct state *state, struct recorder *recorder, const struct pace *pace,
                                  const uint32_t *device_version, struct log *log)
{
    struct complaints *complaints = xcalloc(1, sizeof *complaints);

    *complaints = (struct complaints){
        .state = state,
        .recorder = recorder,
        .pace = pace,
        .device_version = device_version,
        .log = log,
    };
    return complaints;
}

static void clear(struct complaints *complaints)
{
    vec_foreach (&complaints->waiting, complaint)
        free(complaint->text);
    vec_clear(&complaints->waiting);
}

void complaints_free(struct complaints *complaints)
{
    if (!complaints)
        return;
    clear(complaints);
    vec_done(&complaints->waiting);
    free(complaints);
}

static void record(struct complaints *complaints, const struct complaint *complaint)
{
    const struct kube_resource *resource = watch_resource(complaint->kind, *complaints->device_version);
    char api_version[128];

    if (!complaints->recorder)
        return;
    (void)snprintf(api_version, sizeof api_version, "%s%s%s", resource->group, *resource->group ? "/" : "",
                   resource->version);
    recorder_record(complaints->recorder, &(struct event){
                                              .api_version = api_version,
                                              .kind = resource->kind,
                                              .namespace = key_namespace(complaints->state, complaint->key),
                                              .name = key_name(complaints->state, complaint->key),
                                              .uid = state_name(complaints->state, complaint->uid),
                                              .type = "Warning",
                                              .reason = INVALID,
                                              .message = complaint->text,
                                          });
}

static void tell(struct complaints *complaints, enum watch_kind kind, const struct follow_event *event,
                 const char *text)
{
    struct complaint complaint = {
        .kind = kind,
        .key = key_put(complaints->state, event->namespace, event->name),
        .uid = name_put(complaints->state, event->uid),
        .text = xstrdup(text),
    };

    log_info(complaints->log, "invalid object",
             log_str("kind", watch_resource(kind, *complaints->device_version)->kind),
             log_str("namespace", event->namespace), log_str("name", event->name), log_str("problem", text));
    if (!pace_is_held(complaints->pace, HOLD_STANDBY)) {
        record(complaints, &complaint);
    } else if (complaints->waiting.len < COMPLAINTS_MAX) {
        vec_push(&complaints->waiting, complaint);
        return;
    }
    free(complaint.text);
}

void complaints_tell(struct complaints *complaints)
{
    vec_foreach (&complaints->waiting, complaint)
        record(complaints, complaint);
    clear(complaints);
}

void complaints_log(struct complaints *complaints, enum watch_kind kind, const struct follow_event *event,
                    const char *text)
{
    log_warn(complaints->log, "suspicious object",
             log_str("kind", watch_resource(kind, *complaints->device_version)->kind),
             log_str("namespace", event->namespace), log_str("name", event->name), log_str("problem", text));
}

void complain(struct complaints *complaints, enum watch_kind kind, const struct follow_event *event,
              const struct err *err, struct object_notes *notes)
{
    if (err->code < 0)
        tell(complaints, kind, event, err->text);
    if (notes->warnings.len == 0)
        return;
    vec_foreach (&notes->warnings, warning)
        tell(complaints, kind, event, *warning);
    object_notes_done(notes);
    object_notes_init(notes);
}
