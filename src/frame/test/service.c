/* SPDX-License-Identifier: Apache-2.0 */

/* A service from its flags to its end, in this process; nobody asks the API server. */
#include "frame/service.h"

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

#include "base/mem.h"
#include "base/strbuf.h"
#include "net/http.h"
#include "net/loop.h"

struct flags {
    const char *word;
    bool refuses;
};

static const struct flag flags[] = {
    {"word", FLAG_STRING, FLAG_AT(struct flags, word), "nothing", "a word", 0, 0},
    {"refuses", FLAG_BOOL, FLAG_AT(struct flags, refuses), "false", "configure fails", 0, 0},
};

/* What the service did, in order, as letters. */
static struct strbuf story;
static struct http_client *http;
static uint16_t port;

static int configure(struct service *service, struct err *err)
{
    const struct flags *values = service->values;

    strbuf_addf(&story, "configure %s; ", values->word);
    return values->refuses ? err_set(err, -EINVAL, "--refuses: as asked") : 0;
}

static void on_metrics(void *arg, const struct http_response *response)
{
    struct service *service = arg;

    strbuf_addf(&story, "%d %d; ", response->status,
                strstr(response->body, "muster_leader{service=\"test\"} 1\n") != NULL);
    http_client_free(http);
    if (((const struct flags *)service->values)->word[0] == 'f')
        service_fail(service, &(struct err){.code = -EIO, .text = "as asked"});
    else
        (void)raise(SIGTERM);
}

static void on_readyz(void *arg, const struct http_response *response)
{
    struct service *service = arg;
    char url[64];

    strbuf_addf(&story, "%s; ", response->body);
    (void)snprintf(url, sizeof url, "http://127.0.0.1:%u/metrics", port);
    (void)http_start(http,
                     &(struct http_request){
                         .method = "GET", .url = url, .body_max = 1 << 20, .on_done = on_metrics, .arg = service});
}

static int open_service(struct service *service, struct err *err)
{
    (void)err;
    strbuf_addstr(&story, "open; ");
    assert_false(service_is_leading(service));
    return 0;
}

static void lead(struct service *service)
{
    char url[64];

    strbuf_addstr(&story, "lead; ");
    assert_true(service_is_leading(service));
    service_set_ready(service, true);
    http = http_client_new(service->loop);
    (void)snprintf(url, sizeof url, "http://127.0.0.1:%u/readyz", port);
    (void)http_start(http, &(struct http_request){
                               .method = "GET", .url = url, .body_max = 1 << 20, .on_done = on_readyz, .arg = service});
}

static void stop(struct service *service)
{
    strbuf_addstr(&story, "stop; ");
    assert_false(service_is_leading(service));
    service_stopped(service);
}

static void close_service(struct service *service)
{
    (void)service;
    strbuf_addstr(&story, "close");
}

static const struct service_kind kind = {
    .name = "test",
    .flags = flags,
    .flag_count = ARRAY_LEN(flags),
    .values_size = sizeof(struct flags),
    .has_api = true,
    .can_elect = true,
    .configure = configure,
    .open = open_service,
    .lead = lead,
    .stop = stop,
    .close = close_service,
};

static const struct service_kind *const kinds[] = {&kind};

/* A kubeconfig whose server is never asked, and a port that is free a moment from now. */
static char *write_config(void)
{
    static char path[] = "/tmp/muster-frame-XXXXXX";
    struct loop *loop = loop_new();
    struct http_server *server = NULL;
    int file = mkstemp(path);

    assert_true(file >= 0);
    assert_true(dprintf(file, "current-context: a\ncontexts: [{name: a, context: {cluster: c}}]\n"
                              "clusters: [{name: c, cluster: {server: 'http://127.0.0.1:9'}}]\n") > 0);
    (void)close(file);
    assert_int_equal(rest_server_start(loop, &(struct rest_options){.http = {.address = "127.0.0.1"}}, &server, NULL),
                     0);
    port = http_server_port(server);
    http_server_free(server);
    loop_free(loop);
    return path;
}

static int run_with(const char *word, struct err *err)
{
    char *path = write_config();
    char config[128], address[64], asked[64];
    int code;

    (void)snprintf(config, sizeof config, "--kubeconfig=%s", path);
    (void)snprintf(address, sizeof address, "--metrics-bind-address=127.0.0.1:%u", port);
    (void)snprintf(asked, sizeof asked, "--word=%s", word);
    const char *const argv[] = {config, address, asked, "--health-probe-bind-address=0", "--zap-log-level=error"};
    strbuf_init(&story, 1024);
    code = process_main(kinds, 1, ARRAY_LEN(argv), argv, err);
    (void)unlink(path);
    memcpy(path + strlen(path) - 6, "XXXXXX", 6);
    return code;
}

static void a_service_opens_leads_serves_and_stops_when_told(void **state)
{
    (void)state;
    struct err err = {0};

    assert_int_equal(run_with("x", &err), 0);
    assert_string_equal(story.text, "configure x; open; lead; ok; 200 1; stop; close");
    strbuf_done(&story);
}

static void a_failure_ends_it_in_order_and_is_handed_on(void **state)
{
    (void)state;
    struct err err = {0};

    assert_int_equal(run_with("f", &err), -EIO);
    assert_string_equal(err.text, "as asked");
    assert_string_equal(story.text, "configure f; open; lead; ok; 200 1; stop; close");
    strbuf_done(&story);
}

static void wrong_calls_are_told_before_anything_starts(void **state)
{
    (void)state;
    static const struct {
        const char *word, *text;
    } cases[] = {
        {"--refuses", "--refuses: as asked"},
        {"--nothing=1", "unknown flag --nothing"},
        {"--zap-log-level=loud", "--zap-log-level: expected error, warn, info, debug or a number from 1, found 'loud'"},
        {"--zap-encoder=xml", "--zap-encoder: 'xml' is neither json nor console"},
        {"--metrics-bind-address=nowhere", "metrics: 'nowhere' is not an address of the form host:port or :port"},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char *path = write_config();
        char config[128];
        struct err err = {0};

        (void)snprintf(config, sizeof config, "--kubeconfig=%s", path);
        strbuf_init(&story, 1024);
        assert_int_equal(process_main(kinds, 1, 3, (const char *const[]){config, cases[i].word, "--v=0"}, &err),
                         -EINVAL);
        assert_string_equal(err.text, cases[i].text);
        assert_null(strstr(story.text, "open"));
        strbuf_done(&story);
        (void)unlink(path);
        memcpy(path + strlen(path) - 6, "XXXXXX", 6);
    }
    assert_int_equal(process_main(kinds, 1, 1, (const char *const[]){"--help"}, NULL), 1);
}

/* A service without an API server: it stops the process as soon as both lead, and takes a flag of the same name. */

struct second_flags {
    const char *word;
};

static const struct flag second_flag_table[] = {
    {"word", FLAG_STRING, FLAG_AT(struct second_flags, word), "", "a word", 0, 0},
};

static int second_open(struct service *service, struct err *err)
{
    (void)err;
    assert_null(service->client);
    strbuf_addf(&story, "second opens %s; ", ((const struct second_flags *)service->values)->word);
    return 0;
}

static void second_lead(struct service *service)
{
    strbuf_addstr(&story, "second leads; ");
    service_set_ready(service, true);
}

static void second_stop(struct service *service)
{
    strbuf_addstr(&story, "second stops; ");
    service_stopped(service);
}

static void second_close(struct service *service)
{
    (void)service;
    strbuf_addstr(&story, "second closes; ");
}

static const struct service_kind second_kind = {
    .name = "second",
    .flags = second_flag_table,
    .flag_count = ARRAY_LEN(second_flag_table),
    .values_size = sizeof(struct second_flags),
    .open = second_open,
    .lead = second_lead,
    .stop = second_stop,
    .close = second_close,
};

static void two_services_live_in_one_process(void **state)
{
    (void)state;
    char *path = write_config();
    char config[128], address[64];
    struct err err = {0};
    static const struct service_kind *const both[] = {&second_kind, &kind};

    (void)snprintf(config, sizeof config, "--kubeconfig=%s", path);
    (void)snprintf(address, sizeof address, "--metrics-bind-address=127.0.0.1:%u", port);
    const char *const argv[] = {config, address, "--word=x", "--health-probe-bind-address=0", "--zap-log-level=error"};

    strbuf_init(&story, 1024);
    assert_int_equal(process_main(both, 2, ARRAY_LEN(argv), argv, &err), 0);
    assert_string_equal(story.text, "configure x; second opens x; open; second leads; lead; ok; 200 1; second stops; "
                                    "stop; closesecond closes; ");
    strbuf_done(&story);
    (void)unlink(path);
    memcpy(path + strlen(path) - 6, "XXXXXX", 6);
}

static void the_failure_of_one_service_stops_all(void **state)
{
    (void)state;
    char *path = write_config();
    char config[128], address[64];
    struct err err = {0};
    static const struct service_kind *const both[] = {&kind, &second_kind};

    (void)snprintf(config, sizeof config, "--kubeconfig=%s", path);
    (void)snprintf(address, sizeof address, "--metrics-bind-address=127.0.0.1:%u", port);
    const char *const argv[] = {config, address, "--word=f", "--health-probe-bind-address=0", "--zap-log-level=error"};

    strbuf_init(&story, 1024);
    assert_int_equal(process_main(both, 2, ARRAY_LEN(argv), argv, &err), -EIO);
    assert_string_equal(err.text, "as asked");
    assert_non_null(strstr(story.text, "stop; second stops; second closes; close"));
    strbuf_done(&story);
    (void)unlink(path);
    memcpy(path + strlen(path) - 6, "XXXXXX", 6);
}

/* Without an API there is nothing to elect by, and nowhere to connect to. */
static void a_kind_without_an_api_has_no_flags_of_one(void **state)
{
    (void)state;
    static const struct service_kind *const one[] = {&second_kind};
    struct flag_set sets[SERVICE_FLAG_SETS];
    struct err err = {0};

    assert_int_equal(service_flag_sets(&second_kind, sets), 2);
    assert_int_equal(service_flag_sets(&kind, sets), 4);
    assert_int_equal(process_main(one, 1, 1, (const char *const[]){"--leader-elect"}, &err), -EINVAL);
    assert_string_equal(err.text, "unknown flag --leader-elect");
}

static void addresses_are_taken_apart(void **state)
{
    (void)state;
    static const struct {
        const char *text, *host;
        int code;
        uint16_t port;
    } cases[] = {
        {":8080", "", 1, 8080},
        {"127.0.0.1:1", "127.0.0.1", 1, 1},
        {"[::1]:65535", "::1", 1, 65535},
        {"", "", 0, 0},
        {"0", "", 0, 0},
        {"localhost:80", "127.0.0.1", 1, 80},
        {"8080", "", -EINVAL, 0},
        {":65536", "", -EINVAL, 0},
        {":", "", -EINVAL, 0},
        {"a:-1", "", -EINVAL, 0},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char host[256] = "";
        uint16_t found = 0;

        assert_int_equal(address_parse(cases[i].text, host, &found, NULL), cases[i].code);
        assert_string_equal(host, cases[i].host);
        assert_int_equal(found, cases[i].port);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_service_opens_leads_serves_and_stops_when_told),
        cmocka_unit_test(a_failure_ends_it_in_order_and_is_handed_on),
        cmocka_unit_test(wrong_calls_are_told_before_anything_starts),
        cmocka_unit_test(two_services_live_in_one_process),
        cmocka_unit_test(the_failure_of_one_service_stops_all),
        cmocka_unit_test(a_kind_without_an_api_has_no_flags_of_one),
        cmocka_unit_test(addresses_are_taken_apart),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
