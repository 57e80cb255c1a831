/* SPDX-License-Identifier: Apache-2.0 */
#include "services/scheduler/intake/usage_history.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "kube/client/client.h"
#include "kube/client/verbs.h"
#include "model/state.h"
#include "net/loop.h"
#include "services/scheduler/intake/daybook.h"
#include "services/scheduler/intake/usage_internal.h"
#include "services/scheduler/pace.h"
#include "text/json.h"

/* A scheduler that dies loses no more than what is noted in this time. */
#define WRITE_INTERVAL (5 * NSEC_PER_MIN)
#define AGAIN (10 * NSEC_PER_SEC)
#define KEY "history.json"
enum { NAME_MAX_LEN = 253 };

struct usage_history {
    struct usage_history_options options;
    char name[NAME_MAX_LEN + 1];
    const struct state *state;
    struct daybook *record;  // NULL: it has not been read
    struct kube_call *read, *write;
    struct loop_timer sample;  // the next one
    struct loop_timer save;    // when it is written
    struct loop_timer again;   // when it is read, after a failure
    bool is_changed;           // since it was last written
    bool is_stopping;
};

/* Noting. */

static bool may_note(const struct usage_history *history)
{
    const struct pace *pace = history->options.pace;

    return history->record && history->state && !history->is_stopping && !pace_is_held(pace, HOLD_LISTING) &&
           !pace_is_held(pace, HOLD_STANDBY);
}

/* What Prometheus would be told of the nodes. */
static void add_up_nodes(const struct state *state, double ret_capacity[SHARE_COUNT])
{
    struct amounts total = {0};

    for (node_id id = 0; id < state->nodes.len; id++) {
        const int64_t *allocatable = state_books(state, id).allocatable;

        if (!state->nodes.items[id].is_present)
            continue;
        total.v[SHARE_CPU] += allocatable[RES_CPU];
        total.v[SHARE_MEMORY] += allocatable[RES_MEMORY];
        total.v[SHARE_GPU] += resources_total_gpu(&state->res, allocatable);
    }
    for (int r = 0; r < SHARE_COUNT; r++)
        ret_capacity[r] = share_to_double(r, total.v[r]);
}

static void note(struct usage_history *history, nsec_t at)
{
    const struct state *state = history->state;
    double amounts[SHARE_COUNT];

    add_up_nodes(state, amounts);
    if (!daybook_begin(history->record, at, history->options.settings->source.resolution, amounts))
        return;
    for (queue_id id = 0; id < state->queues.len; id++) {
        const struct queue *queue = &state->queues.items[id];
        bool has_something = false;

        for (int r = 0; r < SHARE_COUNT; r++) {
            amounts[r] = share_to_double(r, queue->allocated.v[r]);
            has_something = has_something || amounts[r] > 0;
        }
        if (queue->is_present && has_something)
            daybook_add(history->record, state_name(state, queue->name), amounts);
    }
    history->is_changed = true;
    if (!loop_timer_is_running(&history->save) && !history->write)
        loop_timer_start(&history->save, WRITE_INTERVAL);
}

/* Samples are those of Prometheus: at multiples of the resolution, whenever the process was started. */
static void await_sample(struct usage_history *history)
{
    nsec_t step = history->options.settings->source.resolution;

    loop_timer_start(&history->sample, step - nsec_now_wall() % step);
}

static void on_sample(void *arg)
{
    struct usage_history *history = arg;
    nsec_t step = history->options.settings->source.resolution;
    nsec_t now = nsec_now_wall();

    if (may_note(history))
        note(history, now - now % step);
    await_sample(history);
}

/* Writing. */

static void write_record(struct usage_history *history);

static void on_save(void *arg)
{
    write_record(arg);
}

static void on_written(void *arg, const struct kube_answer *answer)
{
    struct usage_history *history = arg;

    history->write = NULL;
    if (answer->err.code < 0) {
        log_warn(history->options.log, "the record of past use could not be written",
                 log_str("configmap", history->name), log_error(&answer->err));
        history->is_changed = true;
    }
    if (history->is_changed && !history->is_stopping)
        loop_timer_start(&history->save, WRITE_INTERVAL);
}

static void send_record(struct usage_history *history, const char *text, size_t len)
{
    yyjson_mut_doc *doc = json_new_object(NULL);
    yyjson_mut_val *root = yyjson_mut_doc_get_root(doc);
    yyjson_mut_val *meta = yyjson_mut_obj_add_obj(doc, root, "metadata");
    yyjson_mut_val *data = yyjson_mut_obj_add_obj(doc, root, "data");

    (void)yyjson_mut_obj_add_str(doc, root, "apiVersion", "v1");
    (void)yyjson_mut_obj_add_str(doc, root, "kind", "ConfigMap");
    (void)yyjson_mut_obj_add_str(doc, meta, "name", history->name);
    (void)yyjson_mut_obj_add_strn(doc, data, KEY, text, len);
    history->write = kube_send_doc(history->options.client,
                                   &(struct kube_request){
                                       .verb = KUBE_APPLY,
                                       .resource = kube_known(KUBE_CONFIG_MAPS),
                                       .namespace = history->options.namespace,
                                       .name = history->name,
                                       .field_manager = "muster-scheduler",
                                       .is_forced = true,
                                       .is_repeatable = true,
                                       .on_done = on_written,
                                       .arg = history,
                                   },
                                   doc);
    yyjson_mut_doc_free(doc);
}

static void write_record(struct usage_history *history)
{
    size_t len = 0;

    if (!history->is_changed || history->write || history->options.is_silent)
        return;
    loop_timer_stop(&history->save);
    history->is_changed = false;
    _cleanup_(freep) char *text = daybook_encode(history->record, &len);
    if (text)
        send_record(history, text, len);
    else
        log_warn(history->options.log, "the record of past use is too large to be written: there are too many queues",
                 log_str("configmap", history->name));
}

/* Reading. */

static void read_record(struct usage_history *history);

static void on_again(void *arg)
{
    read_record(arg);
}

/* A record that makes no sense is replaced: nobody else could read it either. */
static void take_record(struct usage_history *history, yyjson_val *config_map)
{
    yyjson_val *text = yyjson_obj_get(yyjson_obj_get(config_map, "data"), KEY);
    struct err err = {0};

    if (!yyjson_is_str(text) ||
        daybook_decode(yyjson_get_str(text), yyjson_get_len(text), &history->record, &err) < 0) {
        log_warn(history->options.log, "the record of past use is invalid; starting a new one",
                 log_str("configmap", history->name), log_error(&err));
        history->record = daybook_new();
    }
}

static void on_read(void *arg, const struct kube_answer *answer)
{
    struct usage_history *history = arg;
    yyjson_val *object = NULL;
    struct err err = answer->err;

    history->read = NULL;
    if (answer->status == 404) {
        history->record = daybook_new();
    } else if (err.code < 0 || kube_answer_object(answer, &object, &err) < 0) {
        log_warn(history->options.log, "the record of past use could not be read", log_str("configmap", history->name),
                 log_error(&err), log_duration("again_after", AGAIN));
        loop_timer_start(&history->again, AGAIN);
    } else {
        take_record(history, object);
    }
}

static void read_record(struct usage_history *history)
{
    if (history->read || loop_timer_is_running(&history->again) || pace_is_held(history->options.pace, HOLD_STANDBY))
        return;
    history->read = kube_send(history->options.client, &(struct kube_request){
                                                           .verb = KUBE_GET,
                                                           .resource = kube_known(KUBE_CONFIG_MAPS),
                                                           .namespace = history->options.namespace,
                                                           .name = history->name,
                                                           .on_done = on_read,
                                                           .arg = history,
                                                       });
}

/* Answering. */

/* What will never count again, whatever the time. */
static void forget_the_old(struct usage_history *history, nsec_t now, nsec_t range)
{
    /* A millionth of a millionth is nothing. */
    enum { HALF_LIVES = 40 };
    nsec_t half_life = history->options.settings->half_life;

    if (half_life > 0 && range / HALF_LIVES > half_life)
        range = half_life * HALF_LIVES;
    daybook_drop(history->record, now - range);
}

bool usage_history_sum(struct usage_history *history, nsec_t now, nsec_t range, struct usage_samples *ret_queues,
                       struct usage_samples *ret_whole)
{
    nsec_t half_life = history->options.settings->half_life;

    if (!history->record) {
        read_record(history);
        return false;
    }
    forget_the_old(history, now, range);
    for (int r = 0; r < SHARE_COUNT; r++) {
        double whole = 0;

        daybook_sum(history->record, now, range, half_life, r, &ret_queues[r], &whole);
        vec_push(&ret_whole[r], (struct usage_sample){xstrdup(""), whole});
    }
    return true;
}

/* Its life. */

struct usage_history *usage_history_new(const struct usage_history_options *options)
{
    struct usage_history *history = xcalloc(1, sizeof *history);

    history->options = *options;
    (void)snprintf(history->name, sizeof history->name, "usage-%s", options->scheduler);
    loop_timer_init(&history->sample, options->loop, on_sample, history);
    loop_timer_init(&history->save, options->loop, on_save, history);
    loop_timer_init(&history->again, options->loop, on_again, history);
    await_sample(history);
    return history;
}

void usage_history_free(struct usage_history *history)
{
    if (!history)
        return;
    kube_cancel(history->read);
    kube_cancel(history->write);
    loop_timer_done(&history->sample);
    loop_timer_done(&history->save);
    loop_timer_done(&history->again);
    daybook_free(history->record);
    free(history);
}

void usage_history_set_state(struct usage_history *history, const struct state *state)
{
    history->state = state;
}

void usage_history_stop(struct usage_history *history)
{
    history->is_stopping = true;
    write_record(history);
}

bool usage_history_is_idle(const struct usage_history *history)
{
    return !history->write;
}
