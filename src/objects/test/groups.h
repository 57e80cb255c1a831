/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* What workloads written as YAML become: their pods, and the groups of these. */
#include "objects/test/world.h"

/* Every gang and its pods: "<name> <queue> <priority>[ fixed] <tree>: <pod>=<set> ..." */
static inline void describe(const struct world *w, struct strbuf *text)
{
    for (uint32_t i = 0; i < w->state->gangs.len; i++) {
        const struct gang *gang = &w->state->gangs.items[i];

        if (!gang->is_present)
            continue;
        strbuf_addf(text, "%s %s %d%s ", world_name(w, gang->name), world_name(w, gang->queue_name), gang->priority,
                    gang->is_preemptible ? "" : " fixed");
        world_tree(w, gang, 0, text);
        strbuf_addch(text, ':');
        for (uint32_t j = 0; j < w->state->pods.len; j++) {
            const struct pod *pod = &w->state->pods.items[j];

            if (pod->is_present && pod->gang == i)
                strbuf_addf(text, " %s=%s", world_name(w, pod->name),
                            pod->pod_set == NO_ID ? "?" : world_name(w, gang->groups[pod->pod_set].name));
        }
        strbuf_addch(text, '\n');
    }
}

static inline void groups_as(const char *yaml, const char *expected)
{
    struct world w;
    struct strbuf text;

    strbuf_init(&text, 100000);
    world_init(&w);
    world_read(&w, yaml);
    describe(&w, &text);
    assert_string_equal(text.text, expected);
    world_done(&w);
    strbuf_done(&text);
}

#define QUEUE "---\n{apiVersion: scheduling.run.ai/v2, kind: Queue, metadata: {name: q}, spec: {resources: {}}}\n"
#define TEMPLATE "template: {spec: {schedulerName: kai-scheduler, containers: [{name: c}]}}"
#define META(name) "metadata: {name: " name ", labels: {kai.scheduler/queue: q}}"
