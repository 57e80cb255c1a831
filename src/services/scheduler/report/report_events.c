/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Events are for people; they wait while pods are on their way. What waits is bounded, and handed to the recorder a few at
 * a time: first what tells of trouble, which somebody looks for, then that pods go where they should, which are many.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "kube/events/events.h"
#include "services/scheduler/carry/traffic.h"
#include "services/scheduler/pace.h"
#include "services/scheduler/report/gang_notes.h"
#include "services/scheduler/report/report.h"
#include "services/scheduler/report/report_internal.h"

enum { EVENTS_MAX = 20000, NOTES_MAX = 4 };

/* The recorder does not tell when it has written one. */
#define LOOK_AGAIN (10 * NSEC_PER_MSEC)

/* Another scheduler may wait for us to end. */
#define STOP_PATIENCE (1 * NSEC_PER_SEC)

struct kept_note {
    const char *key;
    char *value;
};

struct kept_event {
    struct list_link in_list;
    bool is_gang;
    object_key key;
    name_id uid;
    const char *type;  // these two are ours and stay
    const char *reason;
    char *message;
    struct kept_note *notes;  // of few: most events have none
    size_t note_count;
    nsec_t since;
};

static void kept_free(struct kept_event *kept)
{
    for (size_t i = 0; i < kept->note_count; i++)
        free(kept->notes[i].value);
    free(kept->notes);
    free(kept->message);
    free(kept);
}

static void record(struct report *report, const struct kept_event *kept)
{
    struct event_note notes[NOTES_MAX];

    for (size_t i = 0; i < kept->note_count; i++)
        notes[i] = (struct event_note){kept->notes[i].key, kept->notes[i].value};
    recorder_record(report->recorder, &(struct event){
                                          .api_version = kept->is_gang ? "scheduling.run.ai/v2alpha2" : "v1",
                                          .kind = kept->is_gang ? "PodGroup" : "Pod",
                                          .namespace = key_namespace(report->state, kept->key),
                                          .name = key_name(report->state, kept->key),
                                          .uid = state_name(report->state, kept->uid),
                                          .type = kept->type,
                                          .reason = kept->reason,
                                          .message = kept->message,
                                          .notes = notes,
                                          .note_count = kept->note_count,
                                      });
}

static struct list *next_list(struct report *report)
{
    return report->events_of_trouble.len > 0 ? &report->events_of_trouble : &report->events_of_course;
}

static void on_events(void *arg)
{
    struct report *report = arg;
    nsec_t now = nsec_now_monotonic();

    for (struct list *list; (list = next_list(report))->len > 0;) {
        struct kept_event *kept = list_first(list, struct kept_event, in_list);
        /* When we stop, nothing is on its way any more. */
        nsec_t since = pace_is_held(report->pace, HOLD_STOPPING) ? now - RUSH_LONGEST : kept->since;
        nsec_t wait = rush_wait(&report->traffic->rush, now, since, (uint32_t)recorder_waiting(report->recorder));

        if (wait > 0) {
            loop_timer_start(&report->events_timer, MIN(wait, LOOK_AGAIN));
            return;
        }
        list_remove(list, &kept->in_list);
        record(report, kept);
        kept_free(kept);
    }
}

static struct kept_event *keep(struct report *report, struct list *list, object_key key, name_id uid, const char *type,
                               const char *reason, const char *message)
{
    if (list->len >= EVENTS_MAX || report->traffic->is_silent)
        return NULL;
    struct kept_event *kept = xcalloc(1, sizeof *kept);
    *kept = (struct kept_event){
        .key = key,
        .uid = uid,
        .type = type,
        .reason = reason,
        .message = xstrdup(message),
        .since = nsec_now_monotonic(),
    };
    list_push(list, &kept->in_list);
    if (!loop_timer_is_running(&report->events_timer))
        loop_timer_start(&report->events_timer, LOOK_AGAIN);
    return kept;
}

void report_pod_event(struct report *report, object_key pod, name_id uid, const char *type, const char *reason,
                      const char *message)
{
    bool is_trouble = strcmp(type, "Normal") != 0;

    (void)keep(report, is_trouble ? &report->events_of_trouble : &report->events_of_course, pod, uid, type, reason,
               message);
}

void report_gang_event(struct report *report, gang_id id, const char *reason, const char *message,
                       const struct event_note *notes, size_t note_count)
{
    const struct gang *gang = &report->state->gangs.items[id];
    object_key key = key_of(gang->namespace, gang->name);
    const struct gang_note *note = gang_note_find(report->gang_notes, key);
    /* Of gangs there is only trouble to tell, though none of it is a warning. */
    struct kept_event *kept =
        note ? keep(report, &report->events_of_trouble, key, note->uid, "Normal", reason, message) : NULL;

    if (!kept)
        return;
    kept->is_gang = true;
    kept->note_count = MIN(note_count, (size_t)NOTES_MAX);
    kept->notes = kept->note_count ? xcalloc(kept->note_count, sizeof *kept->notes) : NULL;
    for (size_t i = 0; i < kept->note_count; i++)
        kept->notes[i] = (struct kept_note){notes[i].key, xstrdup(notes[i].value)};
}

bool report_is_over(struct report *report, nsec_t stopping_for)
{
    if (next_list(report)->len > 0 && stopping_for < STOP_PATIENCE)
        return false;
    loop_timer_stop(&report->events_timer);
    return true;
}

void report_events_init(struct report *report, struct loop *loop)
{
    loop_timer_init(&report->events_timer, loop, on_events, report);
}

static void free_events(struct list *list)
{
    struct list_link *next;

    for (struct list_link *link = list->first; link; link = next) {
        next = link->next;
        kept_free(list_item(link, struct kept_event, in_list));
    }
    *list = (struct list){0};
}

void report_events_done(struct report *report)
{
    loop_timer_done(&report->events_timer);
    free_events(&report->events_of_trouble);
    free_events(&report->events_of_course);
}
