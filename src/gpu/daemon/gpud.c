/* SPDX-License-Identifier: Apache-2.0 */

/* Putting the daemon together, and taking it apart in a way that leaves the next one everything. */
#include "gpu/daemon/gpud.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"
#include "gpu/daemon/gpud_parts.h"
#include "gpu/nvml/nvml.h"
#include "net/http_server.h"
#include "text/metrics.h"

enum { FOLDER_MAX = 96 };  // a socket's path has to fit behind it

#define RESERVE_MIN (UINT64_C(512) << 20)

nsec_t gpud_now(void)
{
    return nsec_now_monotonic();
}

int gpud_find_device(const struct gpud *gpud, const char *text)
{
    char *end;
    unsigned long index;

    for (uint32_t i = 0; i < gpud->device_count; i++) {
        if (strcmp(gpud->devices[i].spec.uuid, text) == 0)
            return (int)i;
    }
    if (!isdigit((unsigned char)text[0]))
        return -1;
    index = strtoul(text, &end, 10);
    return *end == '\0' && index < gpud->device_count ? (int)index : -1;
}

/* "GPU-8a0f2c1e-..." as sixteen bytes; zeros where it is no such thing. */
static void parse_uuid(const char *text, uint8_t uuid[static 16])
{
    size_t digits = 0;

    memset(uuid, 0, 16);
    if (strncmp(text, "GPU-", 4) == 0)
        text += 4;
    for (; *text && digits < 32; text++) {
        const char *hex = "0123456789abcdef";
        const char *at = strchr(hex, tolower((unsigned char)*text));

        if (!at)
            continue;
        uuid[digits / 2] = (uint8_t)(uuid[digits / 2] << 4 | (at - hex));
        digits++;
    }
}

static int make_folders(const char *folder, struct err *err)
{
    char path[512];

    if (folder[0] != '/' || strlen(folder) > FOLDER_MAX)
        return err_set(err, -EINVAL, "folder '%s': expected an absolute path of at most %d bytes", folder, FOLDER_MAX);
    (void)snprintf(path, sizeof path, "%s/groups/", folder);
    for (char *at = path + 1; (at = strchr(at, '/')); at++) {
        *at = '\0';
        if (mkdir(path, 0755) < 0 && errno != EEXIST)
            return err_set(err, -errno, "%s: %s", path, strerror(errno));
        *at = '/';
    }
    return 0;
}

static void add_device(struct gpud *gpud, const struct gpud_gpu_spec *spec)
{
    uint32_t i = gpud->device_count++;
    uint64_t reserve = gpud->config->reserve_bytes;

    if (reserve == 0)
        reserve = MAX(spec->memory_bytes / 100, RESERVE_MIN);
    gpud->devices[i].spec = *spec;
    gpud->devices[i].context_bytes = gpud->config->context_bytes;
    parse_uuid(spec->uuid, gpud->devices[i].uuid);
    gpud->ledger.capacity[i] = spec->memory_bytes > reserve ? spec->memory_bytes - reserve : 0;
}

static int find_by_nvml(struct gpud *gpud, struct err *err)
{
    for (uint32_t i = 0; i < nvml_gpu_count(gpud->nvml) && gpud->device_count < GPU_MAX; i++) {
        struct nvml_gpu gpu;
        struct gpud_gpu_spec spec = {0};
        int r = nvml_gpu(gpud->nvml, i, &gpu, err);

        if (r < 0)
            return r;
        (void)snprintf(spec.uuid, sizeof spec.uuid, "%.47s", gpu.uuid);
        (void)snprintf(spec.name, sizeof spec.name, "%.95s", gpu.name);
        spec.memory_bytes = gpu.total_bytes;
        add_device(gpud, &spec);
    }
    return 0;
}

static int find_devices(struct gpud *gpud, struct err *err)
{
    const struct gpud_config *config = gpud->config;
    int r = nvml_open(NVML_LIBRARY, &gpud->nvml, err);

    gpud->has_driver_limits = r >= 0 && nvml_has(gpud->nvml, "nvmlDeviceSetMemoryLimits_v1");
    if (config->gpus.len > 0) {
        if (r < 0)
            log_info(gpud->log,
                     "NVML is not available: GPUs are taken from the configuration, processes that are not tenants are "
                     "not detected",
                     log_error(err));
        vec_foreach (&config->gpus, at)
            add_device(gpud, at);
        return 0;
    }
    if (r < 0)
        return r;
    r = find_by_nvml(gpud, err);
    if (r >= 0 && gpud->device_count == 0)
        r = err_set(err, -ENODEV, "the driver is installed but reports no GPU");
    return r;
}

static int start_timer(struct gpud *gpud, struct err *err)
{
    int r;

    gpud->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    if (gpud->timer < 0)
        return err_set(err, -errno, "making a timer: %s", strerror(errno));
    gpud->timer_at = NSEC_MAX;
    r = loop_watch_start(&gpud->on_timer, gpud->loop, gpud->timer, leases_tick, gpud);
    return r < 0 ? err_set(err, r, "watching a timer: %s", strerror(-r)) : 0;
}

static int add_groups(struct gpud *gpud, struct err *err)
{
    vec_foreach (&gpud->config->groups, at) {
        struct group *group;
        int r = group_add(gpud, at, &group, err);

        if (r < 0)
            return err_wrap(err, r, "group %s", at->name);
        group->is_static = true;
    }
    state_load(gpud);
    return 0;
}

/* Each tenant takes five descriptors, and what a shell allows by default is a thousand. */
static void take_descriptors(struct gpud *gpud)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &limit);
    }
    gpud->spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static int start(struct gpud *gpud, struct err *err)
{
    char path[256];
    int r = make_folders(gpud->config->folder, err);

    take_descriptors(gpud);
    if (r >= 0) {
        (void)snprintf(path, sizeof path, "%s/book", gpud->config->folder);
        r = book_open(path, &gpud->book, err);
    }
    if (r >= 0)
        r = find_devices(gpud, err);
    if (r >= 0)
        r = start_timer(gpud, err);
    if (r < 0)
        return r;
    slices_start(gpud);
    r = add_groups(gpud, err);
    if (r < 0)
        return r;
    slices_keep(gpud);
    state_adopt(gpud);
    watcher_start(gpud);
    return api_start(gpud, err);
}

int gpud_start(struct loop *loop, const struct gpud_config *config, struct log *log, struct metrics *metrics,
               struct gpud **ret_gpud, struct err *err)
{
    struct gpud *gpud = xcalloc(1, sizeof *gpud);
    int r;

    gpud->loop = loop;
    gpud->log = log;
    gpud->config = config;
    gpud->metrics = metrics;
    gpud->timer = gpud->spare = -1;
    gpud->started = gpud_now();
    arbiter_init(&gpud->arbiter, &config->compute);
    ledger_init(&gpud->ledger);
    loop_task_init(&gpud->saving, loop, state_save, gpud);
    loop_timer_init(&gpud->save_again, loop, state_save, gpud);
    loop_timer_init(&gpud->returning, loop, park_look_for_room, gpud);
    meters_init(gpud);
    r = start(gpud, err);
    if (r < 0) {
        gpud_free(gpud);
        return r;
    }
    log_info(log, "GPU daemon is ready", log_str("folder", config->folder), log_int("gpus", gpud->device_count));
    *ret_gpud = gpud;
    return 0;
}

/* Its socket goes as well: other users cannot try whether somebody listens, they only see that it is there. */
static void stop_api(struct gpud *gpud)
{
    char path[256];

    if (!gpud->api)
        return;
    http_server_free(gpud->api);
    (void)snprintf(path, sizeof path, "%s/api.sock", gpud->config->folder);
    (void)unlink(path);
}

void gpud_free(struct gpud *gpud)
{
    if (!gpud)
        return;
    gpud->is_stopping = true;
    if (gpud->saving.is_queued || loop_timer_is_running(&gpud->save_again))
        state_save(gpud);
    loop_task_cancel(&gpud->saving);
    loop_timer_done(&gpud->save_again);
    loop_timer_done(&gpud->returning);
    for (uint32_t i = 0; i < LEDGER_GROUPS_MAX; i++) {
        if (gpud->groups[i])
            park_done(gpud->groups[i]);
    }
    slices_free(gpud);
    stop_api(gpud);
    http_server_free(gpud->metrics_server);
    watcher_free(gpud->watcher);
    for (uint32_t i = 0; i < LEDGER_GROUPS_MAX; i++) {
        if (gpud->groups[i])
            group_remove(gpud->groups[i], false);
    }
    loop_watch_done(&gpud->on_timer);
    if (gpud->timer >= 0)
        (void)close(gpud->timer);
    if (gpud->spare >= 0)
        (void)close(gpud->spare);
    nvml_close(gpud->nvml);
    book_close(gpud->book);
    free(gpud);
}
