/* SPDX-License-Identifier: Apache-2.0 */
#include "net/watch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <cmocka.h>

struct world {
    struct loop *loop;
    struct loop_watch watch;
    int fd;
    int calls;
};

static void on_packet(void *arg)
{
    struct world *w = arg;
    char byte;

    w->calls++;
    if (recv(w->fd, &byte, 1, MSG_DONTWAIT) <= 0) {
        loop_watch_done(&w->watch);
        loop_stop(w->loop);
    }
}

static void packets_come_until_the_end(void **state)
{
    struct world w = {.loop = loop_new()};
    int fds[2];

    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, fds), 0);
    w.fd = fds[0];
    assert_int_equal(loop_watch_start(&w.watch, w.loop, w.fd, on_packet, &w), 0);
    assert_int_equal(send(fds[1], "a", 1, 0), 1);
    assert_int_equal(send(fds[1], "b", 1, 0), 1);
    assert_int_equal(close(fds[1]), 0);
    loop_run(w.loop);
    assert_int_equal(w.calls, 3);
    assert_int_equal(close(fds[0]), 0);
    loop_free(w.loop);
}

static void on_time(void *arg)
{
    struct world *w = arg;
    uint64_t times;

    assert_int_equal(read(w->fd, &times, sizeof times), sizeof times);
    w->calls++;
    loop_stop(w->loop);
}

static void a_timer_of_the_kernel_can_be_watched(void **state)
{
    struct world w = {.loop = loop_new()};

    (void)state;
    w.fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
    assert_int_equal(timerfd_settime(w.fd, 0, &(struct itimerspec){.it_value.tv_nsec = 200000}, NULL), 0);
    assert_int_equal(loop_watch_start(&w.watch, w.loop, w.fd, on_time, &w), 0);
    loop_run(w.loop);
    assert_int_equal(w.calls, 1);
    loop_watch_done(&w.watch);
    loop_watch_done(&w.watch);
    assert_int_equal(close(w.fd), 0);
    loop_free(w.loop);
}

static void what_cannot_be_waited_for_is_refused(void **state)
{
    struct world w = {.loop = loop_new()};

    (void)state;
    assert_true(loop_watch_start(&w.watch, w.loop, 9999, on_time, &w) < 0);
    loop_watch_done(&w.watch);
    loop_free(w.loop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(packets_come_until_the_end),
        cmocka_unit_test(a_timer_of_the_kernel_can_be_watched),
        cmocka_unit_test(what_cannot_be_waited_for_is_refused),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
