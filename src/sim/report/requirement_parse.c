/* SPDX-License-Identifier: Apache-2.0 */

/* Reading what --require asks for. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/err.h"
#include "sim/report/requirement.h"

static const char *skip_spaces(const char *at)
{
    while (*at == ' ')
        at++;
    return at;
}

static int fail(const struct requirement *r, struct err *err, const char *what, const char *found)
{
    return err_set(err, -EINVAL, "--require '%s': expected %s, found '%s'", r->text, what, found);
}

/* Copies `len` bytes without the spaces around them. */
static bool copy_name(char to[static REQUIREMENT_NAME_MAX], const char *from, size_t len)
{
    while (len > 0 && *from == ' ') {
        from++;
        len--;
    }
    while (len > 0 && from[len - 1] == ' ')
        len--;
    if (len == 0 || len >= REQUIREMENT_NAME_MAX)
        return false;
    memcpy(to, from, len);
    to[len] = '\0';
    return true;
}

/* "lab/train=Running": the state is what comes after the last '='. Returns whether it is one of those. */
static bool parse_state(struct requirement *r, const char *text)
{
    const char *equals = strrchr(text, '=');
    char name[REQUIREMENT_NAME_MAX];

    if (!equals || !copy_name(name, equals + 1, strlen(equals + 1)))
        return false;
    for (int state = 0; state < _WORKLOAD_STATE_MAX; state++) {
        size_t len = (size_t)(equals - text);

        if (strcasecmp(name, workload_state_name((enum workload_state)state)) != 0)
            continue;
        if (len > 0 && text[len - 1] == '=')
            len--;
        r->is_state = true;
        r->state = (enum workload_state)state;
        return copy_name(r->workload, text, len);
    }
    return false;
}

/* "queue=research", "workload=lab/train-*" or "size=8-31". */
static int parse_filter(struct requirement *r, const char *at, size_t len, struct err *err)
{
    char text[REQUIREMENT_NAME_MAX];
    const char *value;

    if (!copy_name(text, at, len))
        return fail(r, err, "queue=NAME, workload=NAME or size=SIZE", "nothing");
    value = strchr(text, '=');
    if (value && strncmp(text, "queue=", 6) == 0 && copy_name(r->queue, value + 1, strlen(value + 1)))
        return 0;
    if (value && strncmp(text, "workload=", 9) == 0 && copy_name(r->workload, value + 1, strlen(value + 1)))
        return 0;
    if (value && strncmp(text, "size=", 5) == 0) {
        r->has_size = true;
        if (size_parse(value + 1, &r->size_min, &r->size_max))
            return 0;
        return fail(r, err, "a size such as fraction, 1, 8-31 or 64+", value + 1);
    }
    return fail(r, err, "queue=NAME, workload=NAME or size=SIZE", text);
}

static int parse_filters(struct requirement *r, const char **at, struct err *err)
{
    const char *end;

    if (**at != '(')
        return 0;
    if (metric_info(r->metric)->is_of_cluster)
        return fail(r, err, "no filter, since the metric is about the whole cluster", *at);
    end = strchr(*at, ')');
    if (!end)
        return fail(r, err, "a closing bracket", *at);
    for (const char *from = *at + 1; skip_spaces(from) < end;) {
        size_t len = strcspn(from, ",)");
        int status = parse_filter(r, from, len, err);

        if (status < 0)
            return status;
        from += len + (from[len] == ',');
    }
    *at = skip_spaces(end + 1);
    return 0;
}

static int parse_op(struct requirement *r, const char **at, struct err *err)
{
    static const struct {
        const char *text;
        enum bound_op op;
    } ops[] = {{"<=", BOUND_LE}, {">=", BOUND_GE}, {"==", BOUND_EQ}, {"<", BOUND_LT}, {">", BOUND_GT}, {"=", BOUND_EQ}};

    for (size_t i = 0; i < ARRAY_LEN(ops); i++)
        if (strncmp(*at, ops[i].text, strlen(ops[i].text)) == 0) {
            r->op = ops[i].op;
            *at = skip_spaces(*at + strlen(ops[i].text));
            return 0;
        }
    return fail(r, err, "one of <, <=, =, >=, >", *at);
}

/* "30m", "85%", "12.5", "A", "1.1*A". */
static int parse_value(struct requirement *r, const char *given, struct err *err)
{
    enum metric_unit unit = metric_info(r->metric)->unit;
    char at[REQUIREMENT_NAME_MAX] = "";
    char *end;
    nsec_t duration;

    (void)copy_name(at, given, strlen(given));
    if (strcmp(at, "A") == 0) {
        r->is_relative = true;
        r->value = 1;
        return 0;
    }
    r->value = strtod(at, &end);
    if (end != at && strcmp(end, "*A") == 0 && isfinite(r->value)) {
        r->is_relative = true;
        return 0;
    }
    if (unit == UNIT_SECONDS) {
        if (long_duration_parse(at, &duration, NULL) < 0)
            return fail(r, err, "a duration such as 30m or 7d, or 1.1*A", given);
        r->value = (double)duration / 1e9;
        return 0;
    }
    if (end != at && unit == UNIT_PART && strcmp(end, "%") == 0) {
        r->value /= 100;
        return 0;
    }
    if (end == at || *end || !isfinite(r->value))
        return fail(r, err, unit == UNIT_PART ? "a percentage such as 85%, or 1.1*A" : "a number, or 1.1*A", given);
    return 0;
}

int requirement_parse(struct requirement *r, const char *text, struct err *err)
{
    const char *at = skip_spaces(text);
    size_t len = strspn(at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
    int status;

    *r = (struct requirement){.text = text};
    if (parse_state(r, at))
        return 0;
    if (len == 0 || !metric_find(at, len, &r->metric))
        return fail(r, err, "a metric with a bound such as 'p95Wait<30m', or WORKLOAD=STATE", at);
    at = skip_spaces(at + len);
    if ((status = parse_filters(r, &at, err)) < 0 || (status = parse_op(r, &at, err)) < 0)
        return status;
    return parse_value(r, at, err);
}
