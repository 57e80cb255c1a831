/* SPDX-License-Identifier: Apache-2.0 */

/* How workloads waited, for people and for programs. */
#include <inttypes.h>

#include "sim/report/reason.h"
#include "sim/report/wait_sums.h"
#include "sim/scenario/scenario_emit.h"
#include "sim/why/past/account.h"
#include "text/table.h"

enum { SPANS_SHOWN = 40 };

static struct wait_sum sum_of(const struct account *account, uint32_t index)
{
    struct wait_sum sum = {0};

    account_waits(account, index, sum.time);
    return sum;
}

static void print_times(const struct account *account, const struct account_workload *workload, FILE *out)
{
    char text[TIME_TEXT_MAX];

    (void)fprintf(out, "WORKLOAD  %s (queue %s)\n", workload->label, *workload->queue ? workload->queue : "unknown");
    (void)fprintf(out, "STATE     %s at %s\n", account_state_name(workload->state), time_format(account->last, text));
    (void)fprintf(out, "CREATED   %s%s\n", time_format(workload->submitted, text),
                  workload->is_older ? ", before the journal begins: what it waited before that is not known" : "");
    if (workload->first_start != 0) {
        (void)fprintf(out, "STARTED   %s", time_format(workload->first_start, text));
        if (workload->starts > 1)
            (void)fprintf(out, ", and %" PRIu32 " more time%s", workload->starts - 1, workload->starts == 2 ? "" : "s");
        (void)fputc('\n', out);
    }
    if (workload->ended != 0)
        (void)fprintf(out, "ENDED     %s\n", time_format(workload->ended, text));
}

static void print_reasons(const struct wait_sum *sum, const struct table_view *view, FILE *out)
{
    static const struct table_column columns[] = {
        {"REASON", TABLE_LEFT, TABLE_WHOLE},
        {"OUTLOOK", TABLE_LEFT, TABLE_WHOLE},
        {"WAITED", TABLE_RIGHT, TABLE_WHOLE},
        {"PART", TABLE_RIGHT, TABLE_WHOLE},
    };
    enum verdict_code order[_VERDICT_CODE_MAX];
    uint32_t count = wait_sum_order(sum, order);
    double whole = (double)wait_sum_total(sum);
    char text[WAIT_TEXT_MAX];
    nsec_t before = 0;
    struct table t;

    table_init(&t, columns, ARRAY_LEN(columns));
    for (uint32_t i = 0; i < count; i++) {
        char words[REASON_TEXT_MAX];
        nsec_t time = sum->time[order[i]];

        table_cell(&t, STYLE_PLAIN, "%s", reason_words(order[i], words));
        table_cell(&t, STYLE_PLAIN, "%s", reason_outlook(order[i]));
        table_cell(&t, STYLE_PLAIN, "%s", wait_text(wait_seconds(before + time) - wait_seconds(before), text));
        table_cell(&t, STYLE_PLAIN, "%.1f%%", (double)time / whole * 100);
        before += time;
    }
    table_cell(&t, STYLE_BOLD, "total");
    table_cell(&t, STYLE_BOLD, "%s", "");
    table_cell(&t, STYLE_BOLD, "%s", wait_text(wait_seconds(before), text));
    table_cell(&t, STYLE_BOLD, "100.0%%");
    (void)fputc('\n', out);
    table_print(&t, view, out);
    table_done(&t);
}

static void print_spans(const struct account *account, const struct account_workload *workload,
                        const struct table_view *view, FILE *out)
{
    static const struct table_column columns[] = {
        {"FROM", TABLE_LEFT, TABLE_WHOLE}, {"WAITED", TABLE_RIGHT, TABLE_WHOLE}, {"REASON", TABLE_LEFT, TABLE_WHOLE}};
    uint32_t shown = 0;
    uint32_t more = 0;
    struct table t;

    table_init(&t, columns, ARRAY_LEN(columns));
    for (uint32_t i = workload->first_span; i != NO_ID; i = account->spans.items[i].next) {
        const struct account_span *span = &account->spans.items[i];
        char words[REASON_TEXT_MAX];
        char time[TIME_TEXT_MAX];
        char text[WAIT_TEXT_MAX];

        if (shown == SPANS_SHOWN) {
            more++;
            continue;
        }
        shown++;
        table_cell(&t, STYLE_PLAIN, "%s", time_format(span->from, time));
        table_cell(&t, STYLE_PLAIN, "%s", wait_text(wait_seconds(span->until) - wait_seconds(span->from), text));
        table_cell(&t, STYLE_PLAIN, "%s", reason_words(span->code, words));
    }
    (void)fputc('\n', out);
    table_print(&t, view, out);
    if (more > 0)
        (void)fprintf(out, "and %" PRIu32 " more; -o json lists all\n", more);
    table_done(&t);
}

void account_print(const struct account *account, uint32_t index, const struct table_view *view, FILE *out)
{
    const struct account_workload *workload = &account->workloads.items[index];
    struct wait_sum sum = sum_of(account, index);
    char text[WAIT_TEXT_MAX];

    print_times(account, workload, out);
    (void)fprintf(out, "WAITED    %s", wait_text(wait_seconds(wait_sum_total(&sum)), text));
    if (workload->evictions > 0)
        (void)fprintf(out, "; pods of it were evicted %" PRIu32 " time%s", workload->evictions,
                      workload->evictions == 1 ? "" : "s");
    (void)fputc('\n', out);
    if (workload->first_span == NO_ID)
        return;
    print_reasons(&sum, view, out);
    print_spans(account, workload, view, out);
}

static void sum_up(const struct account *account, struct wait_sums *sums)
{
    wait_sums_init(sums);
    for (uint32_t i = 0; i < account->workloads.len; i++) {
        struct wait_sum sum = sum_of(account, i);

        wait_sums_add(sums, account->workloads.items[i].queue, sum.time);
    }
}

void account_print_all(const struct account *account, const struct table_view *view, FILE *out)
{
    struct wait_sums sums;
    char first[TIME_TEXT_MAX];
    char last[TIME_TEXT_MAX];

    sum_up(account, &sums);
    (void)fprintf(out, "%" PRIu32 " workload%s from %s to %s\n\n", account->workloads.len,
                  account->workloads.len == 1 ? "" : "s", time_format(account->first, first),
                  time_format(account->last, last));
    wait_sums_print(&sums, view, out);
    wait_sums_done(&sums);
}

static void write_time(struct emit *e, const char *key, nsec_t time)
{
    char text[TIME_TEXT_MAX];

    if (time != 0)
        emit_str(e, key, time_format(time, text));
}

static void write_reasons(struct emit *e, const struct wait_sum *sum)
{
    enum verdict_code order[_VERDICT_CODE_MAX];
    uint32_t count = wait_sum_order(sum, order);

    emit_double(e, "waitedSeconds", (double)wait_sum_total(sum) / 1e9);
    emit_open(e, "reasons", '[');
    for (uint32_t i = 0; i < count; i++) {
        emit_open(e, NULL, '{');
        emit_str(e, "reason", verdict_code_name(order[i]));
        emit_str(e, "outlook", verdict_class_name(verdict_class(order[i])));
        emit_double(e, "seconds", (double)sum->time[order[i]] / 1e9);
        emit_close(e, '}');
    }
    emit_close(e, ']');
}

void account_write(struct emit *e, const char *key, const struct account *account, uint32_t index)
{
    const struct account_workload *workload = &account->workloads.items[index];
    struct wait_sum sum = sum_of(account, index);

    emit_open(e, key, '{');
    emit_str(e, "workload", workload->label);
    emit_str(e, "namespace", workload->namespace);
    emit_str(e, "podGroup", workload->name);
    emit_str(e, "queue", workload->queue);
    emit_str(e, "state", account_state_name(workload->state));
    write_time(e, "created", workload->submitted);
    emit_bool(e, "isOlderThanJournal", workload->is_older);
    write_time(e, "started", workload->first_start);
    emit_int(e, "starts", workload->starts);
    emit_int(e, "evictions", workload->evictions);
    write_time(e, "ended", workload->ended);
    write_reasons(e, &sum);
    emit_open(e, "spans", '[');
    for (uint32_t i = workload->first_span; i != NO_ID; i = account->spans.items[i].next) {
        emit_open(e, NULL, '{');
        write_time(e, "from", account->spans.items[i].from);
        write_time(e, "until", account->spans.items[i].until);
        emit_str(e, "reason", verdict_code_name(account->spans.items[i].code));
        emit_close(e, '}');
    }
    emit_close(e, ']');
    emit_close(e, '}');
}

void account_write_all(struct emit *e, const struct account *account)
{
    struct wait_sums sums;

    sum_up(account, &sums);
    emit_open(e, NULL, '{');
    write_time(e, "from", account->first);
    write_time(e, "to", account->last);
    emit_double(e, "waitedSeconds", (double)wait_sum_total(&sums.all) / 1e9);
    wait_sums_write(e, &sums);
    emit_open(e, "workloads", '[');
    for (uint32_t i = 0; i < account->workloads.len; i++)
        account_write(e, NULL, account, i);
    emit_close(e, ']');
    emit_close(e, '}');
    wait_sums_done(&sums);
}
