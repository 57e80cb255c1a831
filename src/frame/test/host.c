/* SPDX-License-Identifier: Apache-2.0 */

/* Services that another one starts and ends while the process runs. */
#include "frame/host.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "frame/process.h"
#include "frame/process_internal.h"
#include "frame/service.h"

static struct strbuf story;
static struct service *host_service, *first, *second;

struct guest_flags {
    const char *word;
};

static const struct flag guest_flag_table[] = {
    {"word", FLAG_STRING, FLAG_AT(struct guest_flags, word), "", "a word", 0, 0},
};

static int guest_configure(struct service *service, struct err *err)
{
    (void)err;
    /* Addresses are the process's own. */
    service->common->metrics_address = ":1";
    return 0;
}

static int guest_open(struct service *service, struct err *err)
{
    const struct guest_flags *flags = service->values;

    if (strcmp(flags->word, "bad") == 0)
        return err_set(err, -EINVAL, "a bad word");
    strbuf_addf(&story, "open %s; ", flags->word);
    meter_add(meter_series(metrics_counter(service->metrics, "guests_total", "Guests.", NULL), NULL), 1);
    return 0;
}

static void guest_lead(struct service *service)
{
    service_set_ready(service, true);
}

static void guest_close(struct service *service)
{
    strbuf_addf(&story, "close %s; ", ((const struct guest_flags *)service->values)->word);
}

static const struct service_kind guest_kind = {
    .name = "guest",
    .flags = guest_flag_table,
    .flag_count = ARRAY_LEN(guest_flag_table),
    .values_size = sizeof(struct guest_flags),
    .configure = guest_configure,
    .open = guest_open,
    .lead = guest_lead,
    .close = guest_close,
};

static void on_ready(void *arg, bool is_ready)
{
    strbuf_addf(&story, "%s is %sready; ", (const char *)arg, is_ready ? "" : "not ");
}

static void on_over(void *arg);

static int start(const char *name, const char *word, struct service **ret_service, struct err *err)
{
    char flag[64];
    const char *const argv[] = {flag, "--v=9"};

    (void)snprintf(flag, sizeof flag, "--word=%s", word);
    return host_start(host_service,
                      &(struct host_options){
                          .kind = "guest",
                          .name = name,
                          .argv = argv,
                          .argc = ARRAY_LEN(argv),
                          .on_ready = on_ready,
                          .on_over = on_over,
                          .arg = (void *)(uintptr_t)name,
                      },
                      ret_service, err);
}

static void expect_figures(const char *expected)
{
    struct strbuf text;

    strbuf_init(&text, 1 << 20);
    process_metrics_render(host_service->process, &text);
    const char *found = strstr(text.text, "# HELP muster_guests_total");
    if (!found || strncmp(found, expected, strlen(expected)) != 0)
        fail_msg("%s", found ? found : "no figures");
    strbuf_done(&text);
}

/* The first one has ended: it starts anew under the same name, and then all of it stops. */
static void on_over(void *arg)
{
    struct err err = {0};

    strbuf_addf(&story, "%s is over; ", (const char *)arg);
    if (strcmp(arg, "first") != 0)
        return;
    expect_figures("# HELP muster_guests_total Guests.\n# TYPE muster_guests_total counter\n"
                   "muster_guests_total{app=\"second\"} 1\n");
    assert_int_equal(start("first", "c", &first, &err), 0);
    expect_figures("# HELP muster_guests_total Guests.\n# TYPE muster_guests_total counter\n"
                   "muster_guests_total{app=\"second\"} 1\nmuster_guests_total{app=\"first\"} 1\n");
    host_end(second);
    (void)raise(SIGTERM);
}

static void host_lead(struct service *service)
{
    struct err err = {0};
    struct service *none = NULL;

    host_service = service;
    assert_int_equal(start("first", "a", &first, &err), 0);
    assert_int_equal(start("second", "b", &second, &err), 0);
    assert_int_equal(start("third", "bad", &none, &err), -EINVAL);
    assert_string_equal(err.text, "a bad word");
    assert_null(none);
    assert_int_equal(host_start(service, &(struct host_options){.kind = "nobody", .name = "nobody"}, &none, &err),
                     -ENOENT);
    assert_string_equal(service->process->settings.metrics_address, "0");
    service_set_ready(service, true);
    host_end(first);
}

static const struct service_kind host_kind = {.name = "host", .lead = host_lead};

static void services_start_and_end_while_the_process_runs(void **state)
{
    static const struct service_kind *const hostable[] = {&guest_kind, NULL};
    static const char *const argv[] = {"--metrics-bind-address=0", "--health-probe-bind-address=0",
                                       "--zap-log-level=error"};
    struct err err = {0};

    (void)state;
    strbuf_init(&story, 1024);
    assert_int_equal(process_main_hosting(&host_kind, hostable, ARRAY_LEN(argv), argv, &err), 0);
    assert_string_equal(story.text, "open a; first is ready; open b; second is ready; close a; first is over; "
                                    "open c; first is ready; close b; second is over; close c; ");
    strbuf_done(&story);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(services_start_and_end_while_the_process_runs),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
