/* SPDX-License-Identifier: Apache-2.0 */

/* --journal: everything that goes in and comes out, for muster replay. */
#include <errno.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "engine/config.h"
#include "frame/service.h"
#include "journal/journal.h"
#include "services/scheduler/flags.h"
#include "services/scheduler/observe/observers.h"
#include "text/quantity.h"

struct journal_observer {
    const struct scheduler_view *view;
    struct journal *journal;
};

static void on_trouble(void *arg, const struct err *err)
{
    const struct journal_observer *observer = arg;
    struct log *log = observer->view->service->log;

    if (err)
        log_fail(log, "the journal cannot be written; scheduling continues without it", log_error(err));
    else
        log_info(log, "the journal is written again", log_str("folder", observer->view->flags->journal));
}

static void on_cycle_begin(void *arg, const struct scheduler_cycle *cycle)
{
    struct journal_observer *observer = arg;

    journal_cycle_begin(observer->journal, cycle->number, cycle->now);
}

static void on_cycle_end(void *arg, const struct scheduler_cycle *cycle)
{
    struct journal_observer *observer = arg;
    const struct config *config = observer->view->config;

    (void)cycle;
    journal_cycle_end(observer->journal, observer->view->engine, config->actions, config->action_count);
}

static void collect(void *arg, struct metrics *metrics)
{
    const struct journal_observer *observer = arg;
    struct meter *bytes = metrics_gauge(metrics, "journal_bytes", "Size of the journal on disk.", NULL);
    struct meter *cycles = metrics_gauge(metrics, "journal_cycles", "Cycles in the journal.", NULL);
    struct meter *is_well = metrics_gauge(metrics, "journal_is_written", "1, or 0 when it cannot be written.", NULL);

    meter_set(meter_series(bytes, NULL), (double)journal_bytes(observer->journal));
    meter_set(meter_series(cycles, NULL), (double)journal_cycles(observer->journal));
    meter_set(meter_series(is_well, NULL), journal_is_well(observer->journal));
}

static void free_observer(void *arg)
{
    struct journal_observer *observer = arg;

    journal_close(observer->journal);
    free(observer);
}

static int open_journal(struct journal_observer *observer, struct err *err)
{
    const struct scheduler_view *view = observer->view;
    struct journal_options options = {.folder = view->flags->journal, .trouble = on_trouble, .arg = observer};
    int64_t size = 0;
    int r = quantity_parse(view->flags->journal_size, QUANTITY_ONE, &size, err);

    if (r < 0)
        return err_wrap(err, r, "--journal-size");
    options.size_max = (uint64_t)size;
    r = journal_open(&options, view->state, view->config, &observer->journal, err);
    return r < 0 ? err_wrap(err, r, "--journal") : 0;
}

static int on_renewed(void *arg, struct err *err)
{
    struct journal_observer *observer = arg;

    journal_close(TAKE_PTR(observer->journal));
    int r = open_journal(observer, err);
    if (r >= 0)
        journal_follow_clock(observer->journal, observer->view->engine);
    return r;
}

int observe_for_journal(const struct scheduler_view *view, struct scheduler_observer *ret, struct err *err)
{
    if (*view->flags->journal == '\0')
        return 0;
    struct journal_observer *observer = xcalloc(1, sizeof *observer);

    observer->view = view;
    int r = open_journal(observer, err);
    if (r < 0) {
        free(observer);
        return r;
    }
    journal_follow_clock(observer->journal, view->engine);
    metrics_on_collect(view->service->metrics, collect, observer);
    *ret = (struct scheduler_observer){
        .arg = observer,
        .on_cycle_begin = on_cycle_begin,
        .on_cycle_end = on_cycle_end,
        .on_renewed = on_renewed,
        .free = free_observer,
    };
    return 1;
}
