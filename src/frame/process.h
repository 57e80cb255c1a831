/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/log.h"
#include "base/macros.h"
#include "base/time.h"
#include "frame/flags.h"
#include "net/rest/rest.h"

struct http_server;
struct loop;
struct service_kind;

/*
 * A process that runs one or several services until it is told to stop. It has the loop, the signals, the settings of
 * the log, and the servers for probes and metrics; what one service is and does is in service.h.
 *
 * SIGTERM and SIGINT stop all services in order: each finishes what is under way, writes the events that wait, and gives
 * its lease back. A timer bounds all of it. A second signal ends the process at once. A service that cannot go on stops
 * the others as well: what runs in one process lives and ends together.
 */
struct process_settings {
    const char *metrics_address;  // "host:port", ":port"; "" or "0": not served
    const char *health_address;
    nsec_t stop_timeout;  // the longest that an orderly stop may take
    bool is_json;         // of the log
    bool is_devel;
    int64_t verbosity;
    const char *log_level;
    const char *log_encoder;
    bool wants_version;
};

/* What process_main() returns when something was asked for instead of running, to be given by the caller. */
enum { PROCESS_WANTS_HELP = 1, PROCESS_WANTS_VERSION = 2 };

/* `settings` may be changed while a service is configured; all is read only after that. */
struct process {
    struct process_settings settings;
    struct loop *loop;
    struct process_run *run;  // the frame's own
};

/*
 * Runs the services until they are told to stop. A flag goes to every service that has it. Returns 0 after an orderly
 * end; PROCESS_WANTS_HELP or PROCESS_WANTS_VERSION; -EINVAL when the call was wrong or its files cannot be used, such as a
 * kubeconfig that is missing, to be reported by the caller; any other negative errno when a service could not go on, which
 * the log says as well. `err` says why.
 */
MUST_CHECK int process_main(const struct service_kind *const *kinds, size_t kind_count, int argc,
                            const char *const *argv, struct err *err);

/* Reads the flags and configures the services as process_main() does, and goes no further. For a process that ends after
 * it: what services have read stays. */
MUST_CHECK int process_check(const struct service_kind *const *kinds, size_t kind_count, int argc,
                             const char *const *argv, struct err *err);

/* process_main() with one service that may start those of `hostable` (host.h), a list up to a NULL. */
MUST_CHECK int process_main_hosting(const struct service_kind *host, const struct service_kind *const *hostable,
                                    int argc, const char *const *argv, struct err *err);

/*
 * Serves a set of routes at an address, until the process ends or process_unserve() is called; its rows are borrowed.
 * Nothing for "" and "0": then the server is NULL. `ret_server` may be NULL.
 */
MUST_CHECK int process_serve(struct process *process, struct log *log, const char *address, const struct rest_set *set,
                             struct http_server **ret_server, struct err *err);
void process_unserve(struct process *process, struct http_server *server);

/* Takes "host:port", ":port" or "[v6]:port" apart. Returns 1; 0 for "" and "0", which stand for no address; or -EINVAL.
 * An address without a host has "" there. */
MUST_CHECK int address_parse(const char *text, char host[static 256], uint16_t *ret_port, struct err *err);
