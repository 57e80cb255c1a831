/* SPDX-License-Identifier: Apache-2.0 */
#include "local/node/gpu_daemon.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "frame/service.h"
#include "gpu/daemon/config.h"
#include "gpu/daemon/gpud.h"
#include "gpu/nvml/nvml.h"
#include "gpu/place/place.h"
#include "net/loop.h"

enum { ENDING_S = 10 };

#define RETRY (5 * NSEC_PER_SEC)

struct daemon_flags {
    const char *fake_nodes;
    const char *folder;
    const char *config;
    bool node;
};

struct daemon {
    struct service *service;
    struct gpud_config config;
    struct metrics *metrics;  // its figures are on its own socket
    struct gpud *gpud;        // NULL: none, or another one has the folder
    struct loop_timer retry;
    char *told;  // why there is none, as it was logged last
};

#define AT(member) FLAG_AT(struct daemon_flags, member)

static const struct flag flags[] = {
    {"gpud-folder", FLAG_STRING, AT(folder), "", "folder of the GPU daemon", 0, 0},
    {"gpud-config", FLAG_STRING, AT(config), "", "configuration of the GPU daemon in YAML (empty: defaults)", 0, 0},
    {"node", FLAG_BOOL, AT(node), "true", "run pods on this machine", 0, 0},
    {"fake-nodes", FLAG_STRING, AT(fake_nodes), "", "fake nodes", 0, 0},
};

char *gpu_daemon_folder(const char *given)
{
    struct gpud_config config;

    gpud_config_init(&config);
    char *folder = xstrdup(*given ? given : config.folder);
    gpud_config_done(&config);
    return folder;
}

static int start(struct daemon *daemon, struct err *err)
{
    const char *folder = daemon->config.folder;
    int r = gpud_check_rival(folder, err);

    if (r == 0 && gpud_has_folder(folder))
        r = err_set(err, -EBUSY, "a GPU daemon is already running in %s", folder);
    if (r < 0)
        return r;
    daemon->metrics = metrics_new("");
    r = gpud_start(daemon->service->loop, &daemon->config, daemon->service->log, daemon->metrics, &daemon->gpud, err);
    if (r < 0)
        metrics_free(TAKE_PTR(daemon->metrics));
    return r;
}

static void try_start(void *arg)
{
    struct daemon *daemon = arg;
    struct err err = {0};

    if (start(daemon, &err) == 0)
        return;
    if (!daemon->told || strcmp(daemon->told, err.text) != 0) {
        log_warn(daemon->service->log, "the GPU daemon was not started; trying again every 5 s", log_error(&err));
        free(daemon->told);
        daemon->told = xstrdup(err.text);
    }
    loop_timer_start(&daemon->retry, RETRY);
}

static void daemon_free(struct daemon *daemon)
{
    loop_timer_done(&daemon->retry);
    gpud_free(daemon->gpud);
    metrics_free(daemon->metrics);
    gpud_config_done(&daemon->config);
    free(daemon->told);
    free(daemon);
}

static int read_settings(struct daemon *daemon, const struct daemon_flags *values, struct err *err)
{
    gpud_config_init(&daemon->config);
    int r = *values->config ? gpud_config_read(&daemon->config, values->config, err) : 0;
    if (r >= 0 && *values->folder) {
        free(daemon->config.folder);
        daemon->config.folder = xstrdup(values->folder);
    }
    return r;
}

static int open_daemon(struct service *service, struct err *err)
{
    const struct daemon_flags *values = service->values;
    struct daemon *daemon = xcalloc(1, sizeof *daemon);
    struct nvml *nvml = NULL;

    daemon->service = service;
    loop_timer_init(&daemon->retry, service->loop, try_start, daemon);
    int r = read_settings(daemon, values, err);
    if (r < 0) {
        daemon_free(daemon);
        return r;
    }
    service->state = daemon;
    service_set_ready(service, true);
    if (!values->node || *values->fake_nodes || nvml_open(NVML_LIBRARY, &nvml, NULL) < 0)
        return 0;
    if (nvml_gpu_count(nvml) > 0)
        try_start(daemon);
    /* Only now: the driver takes a second for the first who opens it. */
    nvml_close(nvml);
    return 0;
}

/* NVML may hang, and what hangs in a thread cannot be called off. Everything has been written by then. */
static void on_alarm(int number)
{
    (void)number;
    _exit(EXIT_SUCCESS);
}

static void close_daemon(struct service *service)
{
    struct daemon *daemon = service->state;
    bool has_run = daemon->gpud;

    daemon_free(daemon);
    if (has_run) {
        (void)signal(SIGALRM, on_alarm);
        (void)alarm(ENDING_S);
    }
}

const struct service_kind gpu_daemon_service = {
    .name = "gpud",
    .flags = flags,
    .flag_count = ARRAY_LEN(flags),
    .values_size = sizeof(struct daemon_flags),
    .open = open_daemon,
    .close = close_daemon,
};
