/* SPDX-License-Identifier: Apache-2.0 */

/* GPU hours of the workloads that the cluster has, from their start to their end. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "console/live/live_internal.h"
#include "console/rest/handlers.h"
#include "text/json.h"

static int read_time(const struct http_exchange *exchange, const char *name, nsec_t *time, struct err *err)
{
    const char *text = rest_query(exchange, name);
    int r = text ? time_parse(text, time, err) : 0;

    return r < 0 ? err_wrap(err, r, "%s", name) : 0;
}

struct use {
    const char *value;
    double hours, gpus;
    uint64_t workloads, running;
};

static int by_hours(const void *a, const void *b)
{
    const struct use *one = a;
    const struct use *two = b;

    return one->hours > two->hours ? -1 : one->hours < two->hours ? 1 : strcmp(one->value, two->value);
}

static void add_use(struct use *use, const struct work_row *row, nsec_t begin, nsec_t end, nsec_t now)
{
    nsec_t from = MAX(row->started, begin);
    nsec_t to = MIN(row->finished ? row->finished : now, end);

    if (!row->started || to <= from)
        return;
    use->hours += row->gpus * (double)(to - from) / NSEC_PER_HOUR;
    use->workloads++;
    if (!row->finished) {
        use->running++;
        use->gpus += row->gpus;
    }
}

static void write_uses(struct use *uses, uint32_t count, struct strbuf *out)
{
    const char *separator = "";

    qsort(uses, count, sizeof *uses, by_hours);
    strbuf_addstr(out, ",\"items\":[");
    for (uint32_t i = 0; i < count; i++) {
        if (uses[i].workloads == 0)
            continue;
        strbuf_addf(out, "%s{\"value\":", separator);
        json_add_string(out, uses[i].value);
        strbuf_addf(out, ",\"gpuHours\":%.10g,\"workloads\":%llu,\"running\":%llu,\"gpus\":%.10g}", uses[i].hours,
                    (unsigned long long)uses[i].workloads, (unsigned long long)uses[i].running, uses[i].gpus);
        separator = ",";
    }
    strbuf_addch(out, ']');
}

/* Adds up by column. Returns the start of the oldest. */
static nsec_t add_up(const struct live_answer *answer, const struct work_rows *rows, enum work_text by, nsec_t begin,
                     nsec_t end, struct use *uses)
{
    const struct intern *texts = &answer->live->index.texts;
    nsec_t since = 0;

    for (uint32_t id = 0; id < intern_len(texts); id++)
        uses[id].value = intern_str(texts, id);
    vec_foreach (rows, row) {
        add_use(&uses[(*row)->texts[by]], *row, begin, end, answer->now);
        if ((*row)->started && (!since || (*row)->started < since))
            since = (*row)->started;
    }
    return since;
}

static int answer_usage(struct live_answer *answer, struct err *err)
{
    nsec_t begin = answer->now - 24 * NSEC_PER_HOUR;
    nsec_t end = answer->now;
    enum work_text by = WORK_QUEUE;
    struct live_chosen chosen;
    int r;

    if ((r = live_read_by(answer->exchange, &by, err)) < 0 ||
        (r = read_time(answer->exchange, "start", &begin, err)) < 0 ||
        (r = read_time(answer->exchange, "end", &end, err)) < 0 || (r = live_choose(answer, &chosen, err)) < 0)
        return r;
    end = MIN(end, answer->now);
    uint32_t count = intern_len(&answer->live->index.texts);
    struct use *uses = xcalloc(count, sizeof *uses);

    strbuf_addf(&answer->out, ",\"by\":\"%s\"", work_text_name(by));
    live_write_time(&answer->out, "start", begin);
    live_write_time(&answer->out, "end", end);
    live_write_time(&answer->out, "since", add_up(answer, &chosen.rows, by, begin, end, uses));
    write_uses(uses, count, &answer->out);
    live_write_hidden(&answer->out, "workloads", chosen.hidden);
    free(uses);
    vec_done(&chosen.rows);
    return 0;
}

LIVE_READS(live_usage, answer_usage)
