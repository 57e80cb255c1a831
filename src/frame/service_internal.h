/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/vec.h"
#include "frame/service.h"
#include "net/loop.h"

struct lease;

/* What the frame keeps of a running service. */
struct service_run {
    struct lease *lease;
    struct service_servers VEC_OF(struct http_server *) servers;
    struct loop_timer stop_timer;     // an end that does not wait for ever
    struct loop_timer drain_timer;    // looks whether events have been written
    struct loop_timer started_timer;  // when what is done once has been done
    struct err failure;               // why we stop; code 0: we were told to
    struct meter *problems;
    bool is_leading;
    bool is_ready;
    bool is_stopping;
    bool has_stopped;
};

int settings_check(const struct service_settings *settings, struct err *err);
bool settings_log_is_json(const struct service_settings *settings);

/* Probes and metrics as the settings say. */
int probes_start(struct service *service, struct err *err);
void servers_stop(struct service *service);

/* Figures of the process itself. */
void process_metrics_add(struct service *service);
