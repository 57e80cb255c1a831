/* SPDX-License-Identifier: Apache-2.0 */

/* What probes and hooks do: a request, a connection, a program, or nothing for a while. One answer each. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "kube/client/meta.h"
#include "local/controllers/values.h"
#include "local/shim/shim_internal.h"
#include "net/grpc.h"
#include "net/http.h"

enum { URL_MAX = 4096, HEADERS_MAX = 64, BODY_MAX = 10 << 10, PORT_MAX = 65535 };

static void finish(struct action *action, bool is_good)
{
    void (*on_done)(void *arg, bool is_good, const char *message) = action->on_done;
    void *arg = action->arg;
    char message[sizeof action->message];

    memcpy(message, action->message, sizeof message);
    action_cancel(action);
    on_done(arg, is_good, message);
}

static void on_timeout(void *arg)
{
    struct action *action = arg;

    (void)snprintf(action->message, sizeof action->message, "command timed out");
    finish(action, false);
}

/* It could not even begin. */
static void on_failed(void *arg)
{
    finish(arg, false);
}

static void on_waited(void *arg)
{
    finish(arg, true);
}

/* A number, or the name of a port of the container; -1 for none. */
static int64_t port_of(const struct container *container, yyjson_val *port)
{
    const char *name = yyjson_get_str(port);
    size_t i, max;
    yyjson_val *row;

    if (!name)
        return number_of(port, -1);
    yyjson_arr_foreach(value_at(container->spec, "ports"), i, max, row)
    {
        if (strcmp(kube_text(row, "name"), name) == 0)
            return number_at(row, -1, "containerPort");
    }
    char *end;
    long number = strtol(name, &end, 10);
    return *name && !*end ? number : -1;
}

/* --- a program --- */

static void on_exit_of(void *arg, int status)
{
    struct action *action = arg;
    ssize_t n = action->output[0] >= 0 ? read(action->output[0], action->message, sizeof action->message - 1) : 0;

    action->helper.pid = 0;
    action->message[n < 0 ? 0 : n] = '\0';
    finish(action, WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static int start_program(struct action *action, yyjson_val *exec, struct err *err)
{
    struct container *container = action->container;
    struct launching launching;
    size_t i, max;
    yyjson_val *word;
    int in = open("/dev/null", O_RDWR | O_CLOEXEC);
    int r = in < 0 || pipe2(action->output, O_CLOEXEC | O_NONBLOCK) < 0 ? err_set(err, -errno, "a pipe") : 0;

    launching_init(&launching, container);
    vec_clear(&launching.argv);
    yyjson_arr_foreach(value_at(exec, "command"), i, max, word)
    {
        vec_push(&launching.argv, yyjson_get_str(word));
    }
    vec_push(&launching.argv, NULL);
    launching.launch.argv = launching.argv.items;
    launching.launch.beside = container->pid;
    launching.launch.in = in;
    launching.launch.out = launching.launch.err = action->output[1];
    if (r == 0)
        r = launching_start(&launching, container, &action->helper.pid, err);
    launching_done(&launching);
    if (in >= 0)
        (void)close(in);
    if (action->output[1] >= 0)
        (void)close(action->output[1]);
    action->output[1] = -1;
    if (r == 0) {
        action->helper.on_exit = on_exit_of;
        action->helper.arg = action;
        helper_add(container->shim, &action->helper);
    }
    return r;
}

/* --- a request --- */

static void on_answer(void *arg, const struct http_response *response)
{
    struct action *action = arg;
    bool is_good = response->err.code == 0 && response->status >= 200 && response->status < 400;

    action->call = NULL;
    if (response->status > 0)
        (void)snprintf(action->message, sizeof action->message, "HTTP probe failed with statuscode: %d",
                       response->status);
    else
        (void)snprintf(action->message, sizeof action->message, "%s", response->err.text);
    finish(action, is_good);
}

/* Most pods have no probe by HTTP, and the client takes longer to set up than a short pod runs. */
static struct http_client *client_of(struct shim *shim)
{
    if (!shim->http)
        shim->http = http_client_new(shim->loop);
    return shim->http;
}

static int start_request(struct action *action, yyjson_val *get, nsec_t timeout, struct err *err)
{
    const char *host = kube_text(get, "host"), *path = kube_text(get, "path"), *scheme = kube_text(get, "scheme");
    int64_t port = port_of(action->container, value_at(get, "port"));
    char *lines[HEADERS_MAX + 2] = {0};
    char url[URL_MAX];
    size_t i, max, count = 0;
    yyjson_val *header;

    if (port <= 0 || port > PORT_MAX)
        return err_set(err, -EINVAL, "the port is not known");
    bool is_tls = strcasecmp(scheme, "HTTPS") == 0;
    (void)snprintf(url, sizeof url, "%s://%s:%lld%s%s", is_tls ? "https" : "http", *host ? host : "127.0.0.1",
                   (long long)port, *path == '/' ? "" : "/", path);
    yyjson_arr_foreach(value_at(get, "httpHeaders"), i, max, header)
    {
        struct strbuf line;

        if (count >= HEADERS_MAX)
            break;
        strbuf_init(&line, BODY_MAX);
        strbuf_addf(&line, "%s: %s", kube_text(header, "name"), kube_text(header, "value"));
        lines[count++] = strbuf_take(&line);
    }
    struct http_tls *tls = http_tls_new(&(struct http_tls_options){.skips_verify = true});
    action->call = http_start(client_of(action->container->shim), &(struct http_request){
                                                                      .method = "GET",
                                                                      .url = url,
                                                                      .tls = tls,
                                                                      .proxy = "",
                                                                      .headers = (const char *const *)lines,
                                                                      .timeout = timeout,
                                                                      .body_max = BODY_MAX,
                                                                      .on_done = on_answer,
                                                                      .arg = action,
                                                                  });
    http_tls_unref(tls);
    for (i = 0; i < count; i++)
        free(lines[i]);
    return 0;
}

/* --- a request by gRPC --- */

enum { HEALTH_SERVING = 1, FIELD_ONE_TEXT = 0x0a, FIELD_ONE_NUMBER = 0x08, HEALTH_NAME_MAX = 127 };

/* The answer has one number in it, the state of the service. */
static void on_health(void *arg, const struct grpc_answer *answer)
{
    struct action *action = arg;
    const char *message = answer->message;
    bool is_good = answer->err.code == 0 && answer->message_len >= 2 && message[0] == FIELD_ONE_NUMBER &&
                   message[1] == HEALTH_SERVING;

    action->health = NULL;
    (void)snprintf(action->message, sizeof action->message, "%s",
                   answer->err.code < 0 ? answer->err.text : "service unhealthy: it does not serve");
    finish(action, is_good);
}

static int start_health(struct action *action, yyjson_val *grpc, nsec_t timeout, struct err *err)
{
    const char *service = kube_text(grpc, "service");
    int64_t port = port_of(action->container, value_at(grpc, "port"));
    size_t len = strlen(service);
    char address[64], message[2 + HEALTH_NAME_MAX + 1] = {FIELD_ONE_TEXT};

    if (port <= 0 || port > PORT_MAX || len > HEALTH_NAME_MAX)
        return err_set(err, -EINVAL, "the port is not known, or the name of the service is too long");
    (void)snprintf(address, sizeof address, "127.0.0.1:%lld", (long long)port);
    message[1] = (char)len;
    memcpy(message + 2, service, len + 1);
    action->health = grpc_start(action->container->shim->http, &(struct grpc_request){
                                                                   .address = address,
                                                                   .method = "/grpc.health.v1.Health/Check",
                                                                   .message = message,
                                                                   .message_len = len > 0 ? 2 + len : 0,
                                                                   .timeout = timeout,
                                                                   .answer_max = BODY_MAX,
                                                                   .on_done = on_health,
                                                                   .arg = action,
                                                               });
    return 0;
}

/* --- a connection --- */

static void on_connected(void *arg)
{
    struct action *action = arg;
    int problem = 0;
    socklen_t len = sizeof problem;

    if (getsockopt(action->fd, SOL_SOCKET, SO_ERROR, &problem, &len) < 0)
        problem = errno;
    (void)snprintf(action->message, sizeof action->message, "connect: %s", strerror(problem));
    finish(action, problem == 0);
}

static int start_connection(struct action *action, yyjson_val *tcp, struct err *err)
{
    const char *host = kube_text(tcp, "host");
    int64_t port = port_of(action->container, value_at(tcp, "port"));
    struct sockaddr_in address = {.sin_family = AF_INET};

    if (port <= 0 || port > PORT_MAX)
        return err_set(err, -EINVAL, "the port is not known");
    address.sin_port = htons((uint16_t)port);
    if (inet_pton(AF_INET, *host ? host : "127.0.0.1", &address.sin_addr) != 1)
        return err_set(err, -EINVAL, "host %s is not an IPv4 address", host);
    action->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (action->fd < 0 ||
        (connect(action->fd, (const struct sockaddr *)&address, sizeof address) < 0 && errno != EINPROGRESS))
        return err_set(err, -errno, "connect: %s", strerror(errno));
    int r = loop_watch_start_writing(&action->watch, action->container->shim->loop, action->fd, on_connected, action);
    return r < 0 ? err_set(err, r, "connect: %s", strerror(-r)) : 0;
}

/* --- */

void action_start(struct action *action, struct container *container, yyjson_val *handler, nsec_t timeout,
                  void (*on_done)(void *arg, bool is_good, const char *message), void *arg)
{
    struct loop *loop = container->shim->loop;
    struct err err = {0};
    int r = 0;

    action_cancel(action);
    *action = (struct action){
        .container = container, .fd = -1, .output = {-1, -1}, .is_running = true, .on_done = on_done, .arg = arg};
    loop_timer_init(&action->timeout, loop, on_timeout, action);
    loop_timer_init(&action->wait, loop, on_waited, action);
    if (timeout > 0)
        loop_timer_start(&action->timeout, timeout);
    if (value_at(handler, "exec"))
        r = start_program(action, value_at(handler, "exec"), &err);
    else if (value_at(handler, "httpGet"))
        r = start_request(action, value_at(handler, "httpGet"), timeout, &err);
    else if (value_at(handler, "tcpSocket"))
        r = start_connection(action, value_at(handler, "tcpSocket"), &err);
    else if (value_at(handler, "sleep"))
        loop_timer_start(&action->wait, number_at(handler, 0, "sleep", "seconds") * NSEC_PER_SEC);
    else if (value_at(handler, "grpc"))
        r = start_health(action, value_at(handler, "grpc"), timeout, &err);
    else
        r = err_set(&err, -EINVAL, "expected exec, httpGet, tcpSocket, sleep or grpc");
    if (r < 0) {
        /* Callbacks come from the loop, never from within a call. */
        memcpy(action->message, err.text, sizeof action->message);
        action->message[sizeof action->message - 1] = '\0';
        loop_timer_done(&action->timeout);
        loop_timer_init(&action->timeout, loop, on_failed, action);
        loop_timer_start(&action->timeout, 0);
    }
}

void action_cancel(struct action *action)
{
    if (!action->is_running)
        return;
    action->is_running = false;
    if (action->call)
        http_cancel(TAKE_PTR(action->call));
    if (action->health)
        grpc_cancel(TAKE_PTR(action->health));
    if (action->helper.pid > 0)
        helper_kill(action->container->shim, &action->helper);
    loop_watch_done(&action->watch);
    loop_timer_done(&action->timeout);
    loop_timer_done(&action->wait);
    if (action->fd >= 0)
        (void)close(action->fd);
    if (action->output[0] >= 0)
        (void)close(action->output[0]);
}
