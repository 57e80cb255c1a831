/* SPDX-License-Identifier: Apache-2.0 */

/* A queue of work in a service that runs in this process; nobody asks the API server. */
#include "frame/work.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/macros.h"
#include "base/strbuf.h"
#include "frame/process.h"
#include "frame/rush.h"
#include "frame/service.h"
#include "net/loop.h"

#define STEP (5 * NSEC_PER_MSEC)

struct thing {
    struct work_item item;
    const char *name;
};

static struct thing a, b, c, d;
static struct work *work;
static struct strbuf story;
static struct loop_timer timer;
static bool may_start;
static void (*next_step)(struct service *service);

static void tell(const char *text)
{
    strbuf_addf(&story, "%s ", text);
}

static bool agrees(void *arg)
{
    (void)arg;
    return may_start;
}

static void start(void *arg, struct work_item *item)
{
    (void)arg;
    const struct thing *const all[] = {&a, &b, &c, &d};

    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        if (item == &all[i]->item)
            tell(all[i]->name);
    }
}

static void after(void (*step)(struct service *service))
{
    next_step = step;
    loop_timer_start(&timer, STEP);
}

static void on_step(void *arg)
{
    next_step(arg);
}

static void end_the_last(struct service *service)
{
    (void)service;
    assert_int_equal(a.item.state, WORK_RUNNING);
    tell("ended");
    work_done(work, &a.item, NULL);
}

static void stop(struct service *service)
{
    (void)service;
    tell("stop");
    work_stop(work);
    work_add(work, &b.item);
    after(end_the_last);
}

static void drop_one(struct service *service)
{
    (void)service;
    assert_int_equal(a.item.state, WORK_RUNNING);
    assert_int_equal(c.item.state, WORK_RUNNING);
    work_drop(work, &c.item);
    assert_int_equal(work_len(work), 1);
    (void)raise(SIGTERM);
}

static void after_the_retry(struct service *service)
{
    /* It waits for another try, and what is written meanwhile does not hasten it. */
    if (a.item.state == WORK_WAITING) {
        work_add(work, &a.item);
        assert_int_equal(a.item.state, WORK_WAITING);
        after(after_the_retry);
        return;
    }
    (void)service;
    work_add(work, &c.item);
    after(drop_one);
}

static void fail_one(struct service *service)
{
    (void)service;
    assert_int_equal(a.item.state, WORK_RUNNING);
    work_done(work, &a.item, &(struct err){.code = -EIO});
    assert_int_equal(a.item.state, WORK_WAITING);
    assert_int_equal(work_len(work), 1);
    tell("retry");
    after(after_the_retry);
}

static void let_start(struct service *service)
{
    (void)service;
    assert_int_equal(a.item.state, WORK_QUEUED);
    may_start = true;
    work_pump(work);
    after(fail_one);
}

static void forbid_start(struct service *service)
{
    (void)service;
    assert_int_equal(a.item.state, WORK_RUNNING);
    assert_int_equal(c.item.state, WORK_RUNNING);
    work_done(work, &a.item, NULL);
    work_done(work, &c.item, NULL);
    assert_int_equal(work_len(work), 0);
    tell("held");
    may_start = false;
    work_add(work, &a.item);
    after(let_start);
}

/* It has changed while it was worked on, and goes behind those that wait already. */
static void change_one(struct service *service)
{
    (void)service;
    assert_int_equal(b.item.state, WORK_RUNNING);
    assert_int_equal(c.item.state, WORK_QUEUED);
    work_add(work, &a.item);
    work_add(work, &c.item);
    work_done(work, &a.item, NULL);
    work_done(work, &b.item, NULL);
    assert_int_equal(b.item.state, WORK_IDLE);
    assert_int_equal(work_len(work), 2);
    after(forbid_start);
}

static int open_service(struct service *service, struct err *err)
{
    (void)err;
    a = (struct thing){.name = "a"};
    b = (struct thing){.name = "b"};
    c = (struct thing){.name = "c"};
    work = work_new(&(struct work_options){
        .service = service, .controller = "test", .workers = 2, .may_start = agrees, .start = start});
    loop_timer_init(&timer, service->loop, on_step, service);
    may_start = true;
    work_add(work, &a.item);
    return 0;
}

static void lead(struct service *service)
{
    (void)service;
    tell("lead");
    work_add(work, &b.item);
    work_add(work, &c.item);
    work_pump(work);
    after(change_one);
}

static void close_service(struct service *service)
{
    (void)service;
    loop_timer_done(&timer);
    work_free(work);
}

static const struct service_kind kind = {
    .name = "test",
    .has_api = true,
    .open = open_service,
    .lead = lead,
    .stop = stop,
    .close = close_service,
};

/* What has to wait: for pods on their way, and for its own next turn. */

static struct rush rush;

static void end_after_the_rush(struct service *service)
{
    (void)service;
    assert_int_equal(c.item.state, WORK_RUNNING);
    work_done(work, &b.item, NULL);
    work_done(work, &c.item, NULL);
    (void)raise(SIGTERM);
}

static void end_the_rush(struct service *service)
{
    (void)service;
    assert_int_equal(c.item.state, WORK_QUEUED);
    tell("over");
    rush = (struct rush){0};
    work_pump(work);
    after(end_after_the_rush);
}

static void begin_a_rush(struct service *service)
{
    (void)service;
    assert_int_equal(a.item.state, WORK_WAITING);
    assert_int_equal(b.item.state, WORK_RUNNING);
    assert_int_equal(d.item.state, WORK_WAITING);
    tell("rush");
    /* No machine is slow enough for that. */
    rush_note(&rush, nsec_now_monotonic() + NSEC_PER_HOUR);
    work_add(work, &c.item);
    after(end_the_rush);
}

static void change_it_again(struct service *service)
{
    (void)service;
    assert_int_equal(a.item.state, WORK_RUNNING);
    work_done(work, &a.item, NULL);
    work_add(work, &a.item);
    work_add(work, &b.item);
    work_add_later(work, &d.item, NSEC_PER_HOUR);
    after(begin_a_rush);
}

static int open_spaced(struct service *service, struct err *err)
{
    (void)err;
    a = (struct thing){.name = "a"};
    b = (struct thing){.name = "b"};
    c = (struct thing){.name = "c"};
    d = (struct thing){.name = "d"};
    rush = (struct rush){0};
    work = work_new(&(struct work_options){.service = service,
                                           .controller = "test",
                                           .workers = 2,
                                           .interval = NSEC_PER_HOUR,
                                           .rush = &rush,
                                           .may_start = agrees,
                                           .start = start});
    loop_timer_init(&timer, service->loop, on_step, service);
    may_start = true;
    return 0;
}

static void lead_spaced(struct service *service)
{
    (void)service;
    work_add(work, &a.item);
    after(change_it_again);
}

static void stop_spaced(struct service *service)
{
    (void)service;
    work_stop(work);
}

static const struct service_kind spaced_kind = {
    .name = "test",
    .has_api = true,
    .open = open_spaced,
    .lead = lead_spaced,
    .stop = stop_spaced,
    .close = close_service,
};

/* Runs the service until it has stopped itself, and compares what has happened. */
static void run(const struct service_kind *service, const char *expected)
{
    char path[] = "/tmp/muster-work-XXXXXX";
    char config[64];
    struct err err = {0};
    int file = mkstemp(path);

    assert_true(file >= 0);
    assert_true(dprintf(file, "current-context: a\ncontexts: [{name: a, context: {cluster: c}}]\n"
                              "clusters: [{name: c, cluster: {server: 'http://127.0.0.1:9'}}]\n") > 0);
    (void)close(file);
    (void)snprintf(config, sizeof config, "--kubeconfig=%s", path);
    strbuf_init(&story, 1024);
    const struct service_kind *const kinds[] = {service};
    const char *const argv[] = {config, "--metrics-bind-address=0", "--health-probe-bind-address=0",
                                "--zap-log-level=error"};
    assert_int_equal(process_main(kinds, 1, ARRAY_LEN(argv), argv, &err), 0);
    (void)unlink(path);
    assert_string_equal(story.text, expected);
    strbuf_done(&story);
}

static void work_is_limited_repeated_and_ended_in_order(void **state)
{
    (void)state;
    run(&kind, "lead a b c a held a retry a c stop ended ");
}

static void an_item_waits_for_its_interval_and_all_wait_for_pods_on_their_way(void **state)
{
    (void)state;
    run(&spaced_kind, "a b rush over c ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(work_is_limited_repeated_and_ended_in_order),
        cmocka_unit_test(an_item_waits_for_its_interval_and_all_wait_for_pods_on_their_way),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
