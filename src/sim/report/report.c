/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The page is a template with four places in it, "{{NAME}}". Names of queues and jobs come from outside: in the data every
 * '<' is written as an escape, so that nothing in it can end the script element it stands in.
 */
#include "sim/report/report.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "model/state.h"
#include "sim/report/change.h"
#include "sim/report/metrics.h"
#include "sim/report/reason.h"
#include "sim/report/requirement.h"
#include "sim/run/run.h"
#include "sim/scenario/scenario_emit.h"

/* ui/report, embedded by the build. */
extern const char report_html[];
extern const uint64_t report_html_len;
extern const char report_css[];
extern const uint64_t report_css_len;
extern const char report_js[];
extern const uint64_t report_js_len;

struct page {
    FILE *out;
    const struct report *report;
};

/* Queues that are worse off with B, although all workloads together may be better off. */
static void write_worse_queues(struct emit *e, const struct report *report, enum metric metric)
{
    const struct sim_run *first = report->runs[0].run;

    emit_open(e, "worse", '[');
    for (uint32_t i = 0; report->count == 2 && i < first->queues.len; i++)
        if (first->queues.items[i].is_leaf && change_of_queue(metric, first, report->runs[1].run, i) == CHANGE_WORSE)
            emit_str(e, NULL, state_name(first->state, first->queues.items[i].name));
    emit_close(e, ']');
}

static void write_metric_list(struct emit *e, const struct report *report)
{
    static const char *const units[] = {[UNIT_COUNT] = "count",
                                        [UNIT_SECONDS] = "seconds",
                                        [UNIT_PART] = "part",
                                        [UNIT_HOURS] = "hours",
                                        [UNIT_GPUS] = "count"};

    emit_open(e, "metrics", '[');
    for (int i = 0; i < _METRIC_MAX; i++) {
        const struct metric_info *info = metric_info((enum metric)i);

        emit_open(e, NULL, '{');
        emit_str(e, "name", info->name);
        emit_str(e, "unit", units[info->unit]);
        emit_int(e, "better", info->better);
        emit_bool(e, "isAtEnd", info->is_at_end);
        emit_str(e, "help", info->help);
        write_worse_queues(e, report, (enum metric)i);
        emit_close(e, '}');
    }
    emit_close(e, ']');
}

static void write_reasons(struct emit *e)
{
    char words[REASON_TEXT_MAX];

    emit_open(e, "reasons", '[');
    for (int i = 0; i < _VERDICT_CODE_MAX; i++) {
        emit_open(e, NULL, '{');
        emit_str(e, "words", reason_words((enum verdict_code)i, words));
        emit_str(e, "outlook", reason_outlook((enum verdict_code)i));
        emit_close(e, '}');
    }
    emit_close(e, ']');
}

static void write_data(const struct report *report, FILE *out)
{
    static const struct requirements none;
    struct emit e = {.out = out};

    emit_open(&e, NULL, '{');
    emit_bool(&e, "hasTrace", report->runs[0].run->has_trace);
    write_metric_list(&e, report);
    write_reasons(&e);
    requirements_write(&e, report->requirements ? report->requirements : &none);
    emit_open(&e, "simulations", '[');
    for (size_t i = 0; i < report->count; i++)
        report_write_run(&e, &report->runs[i]);
    emit_close(&e, ']');
    emit_close(&e, '}');
}

static void put_data(const struct page *page)
{
    char *text = NULL;
    size_t len = 0;
    FILE *memory = open_memstream(&text, &len);

    if (!memory)
        return;
    write_data(page->report, memory);
    (void)fclose(memory);
    for (const char *at = text, *end = text + len; at < end;) {
        size_t plain = strcspn(at, "<");

        (void)fwrite(at, 1, plain, page->out);
        at += plain;
        if (at < end) {
            (void)fputs("\\u003c", page->out);
            at++;
        }
    }
    free(text);
}

static void put_title(const struct page *page)
{
    for (const char *at = page->report->title; *at; at++) {
        if (*at == '<' || *at == '>' || *at == '&')
            (void)fprintf(page->out, "&#%d;", *at);
        else
            (void)fputc(*at, page->out);
    }
}

static void put_style(const struct page *page)
{
    (void)fwrite(report_css, 1, report_css_len, page->out);
}

static void put_script(const struct page *page)
{
    (void)fwrite(report_js, 1, report_js_len, page->out);
}

static const struct {
    const char *name;
    void (*put)(const struct page *page);
} places[] = {
    {"{{TITLE}}", put_title},
    {"{{STYLE}}", put_style},
    {"{{DATA}}", put_data},
    {"{{SCRIPT}}", put_script},
};

void report_write(FILE *out, const struct report *report)
{
    const struct page page = {out, report};
    const char *at = report_html;
    const char *page_end = report_html + report_html_len;

    while (at < page_end) {
        const char *next = memmem(at, (size_t)(page_end - at), "{{", 2);
        const char *end = next ? next : page_end;

        (void)fwrite(at, 1, (size_t)(end - at), out);
        at = end;
        for (size_t i = 0; next && i < ARRAY_LEN(places); i++) {
            size_t len = strlen(places[i].name);

            if ((size_t)(page_end - next) < len || memcmp(next, places[i].name, len) != 0)
                continue;
            places[i].put(&page);
            at = next + len;
        }
        BUG_ON(next && at == end);
    }
}
