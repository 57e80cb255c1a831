/* SPDX-License-Identifier: Apache-2.0 */

/* Metrics as text: numbers for people, durations and bounds from them. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "sim/report/metrics.h"
#include "sim/scenario/scenario_emit.h"

/* The two largest units that say something: 3d 4h, 2h 5m, 40s. */
static void format_seconds(double seconds, char text[static METRIC_TEXT_MAX])
{
    static const struct {
        const char *name;
        int64_t seconds;
    } units[] = {{"d", 86400}, {"h", 3600}, {"m", 60}, {"s", 1}};
    int64_t left = (int64_t)(seconds + 0.5);
    size_t i = 0;

    if (seconds < 9.95) {
        (void)snprintf(text, METRIC_TEXT_MAX, seconds == floor(seconds) ? "%.0fs" : "%.1fs", seconds);
        return;
    }
    while (left < units[i].seconds)
        i++;
    if (i == 3 || left % units[i].seconds / units[i + 1].seconds == 0)
        (void)snprintf(text, METRIC_TEXT_MAX, "%" PRId64 "%s", left / units[i].seconds, units[i].name);
    else
        (void)snprintf(text, METRIC_TEXT_MAX, "%" PRId64 "%s %" PRId64 "%s", left / units[i].seconds, units[i].name,
                       left % units[i].seconds / units[i + 1].seconds, units[i + 1].name);
}

/* "1234567" with commas between the thousands. */
static void format_whole(double value, char text[static METRIC_TEXT_MAX])
{
    char digits[METRIC_TEXT_MAX];
    int len = snprintf(digits, sizeof digits, "%.0f", value);
    size_t to = 0;

    for (int i = 0; i < len && to + 2 < METRIC_TEXT_MAX; i++) {
        if (i > 0 && (len - i) % 3 == 0 && digits[i - 1] != '-')
            text[to++] = ',';
        text[to++] = digits[i];
    }
    text[to] = '\0';
}

const char *metric_format(enum metric_unit unit, double value, char text[static METRIC_TEXT_MAX])
{
    if (!isfinite(value) || fabs(value) > 1e18)
        (void)snprintf(text, METRIC_TEXT_MAX, "-");
    else if (unit == UNIT_SECONDS)
        format_seconds(value, text);
    else if (unit == UNIT_PART)
        (void)snprintf(text, METRIC_TEXT_MAX, "%.1f%%", value * 100);
    else if (unit == UNIT_HOURS && fabs(value) < 99.95)
        (void)snprintf(text, METRIC_TEXT_MAX, "%.1f", value);
    else
        format_whole(value, text);
    return text;
}

static const char *skip_spaces(const char *at)
{
    while (*at == ' ')
        at++;
    return at;
}

static int fail(const struct bound *bound, struct err *err, const char *what, const char *found)
{
    return err_set(err, -EINVAL, "--require '%s': expected %s, found '%s'", bound->text, what, found);
}

/* "queue=research" or "size=8-31". */
static int parse_filter(struct bound *bound, const char *at, size_t len, struct err *err)
{
    char text[300];
    const char *value;

    if (len >= sizeof text)
        return fail(bound, err, "a shorter filter", "more");
    while (len > 0 && at[len - 1] == ' ')
        len--;
    memcpy(text, at, len);
    text[len] = '\0';
    value = strchr(text, '=');
    if (value && strncmp(text, "queue=", 6) == 0 && value[1] && strlen(value + 1) < sizeof bound->queue) {
        (void)snprintf(bound->queue, sizeof bound->queue, "%.255s", value + 1);
        return 0;
    }
    if (value && strncmp(text, "size=", 5) == 0) {
        bound->filter.has_size = true;
        if (size_parse(value + 1, &bound->filter.size_min, &bound->filter.size_max))
            return 0;
        return fail(bound, err, "a size such as fraction, 1, 8-31 or 64+", value + 1);
    }
    return fail(bound, err, "queue=NAME or size=SIZE", text);
}

static int parse_filters(struct bound *bound, const char **at, struct err *err)
{
    const char *end;

    if (**at != '(')
        return 0;
    if (metric_info(bound->metric)->is_of_cluster)
        return fail(bound, err, "no filter, since the metric is one of the whole cluster", *at);
    end = strchr(*at, ')');
    if (!end)
        return fail(bound, err, "a closing bracket", *at);
    for ((*at)++; *at < end; (*at)++) {
        size_t len = strcspn(skip_spaces(*at), ",)");
        int r;

        *at = skip_spaces(*at);
        r = parse_filter(bound, *at, len, err);
        if (r < 0)
            return r;
        *at += len;
        if (*at == end)
            break;
    }
    *at = skip_spaces(end + 1);
    return 0;
}

static int parse_op(struct bound *bound, const char **at, struct err *err)
{
    static const struct {
        const char *text;
        enum bound_op op;
    } ops[] = {{"<=", BOUND_LE}, {">=", BOUND_GE}, {"<", BOUND_LT}, {">", BOUND_GT}};

    for (size_t i = 0; i < ARRAY_LEN(ops); i++)
        if (strncmp(*at, ops[i].text, strlen(ops[i].text)) == 0) {
            bound->op = ops[i].op;
            *at = skip_spaces(*at + strlen(ops[i].text));
            return 0;
        }
    return fail(bound, err, "one of <, <=, >, >=", *at);
}

/* "30m", "85%", "12.5", "A", "1.1*A". */
static int parse_value(struct bound *bound, const char *at, struct err *err)
{
    enum metric_unit unit = metric_info(bound->metric)->unit;
    char *end;
    nsec_t duration;

    if (strcmp(at, "A") == 0) {
        bound->is_relative = true;
        bound->value = 1;
        return 0;
    }
    bound->value = strtod(at, &end);
    if (end != at && strcmp(end, "*A") == 0 && isfinite(bound->value)) {
        bound->is_relative = true;
        return 0;
    }
    if (unit == UNIT_SECONDS) {
        if (long_duration_parse(at, &duration, NULL) < 0)
            return fail(bound, err, "a duration such as 30m or 7d, or 1.1*A", at);
        bound->value = (double)duration / 1e9;
        return 0;
    }
    if (end != at && unit == UNIT_PART && strcmp(end, "%") == 0) {
        bound->value /= 100;
        return 0;
    }
    if (end == at || *end || !isfinite(bound->value))
        return fail(bound, err, unit == UNIT_PART ? "a part such as 85% or 0.85, or 1.1*A" : "a number, or 1.1*A", at);
    return 0;
}

int bound_parse(struct bound *bound, const char *text, struct err *err)
{
    const char *at = skip_spaces(text);
    size_t len = strspn(at, "abcdefghijklmnopqrstuvwxyz0123456789_");
    int r;

    *bound = (struct bound){.text = text};
    if (!metric_find(at, len, &bound->metric))
        return fail(bound, err, "the name of a metric (docs/compare.md lists them)", at);
    at = skip_spaces(at + len);
    if ((r = parse_filters(bound, &at, err)) < 0 || (r = parse_op(bound, &at, err)) < 0)
        return r;
    if (bound->queue[0])
        bound->filter.queue = bound->queue;
    return parse_value(bound, at, err);
}

bool bound_holds(const struct bound *bound, double a, double b)
{
    double limit = bound->is_relative ? bound->value * a : bound->value;

    switch (bound->op) {
    case BOUND_LT:
        return b < limit;
    case BOUND_LE:
        return b <= limit;
    case BOUND_GT:
        return b > limit;
    case BOUND_GE:
        return b >= limit;
    case _BOUND_OP_MAX:
        break;
    }
    return false;
}

void metrics_write(struct emit *e, const struct sim_run *run, const char *queue)
{
    struct metric_filter filter = {.queue = queue};

    emit_open(e, "metrics", '{');
    for (int i = 0; i < _METRIC_MAX; i++)
        if (!queue || !metric_info((enum metric)i)->is_of_cluster)
            emit_double(e, metric_info((enum metric)i)->name, metric_value(run, (enum metric)i, &filter));
    emit_close(e, '}');
}
