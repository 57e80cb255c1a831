/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/report/wait_sums.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sim/report/metrics.h"
#include "sim/report/reason.h"
#include "sim/scenario/scenario_emit.h"
#include "text/table.h"

void wait_sums_init(struct wait_sums *sums)
{
    *sums = (struct wait_sums){0};
    intern_init(&sums->queues);
}

void wait_sums_done(struct wait_sums *sums)
{
    intern_done(&sums->queues);
    vec_done(&sums->by_queue);
}

static void add_to(struct wait_sum *sum, const nsec_t time[static _VERDICT_CODE_MAX])
{
    bool has_waited = false;

    for (int code = 0; code < _VERDICT_CODE_MAX; code++) {
        sum->time[code] += time[code];
        sum->workloads_for[code] += time[code] > 0;
        has_waited |= time[code] > 0;
    }
    sum->workloads += has_waited;
}

void wait_sums_add(struct wait_sums *sums, const char *queue, const nsec_t time[static _VERDICT_CODE_MAX])
{
    uint32_t id = intern_id(&sums->queues, queue, strlen(queue));

    if (sums->by_queue.len <= id)
        vec_resize(&sums->by_queue, id + 1);
    add_to(&sums->by_queue.items[id], time);
    add_to(&sums->all, time);
}

nsec_t wait_sum_total(const struct wait_sum *sum)
{
    nsec_t total = 0;

    for (int code = 0; code < _VERDICT_CODE_MAX; code++)
        total += sum->time[code];
    return total;
}

uint32_t wait_sum_order(const struct wait_sum *sum, enum verdict_code order[static _VERDICT_CODE_MAX])
{
    uint32_t count = 0;

    for (int code = 0; code < _VERDICT_CODE_MAX; code++) {
        uint32_t at = count;

        if (sum->time[code] == 0)
            continue;
        for (; at > 0 && sum->time[order[at - 1]] < sum->time[code]; at--)
            order[at] = order[at - 1];
        order[at] = (enum verdict_code)code;
        count++;
    }
    return count;
}

/* Queues whose workloads waited, those that waited longest first, then by name. */
struct ordered {
    nsec_t total;
    uint32_t queue;
    const char *name;
};

struct ordered_list VEC_OF(struct ordered);

static int longest_first(const void *left, const void *right)
{
    const struct ordered *a = left;
    const struct ordered *b = right;

    if (a->total != b->total)
        return a->total > b->total ? -1 : 1;
    return strcmp(a->name, b->name);
}

static void order_queues(const struct wait_sums *sums, struct ordered_list *ret)
{
    for (uint32_t i = 0; i < sums->by_queue.len; i++) {
        nsec_t total = wait_sum_total(&sums->by_queue.items[i]);

        if (total > 0)
            vec_push(ret, (struct ordered){total, i, intern_str(&sums->queues, i)});
    }
    if (ret->len > 0)
        qsort(ret->items, ret->len, sizeof *ret->items, longest_first);
}

static void add_row(struct table *t, const char *queue, const char *reason, const char *outlook, uint32_t workloads,
                    int64_t seconds, double part)
{
    enum text_style style = *reason ? STYLE_PLAIN : STYLE_BOLD;
    char count[METRIC_TEXT_MAX];
    char text[WAIT_TEXT_MAX];

    table_cell(t, style, "%s", queue);
    table_cell(t, style, "%s", *reason ? reason : "total");
    table_cell(t, style, "%s", outlook);
    table_cell(t, style, "%s", metric_format(UNIT_COUNT, workloads, count));
    table_cell(t, style, "%s", wait_text(seconds, text));
    table_cell(t, style, "%.1f%%", part * 100);
}

static void add_sum(struct table *t, const char *queue, const struct wait_sum *sum, nsec_t whole)
{
    enum verdict_code order[_VERDICT_CODE_MAX];
    uint32_t count = wait_sum_order(sum, order);
    nsec_t total = wait_sum_total(sum);
    nsec_t before = 0;

    add_row(t, queue, "", "", sum->workloads, wait_seconds(total), (double)total / (double)whole);
    for (uint32_t i = 0; i < count; i++) {
        char words[REASON_TEXT_MAX];
        nsec_t time = sum->time[order[i]];

        add_row(t, "", reason_words(order[i], words), reason_outlook(order[i]), sum->workloads_for[order[i]],
                wait_seconds(before + time) - wait_seconds(before), (double)time / (double)whole);
        before += time;
    }
}

void wait_sums_print(const struct wait_sums *sums, const struct table_view *view, FILE *out)
{
    static const struct table_column columns[] = {
        {"QUEUE", TABLE_LEFT, TABLE_CUT},     {"REASON", TABLE_LEFT, TABLE_WHOLE},
        {"OUTLOOK", TABLE_LEFT, TABLE_WHOLE}, {"WORKLOADS", TABLE_RIGHT, TABLE_WHOLE},
        {"WAITED", TABLE_RIGHT, TABLE_WHOLE}, {"PART", TABLE_RIGHT, TABLE_WHOLE},
    };
    nsec_t whole = wait_sum_total(&sums->all);
    struct ordered_list list = {0};
    struct table t;

    if (whole == 0) {
        (void)fputs("No workload waited.\n", out);
        return;
    }
    order_queues(sums, &list);
    table_init(&t, columns, ARRAY_LEN(columns));
    add_sum(&t, "all queues", &sums->all, whole);
    vec_foreach (&list, at)
        add_sum(&t, *at->name ? at->name : "no queue", &sums->by_queue.items[at->queue], whole);
    table_print(&t, view, out);
    table_done(&t);
    vec_done(&list);
}

void wait_sums_write(struct emit *e, const struct wait_sums *sums)
{
    struct ordered_list list = {0};

    order_queues(sums, &list);
    emit_open(e, "waits", '[');
    vec_foreach (&list, at) {
        const struct wait_sum *sum = &sums->by_queue.items[at->queue];
        enum verdict_code order[_VERDICT_CODE_MAX];
        uint32_t count = wait_sum_order(sum, order);

        for (uint32_t i = 0; i < count; i++) {
            emit_open(e, NULL, '{');
            emit_str(e, "queue", at->name);
            emit_str(e, "reason", verdict_code_name(order[i]));
            emit_int(e, "workloads", sum->workloads_for[order[i]]);
            emit_double(e, "seconds", (double)sum->time[order[i]] / 1e9);
            emit_close(e, '}');
        }
    }
    emit_close(e, ']');
    vec_done(&list);
}

int64_t wait_seconds(nsec_t time)
{
    return (time + NSEC_PER_SEC / 2) / NSEC_PER_SEC;
}

const char *wait_text(int64_t seconds, char text[static WAIT_TEXT_MAX])
{
    static const struct {
        const char *name;
        int64_t seconds;
    } units[] = {{"d", 86400}, {"h", 3600}, {"m", 60}, {"s", 1}};
    int len = 0;

    for (size_t i = 0; i < ARRAY_LEN(units); i++) {
        int64_t count = seconds / units[i].seconds;

        seconds -= count * units[i].seconds;
        if (count > 0 || (i + 1 == ARRAY_LEN(units) && len == 0))
            len += snprintf(text + len, WAIT_TEXT_MAX - (size_t)len, "%s%" PRId64 "%s", len > 0 ? " " : "", count,
                            units[i].name);
    }
    return text;
}
