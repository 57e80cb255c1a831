/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The contexts of a scheduler without followers and cycles, for tests: objects are fed to it as followers would. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "engine/engine.h"
#include "kube/access/config.h"
#include "kube/client/meta.h"
#include "kube/events/events.h"
#include "model/delta.h"
#include "net/loop.h"
#include "services/scheduler/carry/carry.h"
#include "services/scheduler/carry/evictions.h"
#include "services/scheduler/carry/placements.h"
#include "services/scheduler/carry/setbacks.h"
#include "services/scheduler/carry/traffic.h"
#include "services/scheduler/carry/writes.h"
#include "services/scheduler/flags.h"
#include "services/scheduler/intake/complaints.h"
#include "services/scheduler/intake/intake.h"
#include "services/scheduler/observe/observer.h"
#include "services/scheduler/pace.h"
#include "services/scheduler/pod_notes.h"
#include "services/scheduler/report/gang_notes.h"
#include "services/scheduler/report/report.h"
#include "services/scheduler/setup.h"

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

struct stage {
    struct loop *loop;
    struct kube_client *client;
    struct recorder *recorder;
    struct setup setup;
    struct pace *pace;
    struct traffic traffic;
    struct observers observers;
    uint32_t device_version;
    struct state *state;
    struct engine *engine;
    struct pod_notes *pod_notes;
    struct writes *writes;
    struct gang_notes *gang_notes;
    struct report *report;
    struct setbacks *setbacks;
    struct placements *placements;
    struct evictions *evictions;
    struct carry *carry;
    struct complaints *complaints;
    struct intake *intake;
};

static inline struct kube_config *stage_config(uint16_t port)
{
    char path[] = "/tmp/muster-stage-XXXXXX";
    int file = mkstemp(path);
    struct kube_config *config = NULL;

    assert_true(file >= 0);
    assert_true(dprintf(file,
                        "current-context: a\ncontexts: [{name: a, context: {cluster: c}}]\n"
                        "clusters: [{name: c, cluster: {server: 'http://127.0.0.1:%u'}}]\n",
                        port) > 0);
    (void)close(file);
    assert_int_equal(kube_config_load(path, NULL, &config, NULL), 0);
    (void)unlink(path);
    return config;
}

/* Requests go to that port of this machine, one at a time, so that they arrive as they were sent; none is sent before the
 * loop runs. */
static inline struct stage *stage_new_at(struct loop *loop, uint16_t port)
{
    struct stage *s = calloc(1, sizeof *s);

    assert_non_null(s);
    s->loop = loop;
    s->client = kube_client_new(s->loop, stage_config(port), &(struct kube_client_options){.in_flight_max = 1});
    s->recorder = recorder_new(s->client, &(struct recorder_options){.component = "test"});
    s->setup.flags = &stage_flags;
    s->setup.pool_name = "default";
    object_options_init(&s->setup.options);
    s->setup.options.is_whole = true;
    config_init(&s->setup.config);
    s->pace = pace_new(s->loop, NSEC_PER_SEC);
    pace_release(s->pace, HOLD_LISTING);
    s->state = state_new();
    s->engine = engine_new(s->state, &s->setup.config);
    s->pod_notes = pod_notes_new();
    s->writes = writes_new(s->state, s->client, s->loop, &s->traffic, 1);
    s->gang_notes = gang_notes_new(s->state, &s->setup, s->writes, &s->observers);
    s->report = report_new(&(struct report_options){
        .state = s->state,
        .engine = s->engine,
        .setup = &s->setup,
        .loop = s->loop,
        .recorder = s->recorder,
        .writes = s->writes,
        .pod_notes = s->pod_notes,
        .gang_notes = s->gang_notes,
        .pace = s->pace,
        .traffic = &s->traffic,
    });
    s->setbacks = setbacks_new(s->state, s->pod_notes);
    s->placements = placements_new(&(struct placements_options){
        .state = s->state,
        .setup = &s->setup,
        .notes = s->pod_notes,
        .observers = &s->observers,
        .pace = s->pace,
    });
    s->evictions = evictions_new(&(struct evictions_options){
        .state = s->state,
        .setup = &s->setup,
        .client = s->client,
        .notes = s->pod_notes,
        .setbacks = s->setbacks,
        .report = s->report,
        .observers = &s->observers,
        .pace = s->pace,
    });
    s->carry = carry_new(&(struct carry_options){
        .state = s->state,
        .setup = &s->setup,
        .loop = s->loop,
        .client = s->client,
        .device_version = &s->device_version,
        .placements = s->placements,
        .setbacks = s->setbacks,
        .writes = s->writes,
        .report = s->report,
        .observers = &s->observers,
        .traffic = &s->traffic,
        .pace = s->pace,
    });
    s->complaints = complaints_new(s->state, s->recorder, s->pace, &s->device_version, NULL);
    s->intake = intake_new(&(struct intake_options){
        .state = s->state,
        .engine = s->engine,
        .setup = &s->setup,
        .pod_notes = s->pod_notes,
        .gang_notes = s->gang_notes,
        .placements = s->placements,
        .evictions = s->evictions,
        .setbacks = s->setbacks,
        .report = s->report,
        .complaints = s->complaints,
        .observers = &s->observers,
        .pace = s->pace,
        .traffic = &s->traffic,
    });
    return s;
}

/* Nobody listens at the port. */
static inline struct stage *stage_new(void)
{
    return stage_new_at(loop_new(), 9);
}

static inline void stage_free(struct stage *s)
{
    intake_free(s->intake);
    complaints_free(s->complaints);
    carry_free(s->carry);
    evictions_free(s->evictions);
    placements_free(s->placements);
    setbacks_free(s->setbacks);
    report_free(s->report);
    gang_notes_free(s->gang_notes);
    writes_free(s->writes);
    pod_notes_free(s->pod_notes);
    engine_free(s->engine);
    state_free(s->state);
    pace_free(s->pace);
    recorder_free(s->recorder);
    kube_client_free(s->client);
    loop_free(s->loop);
    free(s);
}

static inline void feed(struct stage *s, enum watch_kind kind, const char *json)
{
    yyjson_doc *doc = yyjson_read(json, strlen(json), 0);

    if (!doc)
        fail_msg("no JSON: %s", json);
    yyjson_val *object = yyjson_doc_get_root(doc);
    intake_event(s->intake, kind,
                 &(struct follow_event){
                     .change = FOLLOW_CHANGED,
                     .namespace = kube_text(object, "metadata", "namespace"),
                     .name = kube_text(object, "metadata", "name"),
                     .uid = kube_text(object, "metadata", "uid"),
                     .object = object,
                 });
    yyjson_doc_free(doc);
}

static inline void lose_of(struct stage *s, enum watch_kind kind, const char *namespace, const char *name,
                           const char *uid)
{
    intake_event(s->intake, kind,
                 &(struct follow_event){.change = FOLLOW_DELETED, .namespace = namespace, .name = name, .uid = uid});
}

static inline void lose(struct stage *s, enum watch_kind kind, const char *namespace, const char *name)
{
    lose_of(s, kind, namespace, name, "");
}

static inline const struct pod *pod_at(struct stage *s, const char *name)
{
    pod_id id = key_pod(s->state, key_put(s->state, "ns", name));

    return id == NO_ID ? NULL : &s->state->pods.items[id];
}

static inline void expect_pod(struct stage *s, const char *name, enum pod_status status, const char *node)
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
