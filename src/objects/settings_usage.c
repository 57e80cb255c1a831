/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Time-based fair share. Where the past use is kept does not matter to a simulation, which has its own; how far back it
 * counts, and how much, does.
 */
#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "objects/fields.h"
#include "objects/settings_internal.h"

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

int settings_usage_decode(struct settings *settings, const struct json_at *at, struct err *err)
{
    struct usage_setting *usage = &settings->usage;
    struct json_at params;
    const char *client = NULL;
    const char *type = NULL;

    if (!at->val)
        return 0;
    TRY(json_object(at, err));
    TRY(json_member_str(at, "clientType", JSON_OPTIONAL, &client, err));
    TRY(json_member_object(at, "usageParams", JSON_OPTIONAL, &params, err));
    TRY(time_decode(&params, "windowSize", &usage->window, err));
    TRY(time_decode(&params, "halfLifePeriod", &usage->half_life, err));
    TRY(time_decode(&params, "fetchInterval", &usage->interval, err));
    TRY(json_member_str(&params, "windowType", JSON_OPTIONAL, &type, err));
    if (type)
        usage->window_type = arena_strdup(&settings->texts, type);
    /* A window or an interval of 0 is the default in KAI. */
    if (usage->window == 0)
        usage->window = 7 * 24 * NSEC_PER_HOUR;
    if (usage->interval == 0)
        usage->interval = NSEC_PER_MIN;
    usage->is_on = client && *client;
    return 0;
}
