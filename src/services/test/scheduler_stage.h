/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* A scheduler without an API server, for tests of its parts: objects are fed to it as followers would. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kube/client/meta.h"
#include "model/delta.h"
#include "services/scheduler/carry/writes.h"
#include "services/scheduler/context.h"
#include "services/scheduler/intake/complain.h"
#include "services/scheduler/intake/intake.h"
#include "services/scheduler/report/gang_notes.h"
#include "services/scheduler/report/report.h"

#define NODE(name)                                                                                          \
    "{\"metadata\":{\"name\":\"" name "\"},\"status\":{\"allocatable\":{\"cpu\":\"8\",\"memory\":\"64Gi\"," \
    "\"pods\":\"110\",\"nvidia.com/gpu\":\"8\"},\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]}}"
#define POD_META(name, uid, more)                                                               \
    "\"metadata\":{\"name\":\"" name "\",\"namespace\":\"ns\",\"uid\":\"" uid "\",\"labels\":{" \
    "\"kai.scheduler/queue\":\"q\"}" more "}"
#define POD_SPEC(more)                                                                                            \
    "\"spec\":{\"schedulerName\":\"kai-scheduler\",\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{" \
    "\"cpu\":\"1\"}}}]" more "}"
#define POD(name, uid) "{" POD_META(name, uid, "") "," POD_SPEC("") ",\"status\":{\"phase\":\"Pending\"}}"
#define BOUND_POD(name, uid, node) \
    "{" POD_META(name, uid, "") "," POD_SPEC(",\"nodeName\":\"" node "\"") ",\"status\":{\"phase\":\"Pending\"}}"
#define GANG_OF(name, uid) "pg-" name "-" uid

static struct scheduler_flags stage_flags = {.schedule_period = NSEC_PER_SEC};

static inline struct scheduler *stage_new(void)
{
    struct scheduler *s = calloc(1, sizeof *s);

    assert_non_null(s);
    s->flags = &stage_flags;
    s->loop = loop_new();
    s->pool_name = "default";
    object_options_init(&s->options);
    s->options.is_whole = true;
    s->state = state_new();
    config_init(&s->config);
    s->engine = engine_new(s->state, &s->config);
    object_notes_init(&s->notes);
    object_reader_init(&s->reader, s->state, &s->options, NULL, &s->notes);
    s->writes = writes_new(s, 1);
    return s;
}

static inline void stage_free(struct scheduler *s)
{
    uint64_t key, value;

    for (size_t cursor = 0; map64_next(&s->evictions, &cursor, &key, &value);)
        free((struct eviction *)(uintptr_t)value);
    map64_done(&s->evictions);
    writes_free(s->writes);
    placements_done(&s->placements);
    setbacks_done(&s->setbacks);
    gang_notes_done(&s->gang_notes);
    beside_done(&s->beside);
    map64_done(&s->lone_gangs);
    map64_done(&s->pod_conditions);
    map64_done(&s->leaving);
    map64_done(&s->namespace_pickers);
    map64_done(&s->told);
    map64_done(&s->conditioned);
    complaints_done(s);
    object_reader_done(&s->reader);
    object_notes_done(&s->notes);
    engine_free(s->engine);
    state_free(s->state);
    loop_free(s->loop);
    free(s);
}

static inline void feed(struct scheduler *s, enum watch_kind kind, const char *json)
{
    yyjson_doc *doc = yyjson_read(json, strlen(json), 0);

    if (!doc)
        fail_msg("no JSON: %s", json);
    yyjson_val *object = yyjson_doc_get_root(doc);
    intake_event(s, kind,
                 &(struct follow_event){
                     .change = FOLLOW_CHANGED,
                     .namespace = kube_text(object, "metadata", "namespace"),
                     .name = kube_text(object, "metadata", "name"),
                     .uid = kube_text(object, "metadata", "uid"),
                     .object = object,
                 });
    yyjson_doc_free(doc);
}

static inline void lose(struct scheduler *s, enum watch_kind kind, const char *namespace, const char *name)
{
    intake_event(s, kind,
                 &(struct follow_event){.change = FOLLOW_DELETED, .namespace = namespace, .name = name, .uid = ""});
}

static inline const struct pod *pod_at(struct scheduler *s, const char *name)
{
    pod_id id = key_pod(s->state, key_put(s->state, "ns", name));

    return id == NO_ID ? NULL : &s->state->pods.items[id];
}

static inline void expect_pod(struct scheduler *s, const char *name, enum pod_status status, const char *node)
{
    const struct pod *pod = pod_at(s, name);

    if (!pod)
        fail_msg("there is no pod %s", name);
    assert_string_equal(pod_status_name((enum pod_status)pod->status), pod_status_name(status));
    if (!node) {
        assert_int_equal(pod->node, NO_ID);
        return;
    }
    assert_int_not_equal(pod->node, NO_ID);
    assert_string_equal(state_name(s->state, s->state->nodes.items[pod->node].name), node);
}
