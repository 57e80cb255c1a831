/* SPDX-License-Identifier: Apache-2.0 */

/* Grouping by the kinds whose rules are short: pods, jobs, deployments, notebooks and their like. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "objects/group/rules.h"
#include "objects/reader.h"

#define TRAIN "train"
#define BUILD "build"
#define INFERENCE "inference"

int group_default(struct grouping *g, struct err *err)
{
    return group_base(g, true, TRAIN, err);
}

/* A pod without owners is its own; Spark's driver and executors know each other by a label. */
int group_plain_pod(struct grouping *g, struct err *err)
{
    const char *selector = object_label(g->pod, KEY_SPARK_APP_SELECTOR);

    TRY(group_base(g, false, TRAIN, err));
    if (selector && object_label(g->pod, KEY_SPARK_APP_NAME))
        g->name = selector;
    return 0;
}

/* Replicas of a service come and go one by one: each pod is a group of its own. */
int group_deployment(struct grouping *g, struct err *err)
{
    TRY(group_base(g, false, INFERENCE, err));
    g->name = group_name_of(g, g->pod);
    g->owner = g->pod;
    return 0;
}

/* Older releases named the group after one of its pods; such a group is kept, and never was a gang. */
static void keep_legacy_name(struct grouping *g, const struct object *named_after)
{
    const char *legacy = arena_printf(&g->objects->arena, "pg-%s-%s", named_after->name, g->top->uid);

    if (g->live && g->live->searches_legacy && group_presence(g, legacy) != GROUP_ABSENT) {
        g->name = legacy;
        g->min_member = 1;
    }
}

int group_job(struct grouping *g, struct err *err)
{
    int64_t min = 1;

    TRY(group_base(g, false, TRAIN, err));
    if (g->top->root.val)
        TRY(annotation_int(g->top, KEY_MIN_MEMBER, 0, 1, &min, err));
    g->min_member = (int32_t)min;
    keep_legacy_name(g, g->pod);
    return 0;
}

/* Each run of a CronJob is a Job, which is what its pods are grouped by. */
int group_cron_job(struct grouping *g, struct err *err)
{
    g->top = g->owners[0];
    g->owner_count = 1;
    return group_base(g, false, TRAIN, err);
}

int group_notebook(struct grouping *g, struct err *err)
{
    return group_base(g, false, BUILD, err);
}

int group_inference(struct grouping *g, struct err *err)
{
    return group_base(g, false, INFERENCE, err);
}

int group_aml_job(struct grouping *g, struct err *err)
{
    struct json_at spec = json_member(&g->top->root, "spec");
    struct json_at job = json_member(&spec, "job");
    struct json_at options = json_member(&job, "options");
    struct json_at envs = json_member(&options, "envs");
    struct json_at count = json_member(&envs, "AZUREML_NODE_COUNT");
    const char *text = yyjson_get_str(count.val);
    int64_t min = 0;

    TRY(group_need_whole(g, g->top, err));
    TRY(group_base(g, false, TRAIN, err));
    if (text ? !int_parse(text, 1, INT32_MAX, &min) : json_int64(&count, 1, INT32_MAX, &min, NULL) < 0)
        return json_fail(&count, err, -EINVAL, "expected a whole number of nodes above 0");
    g->min_member = (int32_t)min;
    return 0;
}

/* Named after the pods, which are called <group>-<index>. */
int group_runai_job(struct grouping *g, struct err *err)
{
    const char *dash = strrchr(g->pod->name, '-');
    int len = dash ? (int)(dash - g->pod->name) : (int)strlen(g->pod->name);
    struct json_at spec = json_member(&g->top->root, "spec");

    TRY(group_need_whole(g, g->top, err));
    TRY(group_base(g, false, TRAIN, err));
    g->name =
        arena_printf(&g->objects->arena, "pg-%.*s-%s", len, g->pod->name, g->top->has_uid ? g->top->uid : "runaijob");
    keep_legacy_name(g, json_peek_int(&spec, "parallelism", 1) > 1 ? g->pod : g->top);
    return 0;
}

/*
 * Kinds that only wrap another workload: the owner below decides, and takes what labels and annotations it does not
 * have from the wrapper.
 */
int group_below_top(struct grouping *g, struct err *err)
{
    g->skipped = g->top;
    if (g->owner_count > 1) {
        g->owner_count--;
        g->top = g->owners[g->owner_count - 1];
    } else {
        g->owners[0] = g->pod;
        g->top = g->pod;
    }
    object_group_fn group = g->top->kind->group_pods;
    return group ? group(g, err) : group_default(g, err);
}
