/* SPDX-License-Identifier: Apache-2.0 */

#include "sim/report/report.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "model/state.h"
#include "sim/report/change.h"
#include "sim/report/metrics.h"
#include "sim/report/page.h"
#include "sim/report/reason.h"
#include "sim/report/requirement.h"
#include "sim/run/run.h"
#include "sim/scenario/scenario_emit.h"

/* ui/report, embedded by the build. */
extern const char report_js[];
extern const uint64_t report_js_len;

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
        emit_str(e, "code", verdict_code_name((enum verdict_code)i));
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

void report_write(FILE *out, const struct report *report)
{
    char *text = NULL;
    size_t len = 0;
    FILE *memory = open_memstream(&text, &len);

    if (!memory)
        return;
    write_data(report, memory);
    (void)fclose(memory);
    page_write(out, &(struct page){
                        .title = report->title,
                        .script = report_js,
                        .script_len = report_js_len,
                        .data = text,
                        .data_len = len,
                    });
    free(text);
}
