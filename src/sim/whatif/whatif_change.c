/* SPDX-License-Identifier: Apache-2.0 */

/* Reading changes. Names may hold dots and slashes: what is changed comes after the last dot. */
#include "sim/whatif/whatif_change.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "model/queue.h"
#include "model/resources.h"
#include "text/quantity.h"

static const struct {
    const char *prefix;
} subjects[] = {{"queue/"}, {"workload/"}, {"node/"}, {"new="}};

bool whatif_is_change(const char *word)
{
    for (size_t i = 0; i < ARRAY_LEN(subjects); i++) {
        if (strncmp(word, subjects[i].prefix, strlen(subjects[i].prefix)) == 0)
            return strchr(word, '=') != NULL;
    }
    return false;
}

static int set_name(struct whatif_change *change, const char *from, size_t len, struct err *err)
{
    if (len == 0 || len >= sizeof change->name)
        return err_set(err, -EINVAL, "%s: the name is %s", change->text, len == 0 ? "missing" : "too long");
    memcpy(change->name, from, len);
    change->name[len] = '\0';
    return 0;
}

/* Cuts ".part" off the end of the name, if it is there. */
static bool cut_part(struct whatif_change *change, const char *part)
{
    size_t len = strlen(change->name);
    size_t part_len = strlen(part);

    if (len <= part_len + 1 || change->name[len - part_len - 1] != '.' ||
        strcmp(change->name + len - part_len, part) != 0)
        return false;
    change->name[len - part_len - 1] = '\0';
    return true;
}

static int read_whole(struct whatif_change *change, const char *value, double low, double high, struct err *err)
{
    char *end;

    change->value = strtod(value, &end);
    if (end == value || *end != '\0' || !isfinite(change->value) || change->value != floor(change->value) ||
        change->value < low || change->value > high)
        return err_set(err, -EINVAL, "%s: '%s' is not a whole number from %.0f to %.0f", change->text, value, low,
                       high);
    return 0;
}

/* An amount of a queue: GPUs and cores as numbers, memory as a quantity; "unlimited". */
static int read_amount(struct whatif_change *change, const char *value, struct err *err)
{
    int64_t milli;

    if (change->kind != WHATIF_QUEUE_WEIGHT && strcmp(value, "unlimited") == 0) {
        change->value = UNLIMITED;
        return 0;
    }
    if (quantity_parse(value, QUANTITY_MILLI, &milli, NULL) < 0)
        return err_set(err, -EINVAL, "%s: '%s' is not an amount such as 16, 0.5%s", change->text, value,
                       change->kind == WHATIF_QUEUE_WEIGHT ? "" : ", 64Gi or unlimited");
    bool is_milli = change->kind != WHATIF_QUEUE_WEIGHT && change->resource == SHARE_CPU;
    change->value = is_milli ? (double)milli : (double)milli / 1000;
    return 0;
}

static int parse_queue(struct whatif_change *change, const char *value, struct err *err)
{
    static const struct {
        const char *part;
        enum whatif_kind kind;
    } parts[] = {{"quota", WHATIF_QUEUE_QUOTA}, {"limit", WHATIF_QUEUE_LIMIT}, {"weight", WHATIF_QUEUE_WEIGHT}};
    static const char *const resources[] = {[SHARE_CPU] = "cpu", [SHARE_MEMORY] = "memory", [SHARE_GPU] = "gpu"};

    if (cut_part(change, "priority")) {
        change->kind = WHATIF_QUEUE_PRIORITY;
        return read_whole(change, value, INT32_MIN, INT32_MAX, err);
    }
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        if (!cut_part(change, parts[i].part))
            continue;
        change->kind = parts[i].kind;
        change->resource = SHARE_GPU;
        for (int r = 0; r < SHARE_COUNT; r++) {
            if (cut_part(change, resources[r])) {
                change->resource = r;
                break;
            }
        }
        return read_amount(change, value, err);
    }
    return err_set(err, -EINVAL, "%s: expected queue/NAME.quota, .limit, .weight or .priority", change->text);
}

static int parse_workload(struct whatif_change *change, const char *value, struct err *err)
{
    if (strcmp(value, "gone") == 0) {
        change->kind = WHATIF_WORKLOAD_GONE;
        return 0;
    }
    if (!cut_part(change, "priority"))
        return err_set(err, -EINVAL, "%s: expected workload/NAME.priority=NUMBER or workload/NAME=gone", change->text);
    change->kind = WHATIF_WORKLOAD_PRIORITY;
    return read_whole(change, value, INT32_MIN, INT32_MAX, err);
}

static int parse_node(struct whatif_change *change, const char *value, struct err *err)
{
    if (strcmp(value, "lost") == 0)
        change->kind = WHATIF_NODE_LOST;
    else if (strcmp(value, "drained") == 0)
        change->kind = WHATIF_NODE_DRAINED;
    else if (*value == '+') {
        change->kind = WHATIF_NODE_ADDED;
        return read_whole(change, value + 1, 1, WHATIF_NODES_MAX, err);
    } else
        return err_set(err, -EINVAL, "%s: expected node/NAME=lost, =drained or =+COUNT", change->text);
    return 0;
}

int whatif_change_parse(struct whatif_change *ret, const char *text, struct err *err)
{
    static int (*const parsers[])(struct whatif_change *change, const char *value,
                                  struct err *err) = {parse_queue, parse_workload, parse_node};
    const char *value = strrchr(text, '=');

    *ret = (struct whatif_change){.text = text, .kind = WHATIF_NEW};
    for (size_t i = 0; value && i < ARRAY_LEN(subjects); i++) {
        size_t len = strlen(subjects[i].prefix);
        if (strncmp(text, subjects[i].prefix, len) != 0)
            continue;
        if (i == ARRAY_LEN(parsers))
            return set_name(ret, text + len, strlen(text + len), err);
        int r = set_name(ret, text + len, (size_t)(value - text) - len, err);
        return r < 0 ? r : parsers[i](ret, value + 1, err);
    }
    return err_set(err, -EINVAL, "'%s' is not a change; expected queue/..., workload/..., node/... or new=FILE", text);
}
