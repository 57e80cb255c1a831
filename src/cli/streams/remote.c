/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/streams/remote.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/strbuf.h"
#include "cli/streams/channels.h"
#include "cli/streams/raw_terminal.h"
#include "cli/work/pods.h"
#include "kube/client/meta.h"
#include "kube/client/websocket.h"
#include "net/loop.h"
#include "net/watch.h"
#include "net/websocket_client.h"

enum { PATH_BYTES = 1 << 20, READ_BYTES = 16 << 10, UNSENT_MAX = 1 << 20, SIGNAL_STATUS = 128 };

struct remote {
    struct loop *loop;
    struct websocket_client *socket;
    struct loop_watch input;
    struct loop_task reading;  // of an input that cannot be waited for: a file
    bool is_file;
    bool has_input;  // more of it may come
    bool has_terminal;
    bool has_status;
    int status;
    struct err err;
};

static void on_input(void *arg);

/* --- our input --- */

static void stop_input(struct remote *remote)
{
    loop_watch_done(&remote->input);
    loop_task_cancel(&remote->reading);
}

static void start_input(struct remote *remote)
{
    if (!remote->has_input || remote->input.handle)
        return;
    if (!remote->is_file)
        remote->is_file = loop_watch_start(&remote->input, remote->loop, STDIN_FILENO, on_input, remote) < 0;
    if (remote->is_file)
        loop_task_queue(&remote->reading);
}

static void end_input(struct remote *remote)
{
    static const char closing[] = {(char)CHANNEL_CLOSING, CHANNEL_INPUT};

    stop_input(remote);
    remote->has_input = false;
    /* Version 4 has no end of input: the program waits for it. */
    if (strcmp(websocket_client_protocol(remote->socket), CHANNEL_PROTOCOL_CLOSING) == 0)
        websocket_client_send(remote->socket, closing, sizeof closing);
}

static void on_input(void *arg)
{
    struct remote *remote = arg;
    char message[READ_BYTES];
    ssize_t n = read(STDIN_FILENO, message + 1, sizeof message - 1);

    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) {
        end_input(remote);
        return;
    }
    message[0] = CHANNEL_INPUT;
    websocket_client_send(remote->socket, message, (size_t)n + 1);
    if (websocket_client_unsent(remote->socket) > UNSENT_MAX)
        stop_input(remote);
    else if (remote->is_file)
        loop_task_queue(&remote->reading);
}

static void on_drain(void *arg)
{
    start_input(arg);
}

/* --- what comes --- */

static void fail(struct remote *remote, int code, const char *text)
{
    if (remote->err.code == 0)
        (void)err_set(&remote->err, code, "%s", text);
    loop_stop(remote->loop);
}

static void print(struct remote *remote, FILE *out, const char *bytes, size_t len)
{
    if (len > 0 && (fwrite(bytes, 1, len, out) != len || fflush(out) != 0))
        fail(remote, -EIO, "the output cannot be written");
}

static void on_message(void *arg, const char *bytes, size_t len)
{
    struct remote *remote = arg;
    struct channel_message message;

    if (!channel_read(bytes, len, &message))
        return;
    if (message.channel == CHANNEL_OUTPUT)
        print(remote, stdout, message.bytes, message.len);
    else if (message.channel == CHANNEL_PROBLEMS)
        print(remote, stderr, message.bytes, message.len);
    else if (message.channel == CHANNEL_END && message.len > 0 && !remote->has_status) {
        remote->has_status = true;
        (void)!channel_exit_status(message.bytes, message.len, &remote->status, &remote->err);
        loop_stop(remote->loop);
    }
}

static void on_end(void *arg, const struct err *err)
{
    struct remote *remote = arg;

    if (!remote->has_status)
        fail(remote, -EIO, err->code < 0 ? err->text : "the server has ended the connection without an exit status");
    loop_stop(remote->loop);
}

/* --- signals --- */

static void send_size(struct remote *remote)
{
    char message[CHANNEL_SIZE_BYTES];
    unsigned columns, lines;

    if (remote->has_terminal && raw_terminal_size(&columns, &lines))
        websocket_client_send(remote->socket, message, channel_size_message(columns, lines, message));
}

/* Handlers stay in the loop for as long as it lives, and the session does not. */
static struct remote *current;

static void on_signal(void *arg, int signal)
{
    (void)arg;
    if (!current)
        return;
    if (signal == SIGWINCH) {
        send_size(current);
        return;
    }
    current->has_status = true;
    current->status = SIGNAL_STATUS + signal;
    loop_stop(current->loop);
}

static int watch_signals(struct loop *loop, struct err *err)
{
    static const int signals[] = {SIGWINCH, SIGTERM, SIGHUP, SIGINT, SIGQUIT};
    static struct loop *watched;
    int code = 0;

    for (size_t i = 0; code == 0 && watched != loop && i < ARRAY_LEN(signals); i++)
        code = loop_on_signal(loop, signals[i], on_signal, NULL, err);
    watched = loop;
    return code;
}

/* --- the request --- */

static void add_path(struct strbuf *path, const struct remote_call *call)
{
    bool has_terminal = call->has_terminal;

    kube_path(path, kube_known(KUBE_PODS), kube_text(call->pod, "metadata", "namespace"),
              kube_text(call->pod, "metadata", "name"), call->command ? "exec" : "attach");
    kube_query(path, "container", kube_text(remote_container(call->pod, call->container), "name"));
    for (size_t i = 0; call->command && i < call->command_len; i++) {
        /* An empty word is a word, too. */
        if (*call->command[i])
            kube_query(path, "command", call->command[i]);
        else
            strbuf_addstr(path, "&command=");
    }
    kube_query(path, "stdin", call->has_input ? "true" : NULL);
    kube_query(path, "stdout", "true");
    kube_query(path, "stderr", has_terminal ? NULL : "true");
    kube_query(path, "tty", has_terminal ? "true" : NULL);
}

static int connect_to(struct api *api, struct remote *remote, const struct remote_call *call, struct err *err)
{
    struct strbuf path;
    int code;

    strbuf_init(&path, PATH_BYTES);
    add_path(&path, call);
    code = path.is_cut
               ? err_set(err, -EINVAL, "the command is longer than %d bytes", PATH_BYTES)
               : kube_websocket(api->client, path.text, CHANNEL_PROTOCOLS,
                                &(struct websocket_client_handler){
                                    .on_message = on_message, .on_end = on_end, .on_drain = on_drain, .arg = remote},
                                &remote->socket, err);
    strbuf_done(&path);
    return code == 0 || code == -EINVAL || code == -ENOENT ? code : err_wrap(err, -EIO, "server %s", api->name);
}

int remote_run(struct api *api, const struct remote_call *call, int *ret_status, struct err *err)
{
    struct remote remote = {.loop = api->loop, .has_input = call->has_input};
    int code = connect_to(api, &remote, call, err);

    if (code == 0)
        code = watch_signals(api->loop, err);
    if (code < 0) {
        websocket_client_free(remote.socket);
        return code;
    }
    current = &remote;
    loop_task_init(&remote.reading, api->loop, on_input, &remote);
    remote.has_terminal = call->has_terminal && raw_terminal_is_there();
    if (remote.has_terminal && call->has_input)
        (void)raw_terminal_take();
    send_size(&remote);
    start_input(&remote);
    loop_run(api->loop);
    raw_terminal_give_back();
    current = NULL;
    stop_input(&remote);
    websocket_client_free(remote.socket);
    *ret_status = remote.status;
    if (remote.err.code < 0)
        *err = remote.err;
    return remote.err.code;
}

/* --- the pod --- */

yyjson_val *remote_container(yyjson_val *pod, const char *name)
{
    yyjson_val *containers = yyjson_obj_get(yyjson_obj_get(pod, "spec"), "containers");
    yyjson_val *container;
    size_t i, max;

    yyjson_arr_foreach(containers, i, max, container)
    {
        if (!name || strcmp(kube_text(container, "name"), name) == 0)
            return container;
    }
    return NULL;
}

static int pick(const struct workload_set *set, const struct workload_row *row, const char *name, yyjson_val **ret_pod,
                struct err *err)
{
    struct view_list pods = {0};
    yyjson_val *found = NULL;

    workload_pods(set, row, &pods);
    vec_foreach (&pods, pod) {
        bool is_meant = name ? strcmp(kube_text(*pod, "metadata", "name"), name) == 0
                             : strcmp(kube_text(*pod, "status", "phase"), "Running") == 0;

        if (!found && is_meant)
            found = *pod;
    }
    vec_done(&pods);
    *ret_pod = found;
    if (found)
        return 0;
    if (name)
        return err_set(err, -EINVAL, "%s/%s has no pod %s: 'muster describe %s' lists its pods", row->namespace,
                       row->name, name, row->name);
    return err_set(err, -EINVAL, "%s/%s has no running pod: it is %s", row->namespace, row->name,
                   row_state_name(row->state));
}

int remote_find_pod(struct api *api, const char *workload, const char *name, struct workload_set *set,
                    yyjson_val **ret_pod, struct err *err)
{
    const struct workload_row *row = NULL;
    int code = workload_set_read(set, api, find_namespace(&workload, 1, api->namespace), err);

    if (code == 0)
        code = workload_find_one(set, workload, api->namespace, &row, err);
    return code == 0 ? pick(set, row, name, ret_pod, err) : code;
}
