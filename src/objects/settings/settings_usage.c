/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Time-based fair share. A simulation keeps past use itself: only how far back it counts, and how much, matters to it. A
 * running scheduler asks for it where it is kept.
 */
#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "objects/fields.h"
#include "objects/settings/settings_internal.h"

static const char *const window_types[_USAGE_WINDOW_MAX] = {
    [USAGE_SLIDING] = "sliding",
    [USAGE_TUMBLING] = "tumbling",
    [USAGE_CRON] = "cron",
};

const char *usage_window_name(enum usage_window window)
{
    return window_types[window];
}

void settings_usage_init(struct usage_setting *usage)
{
    *usage = (struct usage_setting){
        .window = 7 * 24 * NSEC_PER_HOUR,
        .interval = NSEC_PER_MIN,
        .source =
            {
                .staleness = 5 * NSEC_PER_MIN,
                .wait = NSEC_PER_MIN,
                .query_timeout = 10 * NSEC_PER_SEC,
                .resolution = NSEC_PER_MIN,
                .allocation = {[SHARE_CPU] = "kai_queue_allocated_cpu_cores",
                               [SHARE_MEMORY] = "kai_queue_allocated_memory_bytes",
                               [SHARE_GPU] = "kai_queue_allocated_gpus"},
                .capacity = {[SHARE_CPU] = "sum(kube_node_status_capacity{resource=\"cpu\"})",
                             [SHARE_MEMORY] = "sum(kube_node_status_capacity{resource=\"memory\"})",
                             [SHARE_GPU] = "sum(kube_node_status_capacity{resource=\"nvidia_com_gpu\"})"},
            },
    };
}

static int time_decode(const struct json_at *params, const char *key, nsec_t *to, struct err *err)
{
    const char *text = NULL;
    struct err problem;
    nsec_t time;

    TRY(json_member_str(params, key, JSON_OPTIONAL, &text, err));
    if (!text)
        return 0;
    if (long_duration_parse(text, &time, &problem) < 0) {
        struct json_at at = json_member(params, key);

        return json_fail(&at, err, -EINVAL, "%s", problem.text);
    }
    *to = time;
    return 0;
}

static int text_decode(struct settings *settings, const struct json_at *at, const char *key, const char **to,
                       struct err *err)
{
    const char *text = NULL;

    TRY(json_member_str(at, key, JSON_OPTIONAL, &text, err));
    if (text && *text)
        *to = arena_strdup(&settings->texts, text);
    return 0;
}

static int window_type_decode(const struct json_at *params, enum usage_window *to, struct err *err)
{
    const char *text = NULL;

    TRY(json_member_str(params, "windowType", JSON_OPTIONAL, &text, err));
    if (!text)
        return 0;
    for (int i = 0; i < _USAGE_WINDOW_MAX; i++) {
        if (strcmp(text, window_types[i]) == 0) {
            *to = (enum usage_window)i;
            return 0;
        }
    }
    struct json_at at = json_member(params, "windowType");
    return json_fail(&at, err, -EINVAL, "expected sliding, tumbling or cron, found '%s'", text);
}

static int start_decode(const struct json_at *params, struct usage_source *source, struct err *err)
{
    const char *text = NULL;
    struct err problem;

    TRY(json_member_str(params, "tumblingWindowStartTime", JSON_OPTIONAL, &text, err));
    if (!text)
        return 0;
    if (time_parse(text, &source->tumbling_start, &problem) < 0) {
        struct json_at at = json_member(params, "tumblingWindowStartTime");

        return json_fail(&at, err, -EINVAL, "%s", problem.text);
    }
    source->has_tumbling_start = true;
    return 0;
}

/* What only a running scheduler looks at. */
static int source_decode(struct settings *settings, const struct json_at *at, const struct json_at *params,
                         struct err *err)
{
    struct usage_source *source = &settings->usage.source;
    struct json_at extra;

    TRY(text_decode(settings, at, "clientType", &source->client, err));
    TRY(text_decode(settings, at, "connectionString", &source->url, err));
    TRY(text_decode(settings, at, "connectionStringEnvVar", &source->url_variable, err));
    TRY(time_decode(params, "stalenessPeriod", &source->staleness, err));
    TRY(time_decode(params, "waitTimeout", &source->wait, err));
    TRY(start_decode(params, source, err));
    TRY(text_decode(settings, params, "cronString", &source->cron, err));
    TRY(json_member_object(params, "extraParams", JSON_OPTIONAL, &extra, err));
    TRY(time_decode(&extra, "usageQueryTimeout", &source->query_timeout, err));
    TRY(time_decode(&extra, "queryResolution", &source->resolution, err));
    TRY(text_decode(settings, &extra, "cpuAllocationMetric", &source->allocation[SHARE_CPU], err));
    TRY(text_decode(settings, &extra, "memoryAllocationMetric", &source->allocation[SHARE_MEMORY], err));
    TRY(text_decode(settings, &extra, "gpuAllocationMetric", &source->allocation[SHARE_GPU], err));
    TRY(text_decode(settings, &extra, "cpuCapacityMetric", &source->capacity[SHARE_CPU], err));
    TRY(text_decode(settings, &extra, "memoryCapacityMetric", &source->capacity[SHARE_MEMORY], err));
    return text_decode(settings, &extra, "gpuCapacityMetric", &source->capacity[SHARE_GPU], err);
}

int settings_usage_decode(struct settings *settings, const struct json_at *at, struct err *err)
{
    struct usage_setting *usage = &settings->usage;
    struct json_at params;

    if (!at->val)
        return 0;
    TRY(json_object(at, err));
    TRY(json_member_object(at, "usageParams", JSON_OPTIONAL, &params, err));
    TRY(time_decode(&params, "windowSize", &usage->window, err));
    TRY(time_decode(&params, "halfLifePeriod", &usage->half_life, err));
    TRY(time_decode(&params, "fetchInterval", &usage->interval, err));
    TRY(window_type_decode(&params, &usage->window_type, err));
    TRY(source_decode(settings, at, &params, err));
    /* A window or an interval of 0 is the default in KAI. */
    if (usage->window == 0)
        usage->window = 7 * 24 * NSEC_PER_HOUR;
    if (usage->interval == 0)
        usage->interval = NSEC_PER_MIN;
    usage->is_on = usage->source.client != NULL;
    return 0;
}

const char *const past_use_keys[SHARE_COUNT] = {
    [SHARE_CPU] = "cpu",
    [SHARE_MEMORY] = "memory",
    [SHARE_GPU] = "nvidia.com/gpu",
};

int settings_decode_past_use(struct settings *settings, const struct json_at *list, struct err *err)
{
    enum { PART_MAX = 1000000 };

    for (struct json_at item = {0}; json_next(list, &item);) {
        struct past_use past = {0};

        TRY(json_object(&item, err));
        TRY(json_member_str(&item, "queue", JSON_REQUIRED, &past.queue, err));
        for (int r = 0; r < SHARE_COUNT; r++)
            TRY(json_member_double(&item, past_use_keys[r], JSON_OPTIONAL, 0, PART_MAX, &past.part[r], err));
        past.queue = arena_strdup(&settings->texts, past.queue);
        vec_push(&settings->past_use, past);
    }
    return 0;
}
