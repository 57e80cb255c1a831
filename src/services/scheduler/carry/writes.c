/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Lists in the order of arrival and an index by object. An object that is being written and changes again meanwhile is
 * written once more when that is over. Times of gangs are for whoever starts after us, and have a list of their own, which
 * waits while pods are on their way; the others say why a pod has to wait, and go before binds after a moment.
 */
#include "services/scheduler/carry/writes.h"

#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "base/map.h"
#include "base/mem.h"
#include "model/state.h"
#include "net/loop.h"
#include "services/scheduler/carry/traffic.h"

/* After so long a write goes before binds as well: whoever waits wants to know. */
#define PATIENCE (2 * NSEC_PER_SEC)

struct entry {
    struct writes *writes;
    enum write_kind kind;
    object_key key;
    enum kube_verb verb;
    const struct kube_resource *resource;
    const char *subresource;
    int (*change)(yyjson_val *wanted, yyjson_mut_doc *doc, yyjson_mut_val *object);
    void (*on_failed)(void *arg, object_key key);
    void *arg;
    char *body;      // of the next write; NULL: none wanted
    char *sent;      // of the one under way
    nsec_t since;    // that it waits
    bool is_queued;  // in the list
    struct kube_call *call;
    struct kube_modify *modify;
    struct list_link in_list;
};

struct waiting {
    struct list entries;
    uint32_t under_way;
};

struct writes {
    const struct state *state;
    struct kube_client *client;
    struct traffic *traffic;
    uint32_t at_once;
    struct map64 by_key[_WRITE_KIND_MAX];
    struct waiting news, times;
    struct loop_timer timer;  // for the times
};

static struct waiting *list_of(struct writes *writes, const struct entry *entry)
{
    return entry->kind == WRITE_GANG_TIMES || entry->kind == WRITE_POD_BOUND ? &writes->times : &writes->news;
}

static void on_timer(void *arg)
{
    writes_pump(arg);
}

struct writes *writes_new(const struct state *state, struct kube_client *client, struct loop *loop,
                          struct traffic *traffic, uint32_t at_once)
{
    struct writes *writes = xcalloc(1, sizeof *writes);

    *writes = (struct writes){.state = state, .client = client, .traffic = traffic, .at_once = at_once};
    loop_timer_init(&writes->timer, loop, on_timer, writes);
    return writes;
}

static void entry_free(struct entry *entry)
{
    free(entry->body);
    free(entry->sent);
    free(entry);
}

void writes_free(struct writes *writes)
{
    if (!writes)
        return;
    for (int kind = 0; kind < _WRITE_KIND_MAX; kind++) {
        uint64_t key, value;

        for (size_t cursor = 0; map64_next(&writes->by_key[kind], &cursor, &key, &value);) {
            struct entry *entry = (struct entry *)(uintptr_t)value;

            kube_cancel(entry->call);
            kube_modify_cancel(entry->modify);
            entry_free(entry);
        }
        map64_done(&writes->by_key[kind]);
    }
    loop_timer_done(&writes->timer);
    free(writes);
}

static struct entry *entry_find(const struct writes *writes, enum write_kind kind, object_key key)
{
    uint64_t value = 0;

    return map64_get(&writes->by_key[kind], key, &value) ? (struct entry *)(uintptr_t)value : NULL;
}

static void enqueue(struct writes *writes, struct entry *entry)
{
    entry->is_queued = true;
    entry->since = nsec_now_monotonic();
    list_push(&list_of(writes, entry)->entries, &entry->in_list);
}

static void dequeue(struct writes *writes, struct entry *entry)
{
    if (!entry->is_queued)
        return;
    entry->is_queued = false;
    list_remove(&list_of(writes, entry)->entries, &entry->in_list);
}

static void forget(struct writes *writes, struct entry *entry)
{
    (void)map64_remove(&writes->by_key[entry->kind], entry->key);
    entry_free(entry);
}

static void on_written(void *arg, const struct kube_answer *answer)
{
    struct entry *entry = arg;
    struct writes *writes = entry->writes;

    entry->call = NULL;
    entry->modify = NULL;
    free(entry->sent);
    entry->sent = NULL;
    list_of(writes, entry)->under_way--;
    if (answer->err.code < 0 && entry->on_failed)
        entry->on_failed(entry->arg, entry->key);
    if (entry->body)
        enqueue(writes, entry);
    else
        forget(writes, entry);
    writes_pump(writes);
}

static int change(void *arg, yyjson_mut_doc *doc, yyjson_mut_val *object, struct err *err)
{
    struct entry *entry = arg;
    yyjson_doc *wanted = yyjson_read(entry->sent, strlen(entry->sent), 0);

    (void)err;
    BUG_ON(!wanted);
    int r = entry->change(yyjson_doc_get_root(wanted), doc, object);
    yyjson_doc_free(wanted);
    return r;
}

static void start(struct writes *writes, struct entry *entry)
{
    const struct state *state = writes->state;
    const char *namespace = key_namespace(state, entry->key);
    const char *name = key_name(state, entry->key);

    dequeue(writes, entry);
    entry->sent = TAKE_PTR(entry->body);
    list_of(writes, entry)->under_way++;
    if (entry->change) {
        entry->modify = kube_modify_start(writes->client, &(struct kube_modify_request){
                                                              .resource = entry->resource,
                                                              .namespace = namespace,
                                                              .name = name,
                                                              .subresource = entry->subresource,
                                                              .change = change,
                                                              .on_done = on_written,
                                                              .arg = entry,
                                                          });
        return;
    }
    entry->call = kube_send(writes->client, &(struct kube_request){
                                                .verb = entry->verb,
                                                .resource = entry->resource,
                                                .namespace = namespace,
                                                .name = name,
                                                .subresource = entry->subresource,
                                                .body = entry->sent,
                                                .body_len = strlen(entry->sent),
                                                .is_repeatable = true,
                                                .on_done = on_written,
                                                .arg = entry,
                                            });
}

static struct entry *first_of(const struct waiting *list)
{
    return list_first(&list->entries, struct entry, in_list);
}

void writes_pump(struct writes *writes)
{
    struct waiting *news = &writes->news, *times = &writes->times;
    nsec_t now = nsec_now_monotonic();
    nsec_t wait = 0;
    struct entry *entry;

    while ((entry = first_of(news)) && news->under_way < writes->at_once &&
           (writes->traffic->binds == 0 || now - entry->since >= PATIENCE))
        start(writes, entry);
    while ((entry = first_of(times)) && times->under_way < writes->at_once &&
           (wait = rush_wait(&writes->traffic->rush, now, entry->since, times->under_way)) == 0)
        start(writes, entry);
    if (wait > 0 && wait < NSEC_MAX)
        loop_timer_start(&writes->timer, wait);
}

void writes_put(struct writes *writes, const struct write *write)
{
    struct entry *entry = entry_find(writes, write->kind, write->key);

    if (writes->traffic->is_silent)
        return;
    if (!entry) {
        entry = xcalloc(1, sizeof *entry);
        *entry = (struct entry){.writes = writes, .kind = write->kind, .key = write->key};
        map64_put(&writes->by_key[write->kind], write->key, (uint64_t)(uintptr_t)entry);
    }
    entry->verb = write->verb;
    entry->resource = write->resource;
    entry->subresource = write->subresource;
    entry->change = write->change;
    entry->on_failed = write->on_failed;
    entry->arg = write->arg;
    free(entry->body);
    size_t len = 0;
    char *text = yyjson_mut_write(write->doc, 0, &len);
    BUG_ON(!text);
    /* yyjson's block is as large as it thinks fit. */
    entry->body = xrealloc(text, len + 1);
    if (!entry->is_queued && !entry->sent)
        enqueue(writes, entry);
    writes_pump(writes);
}

void writes_cancel(struct writes *writes, enum write_kind kind, object_key key)
{
    struct entry *entry = entry_find(writes, kind, key);

    if (!entry)
        return;
    free(entry->body);
    entry->body = NULL;
    if (!entry->sent) {
        dequeue(writes, entry);
        forget(writes, entry);
    }
}

bool writes_has(const struct writes *writes, enum write_kind kind, object_key key)
{
    return entry_find(writes, kind, key) != NULL;
}

size_t writes_len(const struct writes *writes)
{
    size_t len = 0;

    for (int kind = 0; kind < _WRITE_KIND_MAX; kind++)
        len += map64_len(&writes->by_key[kind]);
    return len;
}
