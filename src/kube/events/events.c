/* SPDX-License-Identifier: Apache-2.0 */

/*
 * One write of an event is under way at a time. What repeats meanwhile only raises the count, and is written when that
 * write is over: under load an event is written less often, not later and later.
 */
#include "kube/events/events.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/list.h"
#include "base/mem.h"
#include "kube/client/verbs.h"
#include "kube/events/correlate_internal.h"
#include "kube/events/events_internal.h"

enum { WAITING_MAX = 1000 };

/* An event that is there on the server, or will be. */
struct entry {
    struct recorder *recorder;
    uint64_t key;
    struct event_text text;
    uint32_t count;
    nsec_t first;
    nsec_t last;
    struct kube_call *call;
    bool is_written;  // it exists
    bool is_dirty;    // has changed since it was written
    bool is_evicted;  // out of the table: freed when its write is over
    struct list_link of_recorder;
};

struct recorder {
    struct kube_client *client;
    char *component;
    char *instance;
    struct correlate correlate;
    struct recent recent;
    struct entry **by_slot;
    struct list entries;
    uint32_t waiting_max;
    uint32_t waiting;  // writes that are under way
    struct recorder_counts counts;
};

struct recorder *recorder_new(struct kube_client *client, const struct recorder_options *options)
{
    struct recorder *recorder = xcalloc(1, sizeof *recorder);

    recorder->client = client;
    recorder->component = xstrdup(options->component);
    recorder->instance = xstrdup(options->instance ? options->instance : "");
    recorder->waiting_max = options->waiting_max ? options->waiting_max : WAITING_MAX;
    recorder->by_slot = xcalloc(RECENT_MAX, sizeof(struct entry *));
    correlate_init(&recorder->correlate);
    recent_init(&recorder->recent, RECENT_MAX);
    return recorder;
}

static void entry_free(struct recorder *recorder, struct entry *entry)
{
    list_remove(&recorder->entries, &entry->of_recorder);
    kube_cancel(entry->call);
    event_text_done(&entry->text);
    free(entry);
}

void recorder_free(struct recorder *recorder)
{
    struct entry *entry;

    if (!recorder)
        return;
    while ((entry = list_first(&recorder->entries, struct entry, of_recorder)))
        entry_free(recorder, entry);
    correlate_done(&recorder->correlate);
    recent_done(&recorder->recent);
    free(recorder->by_slot);
    free(recorder->component);
    free(recorder->instance);
    free(recorder);
}

static void write_entry(struct entry *entry);

static void on_written(void *arg, const struct kube_answer *answer)
{
    struct entry *entry = arg;
    struct recorder *recorder = entry->recorder;

    entry->call = NULL;
    recorder->waiting--;
    if (answer->err.code == 0) {
        entry->is_written = true;
        recorder->counts.written++;
    } else if (answer->status == 404 && entry->is_written) {
        /* Events do not live long on the server: begin anew. A namespace that is gone fails again, and that is it. */
        entry->is_written = false;
        entry->is_dirty = true;
        event_text_rename(&entry->text, nsec_now_wall());
    } else {
        recorder->counts.failed++;
    }
    if (entry->is_dirty)
        write_entry(entry);
    else if (entry->is_evicted)
        entry_free(recorder, entry);
    else
        event_text_rest(&entry->text);
}

static void write_entry(struct entry *entry)
{
    struct recorder *recorder = entry->recorder;
    struct event_times times = {.count = entry->count, .first = entry->first, .last = entry->last};
    yyjson_mut_doc *doc = entry->is_written
                              ? event_patch_encode(&entry->text, &times)
                              : event_encode(&entry->text, &times, recorder->component, recorder->instance);

    entry->is_dirty = false;
    recorder->waiting++;
    entry->call = kube_send_doc(recorder->client,
                                &(struct kube_request){
                                    .verb = entry->is_written ? KUBE_PATCH_MERGE : KUBE_CREATE,
                                    .resource = kube_known(KUBE_EVENTS),
                                    .namespace = entry->text.event_namespace,
                                    .name = entry->is_written ? entry->text.event_name : NULL,
                                    .on_done = on_written,
                                    .arg = entry,
                                },
                                doc);
    yyjson_mut_doc_free(doc);
}

static struct entry *entry_new(struct recorder *recorder, uint64_t key, nsec_t now)
{
    struct entry *entry = xcalloc(1, sizeof *entry);

    entry->recorder = recorder;
    entry->key = key;
    entry->first = now;
    list_push(&recorder->entries, &entry->of_recorder);
    return entry;
}

static void evict(struct entry *entry)
{
    entry->is_evicted = true;
    if (!entry->call)
        entry_free(entry->recorder, entry);
}

void recorder_record(struct recorder *recorder, const struct event *event)
{
    nsec_t now = nsec_now_wall();
    uint64_t key = 0;
    bool is_new = false;
    enum correlate_result result = correlate_event(&recorder->correlate, event, nsec_now_monotonic(), &key);

    recorder->counts.recorded++;
    if (result == CORRELATE_QUIET) {
        recorder->counts.quieted++;
        return;
    }
    uint32_t slot = recent_use(&recorder->recent, key, &is_new);
    struct entry **at = &recorder->by_slot[slot];

    if (is_new) {
        if (*at)
            evict(*at);
        *at = entry_new(recorder, key, now);
    }
    struct entry *entry = *at;

    event_text_set(&entry->text, event, result == CORRELATE_COMBINED, now);
    entry->count++;
    entry->last = now;
    if (entry->call) {
        entry->is_dirty = true;
        recorder->counts.spared++;
    } else if (recorder->waiting >= recorder->waiting_max) {
        recorder->counts.failed++;
        event_text_rest(&entry->text);
    } else {
        write_entry(entry);
    }
}

struct recorder_counts recorder_counts(const struct recorder *recorder)
{
    return recorder->counts;
}

size_t recorder_waiting(const struct recorder *recorder)
{
    return recorder->waiting;
}
