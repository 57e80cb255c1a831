/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Each attempt reads the Lease, decides and writes; the version in what is written makes sure that nobody came in
 * between. What counts for us is when an attempt began that succeeded: others may count from there too, and never
 * later. They go on counting while our machine is suspended, and so do we.
 */
#include "kube/lease/lease.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "kube/client/meta.h"
#include "kube/client/prober.h"
#include "kube/client/verbs.h"
#include "kube/follow/watch.h"
#include "kube/lease/lease_internal.h"
#include "net/loop.h"

/* After so long a watch of another's lease is begun anew. */
enum { WATCH_SECONDS = 300 };

static const struct lease_options defaults = {
    .duration = 15 * NSEC_PER_SEC, .renew_deadline = 10 * NSEC_PER_SEC, .retry_period = 2 * NSEC_PER_SEC};

struct lease {
    struct kube_client *client;
    struct lease_options options;
    char *namespace;
    char *name;
    char *identity;
    struct kube_call *call;
    struct loop_timer next;      // attempt
    struct loop_timer deadline;  // of holding it
    struct kube_wait back;       // the server may come back before the next attempt
    bool was_woken;              // by that, since an attempt went well
    struct kube_watch *watch;    // of another's lease: it may be given up before the next attempt
    bool may_not_watch;          // our role does not let us; then the next attempt finds out
    struct lease_record record;  // as seen last
    char leader[256];            // that was told of
    nsec_t seen;                 // when the record changed
    nsec_t began;                // the attempt that is under way, by the clock that a suspended machine does not stop
    nsec_t renewed;              // when the last good attempt began, likewise
    bool is_held;
    bool is_lost;
    void (*on_released)(void *arg);
    void *released_arg;
};

static void stop_watching(struct lease *lease)
{
    if (lease->watch)
        kube_watch_cancel(TAKE_PTR(lease->watch));
}

static void lose(struct lease *lease, const struct err *err)
{
    struct lease_options options = lease->options;

    lease->is_held = false;
    lease->is_lost = true;
    loop_timer_stop(&lease->next);
    loop_timer_stop(&lease->deadline);
    kube_wait_cancel(lease->client, &lease->back);
    kube_cancel(TAKE_PTR(lease->call));
    options.on_lost(options.arg, err);
}

static void on_deadline(void *arg)
{
    struct lease *lease = arg;
    struct err err;

    (void)err_set(&err, -ETIMEDOUT, "lease %s/%s was not renewed in time", lease->namespace, lease->name);
    lose(lease, &err);
}

static void plan(struct lease *lease)
{
    uint64_t random = chance_next(kube_client_chance(lease->client));
    nsec_t period = lease->options.retry_period;

    /* Those who wait do not all come at the same moment. */
    loop_timer_start(&lease->next, lease->is_held ? period : period + (nsec_t)(random % ((uint64_t)period / 5 + 1)));
}

/* Whoever is refused for good comes back once only. */
static void fail(struct lease *lease, const struct err *err)
{
    plan(lease);
    if (!lease->was_woken)
        kube_await_server(lease->client, &lease->back);
    if (lease->options.on_problem)
        lease->options.on_problem(lease->options.arg, err);
}

static void on_server_back(void *arg)
{
    struct lease *lease = arg;

    if (!loop_timer_is_running(&lease->next))
        return;
    lease->was_woken = true;
    loop_timer_start(&lease->next, 0);
}

static void hold(struct lease *lease)
{
    bool was_held = lease->is_held;

    lease->renewed = lease->began;
    lease->is_held = true;
    lease->was_woken = false;
    loop_timer_start(&lease->deadline, lease->renewed + lease->options.renew_deadline - nsec_now_boot());
    stop_watching(lease);
    plan(lease);
    if (!was_held)
        lease->options.on_held(lease->options.arg);
}

static void on_written(void *arg, const struct kube_answer *answer)
{
    struct lease *lease = arg;

    lease->call = NULL;
    if (answer->err.code == 0)
        hold(lease);
    else if (kube_answer_is_conflict(answer) || answer->err.code == -EEXIST)
        plan(lease);  // somebody was faster; the next attempt shows who
    else
        fail(lease, &answer->err);
}

static void write_lease(struct lease *lease, enum kube_verb verb, const yyjson_mut_doc *doc, kube_done_fn on_done)
{
    lease->call = kube_send_doc(lease->client,
                                &(struct kube_request){
                                    .verb = verb,
                                    .resource = kube_known(KUBE_LEASES),
                                    .namespace = lease->namespace,
                                    .name = verb == KUBE_CREATE ? NULL : lease->name,
                                    .is_urgent = true,
                                    .tries = 1,
                                    .timeout = lease->options.renew_deadline / 2,
                                    .on_done = on_done,
                                    .arg = lease,
                                },
                                doc);
}

/* Whoever stops in order gives the lease back, and does not let others wait. */
static int on_change(void *arg, const struct kube_event *event, const struct err *err)
{
    struct lease *lease = arg;
    struct lease_record record = {0};

    (void)err;
    if (!event || event->change == KUBE_BOOKMARK)
        return 0;
    if (event->change != KUBE_DELETED)
        lease_record_read(event->object, &record);
    if (!record.holder[0] && loop_timer_is_running(&lease->next))
        loop_timer_start(&lease->next, 0);
    return 0;
}

static void on_watched(void *arg, const struct kube_watch_end *end)
{
    struct lease *lease = arg;

    lease->watch = NULL;
    lease->may_not_watch = end->status == 403;
}

static void watch_leader(struct lease *lease)
{
    char selector[512];

    if (lease->watch || lease->may_not_watch)
        return;
    (void)snprintf(selector, sizeof selector, "metadata.name=%s", lease->name);
    lease->watch = kube_watch_start(lease->client, &(struct kube_watch_request){
                                                       .resource = kube_known(KUBE_LEASES),
                                                       .namespace = lease->namespace,
                                                       .field_selector = selector,
                                                       .timeout_s = WATCH_SECONDS,
                                                       .idle_timeout = 2 * WATCH_SECONDS * NSEC_PER_SEC,
                                                       .on_event = on_change,
                                                       .on_done = on_watched,
                                                       .arg = lease,
                                                   });
}

/* Another one holds it. */
static void follow_leader(struct lease *lease)
{
    struct lease_options options = lease->options;
    struct err err;

    if (lease->is_held) {
        (void)err_set(&err, -EPERM, "lease %s/%s is now held by %s", lease->namespace, lease->name,
                      lease->record.holder);
        lose(lease, &err);
        return;
    }
    lease->was_woken = false;
    plan(lease);
    watch_leader(lease);
    if (strcmp(lease->leader, lease->record.holder) == 0)
        return;
    memcpy(lease->leader, lease->record.holder, sizeof lease->leader);
    if (options.on_leader)
        options.on_leader(options.arg, lease->leader);
}

static void observe(struct lease *lease, const struct lease_record *record)
{
    if (memcmp(record, &lease->record, sizeof *record) == 0)
        return;
    lease->record = *record;
    lease->seen = nsec_now_monotonic();
}

static void decide(struct lease *lease, yyjson_val *object)
{
    struct lease_record record;

    if (object) {
        lease_record_read(object, &record);
        observe(lease, &record);
    }
    enum lease_step step =
        lease_decide(object ? &lease->record : NULL, lease->identity, lease->seen, nsec_now_monotonic());

    if (step == LEASE_WAIT) {
        follow_leader(lease);
        return;
    }
    struct lease_claim claim = {
        .namespace = lease->namespace,
        .name = lease->name,
        .identity = lease->identity,
        .duration = lease->options.duration,
        .now = nsec_now_wall(),
    };
    yyjson_mut_doc *doc = lease_claim_encode(&claim, object, step);

    write_lease(lease, step == LEASE_CREATE ? KUBE_CREATE : KUBE_UPDATE, doc, on_written);
    yyjson_mut_doc_free(doc);
}

static void on_read(void *arg, const struct kube_answer *answer)
{
    struct lease *lease = arg;
    struct err err = answer->err;
    yyjson_val *object = NULL;

    lease->call = NULL;
    if (answer->status == 404 || (err.code == 0 && kube_answer_object(answer, &object, &err) == 0)) {
        decide(lease, object);
        return;
    }
    fail(lease, &err);
}

static void read_lease(struct lease *lease, kube_done_fn on_done)
{
    lease->call = kube_send(lease->client, &(struct kube_request){
                                               .verb = KUBE_GET,
                                               .resource = kube_known(KUBE_LEASES),
                                               .namespace = lease->namespace,
                                               .name = lease->name,
                                               .is_urgent = true,
                                               .tries = 1,
                                               .timeout = lease->options.renew_deadline / 2,
                                               .on_done = on_done,
                                               .arg = lease,
                                           });
}

static void attempt(void *arg)
{
    struct lease *lease = arg;

    lease->began = nsec_now_boot();
    read_lease(lease, on_read);
}

struct lease *lease_new(struct kube_client *client, const struct lease_options *options)
{
    struct lease *lease = xcalloc(1, sizeof *lease);

    lease->client = client;
    lease->options = *options;
    if (!options->duration)
        lease->options.duration = defaults.duration;
    if (!options->renew_deadline)
        lease->options.renew_deadline = defaults.renew_deadline;
    if (!options->retry_period)
        lease->options.retry_period = defaults.retry_period;
    /* Others may act after the duration: by then we must have stopped. */
    BUG_ON(lease->options.renew_deadline >= lease->options.duration);
    lease->namespace = xstrdup(options->namespace);
    lease->name = xstrdup(options->name);
    lease->identity = xstrndup(options->identity, sizeof lease->record.holder - 1);
    loop_timer_init(&lease->next, kube_client_loop(client), attempt, lease);
    loop_timer_init(&lease->deadline, kube_client_loop(client), on_deadline, lease);
    lease->back = (struct kube_wait){.on_back = on_server_back, .arg = lease};
    loop_timer_start(&lease->next, 0);
    return lease;
}

void lease_free(struct lease *lease)
{
    if (!lease)
        return;
    kube_cancel(lease->call);
    stop_watching(lease);
    kube_wait_cancel(lease->client, &lease->back);
    loop_timer_done(&lease->next);
    loop_timer_done(&lease->deadline);
    free(lease->namespace);
    free(lease->name);
    free(lease->identity);
    free(lease);
}

static void finish_release(struct lease *lease)
{
    void (*on_released)(void *arg) = lease->on_released;
    void *arg = lease->released_arg;

    lease_free(lease);
    if (on_released)
        on_released(arg);
}

static void on_released(void *arg, const struct kube_answer *answer)
{
    struct lease *lease = arg;

    /* If it did not work, others wait a little longer. */
    (void)answer;
    lease->call = NULL;
    finish_release(lease);
}

static void on_read_to_release(void *arg, const struct kube_answer *answer)
{
    struct lease *lease = arg;
    yyjson_val *object = NULL;
    struct lease_record record = {0};

    lease->call = NULL;
    if (answer->err.code == 0 && kube_answer_object(answer, &object, NULL) == 0)
        lease_record_read(object, &record);
    if (strcmp(record.holder, lease->identity) != 0) {
        finish_release(lease);
        return;
    }
    yyjson_mut_doc *doc = lease_release_encode(object, nsec_now_wall());

    write_lease(lease, KUBE_UPDATE, doc, on_released);
    yyjson_mut_doc_free(doc);
}

static void on_nothing_to_release(void *arg)
{
    finish_release(arg);
}

void lease_release(struct lease *lease, void (*on_done)(void *arg), void *arg)
{
    kube_cancel(TAKE_PTR(lease->call));
    stop_watching(lease);
    kube_wait_cancel(lease->client, &lease->back);
    loop_timer_stop(&lease->deadline);
    loop_timer_stop(&lease->next);
    lease->on_released = on_done;
    lease->released_arg = arg;
    if (!lease->is_held) {
        lease->next.fn = on_nothing_to_release;
        loop_timer_start(&lease->next, 0);
        return;
    }
    lease->is_held = false;
    read_lease(lease, on_read_to_release);
}

bool lease_is_held(const struct lease *lease)
{
    return lease->is_held && nsec_now_boot() - lease->renewed < lease->options.renew_deadline;
}
