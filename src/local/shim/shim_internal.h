/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <yyjson.h>

#include "base/err.h"
#include "base/list.h"
#include "base/strbuf.h"
#include "base/time.h"
#include "base/vec.h"
#include "local/shim/launch.h"
#include "local/shim/mounts.h"
#include "local/shim/pipes/log_file.h"
#include "local/shim/pipes/writer.h"
#include "local/shim/shim.h"
#include "net/loop.h"
#include "net/watch.h"

struct http_client;
struct http_call;
struct grpc_call;
struct client;
struct shim;
struct container;

/* A program beside the first one of a container: a probe, a hook, a command of a user. It is reaped by pid. */
struct helper {
    struct list_link in_shim;
    pid_t pid;
    void (*on_exit)(void *arg, int status);  // as of waitpid()
    void *arg;
};

/* One of startup, liveness, readiness (probe.c). */
enum probe_kind { PROBE_STARTUP, PROBE_LIVENESS, PROBE_READINESS, _PROBE_KIND_MAX };

/* A request, a connection or a program, with one answer: what probes and hooks do (action.c). */
struct action {
    struct container *container;
    struct helper helper;
    struct http_call *call;
    struct grpc_call *health;
    int fd;  // of a connection; -1: none
    int output[2];
    struct loop_watch watch;
    struct loop_timer timeout, wait;
    bool is_running;
    void (*on_done)(void *arg, bool is_good, const char *message);
    void *arg;
    char message[512];
};

struct probe {
    struct container *container;
    enum probe_kind kind;
    yyjson_val *spec;  // NULL: there is none
    struct loop_timer timer;
    struct action action;
    uint32_t successes, failures;  // in a row
    bool is_passed;                // the threshold was met last
};

enum container_kind { CONTAINER_INIT, CONTAINER_SIDECAR, CONTAINER_MAIN };
enum container_state { CONTAINER_WAITING, CONTAINER_RUNNING, CONTAINER_ENDED };

/* How a run has ended. */
struct ending {
    int exit_code;
    int signal;
    const char *reason;  // NULL: there was none
    char *message;
    nsec_t started, ended;
};

struct container {
    struct shim *shim;
    yyjson_val *spec;  // as in the pod
    yyjson_val *plan;  // as the daemon has resolved it
    const char *name;
    char id[128];
    enum container_kind kind;
    enum container_state state;
    const char *waiting;  // the reason while it waits
    char *waiting_message;
    uint32_t restarts;  // the number of the last run that was begun
    bool has_run;
    pid_t pid;
    unsigned long long pid_start;  // that tells it from another process with its number
    nsec_t started;
    struct ending last, before;  // of the last run, and of the one before it
    nsec_t backoff;
    struct loop_timer restart, kill;
    bool is_killing;       // it was told to end
    bool is_ready, is_up;  // is_up: the startup probe has passed
    bool is_final;         // it will not be started again
    const char *kill_reason;
    /* output */
    struct log_file *log;
    struct {
        struct container *container;
        enum log_stream stream;
        int fd;
        struct loop_watch watch;
    } outputs[_LOG_STREAM_MAX];
    int terminal;  // the master; -1: none
    struct writer in;
    struct list clients;  // that are attached
    /* What one that reads input has printed before anybody was attached: its prompt, the last of it. */
    struct strbuf early[_LOG_STREAM_MAX];
    bool keeps_early;
    struct probe probes[_PROBE_KIND_MAX];
    struct action hook;  // postStart, then preStop
    char group[4096];    // "": none
    int64_t oom_kills;   // before this run
};

enum shim_condition {
    SHIM_CAN_START,
    SHIM_INITIALIZED,
    SHIM_CONTAINERS_READY,
    SHIM_READY,
    _SHIM_CONDITION_MAX,
};

struct shim {
    struct loop *loop;
    struct http_client *http;
    char *folder;
    int folder_fd, lock, listener;
    yyjson_doc *doc;
    yyjson_val *pod, *plan;
    struct container *containers;  // init containers first
    uint32_t count, init_count;
    struct list helpers, clients;
    struct loop_watch accept;
    struct loop_timer deadline, end;
    struct loop_watch lease_watch;
    int lease_fd;        // of a timer, on a joined machine; -1: none
    nsec_t lease_grace;  // that containers have when the lease is over
    struct loop_task step;
    struct list events;  // that no client has taken yet
    nsec_t started;
    const char *reason;  // why the pod failed, beside its containers
    const char *message;
    bool is_stopping, is_over, is_failed_init;
    nsec_t stop_by;
    bool has_limits;
    bool is_restart_always, is_restart_failures;
    struct {
        bool is_true;
        nsec_t since;  // 0: not yet known
    } conditions[_SHIM_CONDITION_MAX];
};

/* lease_watch.c */
void lease_watch_open(struct shim *shim);
void lease_watch_close(struct shim *shim);

/* container.c */
void container_init(struct container *container, struct shim *shim, yyjson_val *spec, enum container_kind kind);
void container_done(struct container *container);
void container_start(struct container *container);
void container_stop(struct container *container, nsec_t grace, const char *why);
void container_exited(struct container *container, int status);
void container_wait(struct container *container, const char *reason, const char *message);
bool container_may_restart(const struct container *container);
nsec_t container_grace(const struct container *container);

/* launching.c: what a program of the container gets. */
struct launching {
    struct launch launch;
    VEC(const char *) argv, env;
    VEC(struct mount_plan) mounts;
    VEC(gid_t) groups;
    char *staging;
    char *changes, *host;  // of an image
};
void launching_init(struct launching *launching, const struct container *container);
void launching_done(struct launching *launching);
MUST_CHECK int launching_start(struct launching *launching, struct container *container, pid_t *ret_pid,
                               struct err *err);

/* output.c */
MUST_CHECK int output_open(struct container *container, struct launch *launch, struct err *err);
void output_close(struct container *container);

/* Gives the first client what was printed before it came. */
void output_tell_early(struct container *container, struct client *client);
void output_tail(const struct container *container, size_t bytes_max, size_t lines_max, char **ret_text);

/* action.c */
void action_start(struct action *action, struct container *container, yyjson_val *handler, nsec_t timeout,
                  void (*on_done)(void *arg, bool is_good, const char *message), void *arg);
void action_cancel(struct action *action);

/* probe.c */
void container_probes_start(struct container *container);
void container_probes_stop(struct container *container);

/* status.c */
void status_write(struct shim *shim, bool is_synced);
MUST_CHECK int status_load(struct shim *shim, struct err *err);  // 0 also when there is none
void status_event(struct shim *shim, const char *type, const char *reason, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* control.c */
MUST_CHECK int control_open(struct shim *shim, struct err *err);
void control_close(struct shim *shim);
void control_notify(struct shim *shim);
void client_output(struct client *client, enum shim_channel channel, const char *bytes, size_t len);
void client_finish(struct client *client, int exit_code, const char *problem);

/* session.c: commands of users */
struct exec_session;
/* NULL, with the reason, when the command cannot be started. */
struct exec_session *exec_session_start(struct container *container, struct client *client, yyjson_val *request,
                                        struct err *err);
void exec_session_input(struct exec_session *session, const char *bytes, size_t len);
void exec_session_input_end(struct exec_session *session);
void exec_session_resize(struct exec_session *session, const char *text, size_t len);
void exec_session_free(struct exec_session *session);  // ends the program

/* The client has taken everything, and more may be read. */
void exec_session_resume(struct exec_session *session);

/* shim.c */
void shim_changed(struct shim *shim);  // decide what to do next
void shim_told(struct shim *shim);     // a client has taken all events
void shim_stop(struct shim *shim, nsec_t grace);
void shim_set_deadline(struct shim *shim, int64_t seconds);  // 0: none; negative: as it is
struct container *shim_find(struct shim *shim, const char *name);
void helper_add(struct shim *shim, struct helper *helper);
void helper_kill(struct shim *shim, struct helper *helper);
