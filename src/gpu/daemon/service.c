/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/daemon/service.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "frame/service.h"
#include "gpu/daemon/config.h"
#include "gpu/daemon/gpud.h"

enum { ENDING_S = 2 };

struct gpud_flags {
    const char *config;
    const char *folder;
    const char *metrics_address;
    const char *health_address;
};

/* The daemon and the configuration that it borrows. */
struct gpud_parts {
    struct gpud_config config;
    struct gpud *gpud;
};

#define AT(member) FLAG_AT(struct gpud_flags, member)

static const struct flag flags[] = {
    {"config", FLAG_STRING, AT(config), "", "configuration in YAML (empty: defaults, and the GPUs that NVML finds)", 0,
     0},
    {"c", FLAG_STRING, AT(config), "", "the same as --config", 0, 0},
    {"folder", FLAG_STRING, AT(folder), "",
     "folder of sockets and state (default: that of --config, else /run/muster/gpu for root)", 0, 0},
    /* Its figures are on the socket of its API; a port is opened only for those who ask for one. */
    {"metrics-bind-address", FLAG_STRING, AT(metrics_address), "", "address of /metrics (empty: not served)", 0, 0},
    {"health-probe-bind-address", FLAG_STRING, AT(health_address), "",
     "address of /healthz and /readyz (empty: not served)", 0, 0},
};

static int configure(struct service *service, struct err *err)
{
    const struct gpud_flags *values = service->values;

    (void)err;
    service->common->metrics_address = values->metrics_address;
    service->common->health_address = values->health_address;
    /* Names are whole: some of them are not ours. */
    service->settings.metrics_prefix = "";
    return 0;
}

static void parts_free(struct gpud_parts *parts)
{
    gpud_free(parts->gpud);
    gpud_config_done(&parts->config);
    free(parts);
}

static int open_gpud(struct service *service, struct err *err)
{
    const struct gpud_flags *values = service->values;
    struct gpud_parts *parts = xcalloc(1, sizeof *parts);
    int r = 0;

    gpud_config_init(&parts->config);
    if (*values->config)
        r = gpud_config_read(&parts->config, values->config, err);
    if (r >= 0 && *values->folder) {
        free(parts->config.folder);
        parts->config.folder = xstrdup(values->folder);
    }
    if (r >= 0)
        r = gpud_start(service->loop, &parts->config, service->log, service->metrics, &parts->gpud, err);
    if (r < 0) {
        parts_free(parts);
        return r;
    }
    service->state = parts;
    service_set_ready(service, true);
    return 0;
}

/* NVML may hang, and what hangs in a thread cannot be called off. Everything has been written by then. */
static void on_alarm(int signal)
{
    (void)signal;
    _exit(EXIT_SUCCESS);
}

static void close_gpud(struct service *service)
{
    parts_free(service->state);
    (void)signal(SIGALRM, on_alarm);
    (void)alarm(ENDING_S);
}

const struct service_kind gpud_service = {
    .name = "gpud",
    .flags = flags,
    .flag_count = ARRAY_LEN(flags),
    .values_size = sizeof(struct gpud_flags),
    .configure = configure,
    .open = open_gpud,
    .close = close_gpud,
};
