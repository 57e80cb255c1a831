/* SPDX-License-Identifier: Apache-2.0 */

/* Groups and their sockets. A group's folder is what its container has mounted, so that nothing but its socket lies in
 * it. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"
#include "gpu/daemon/gpud_parts.h"

#define GIB ((double)(1 << 30))

void group_path(const struct group *group, char *text, size_t size)
{
    (void)snprintf(text, size, "%s/groups/%s/tenant.sock", group->gpud->config->folder, group->spec.name);
}

struct group *group_find(const struct gpud *gpud, const char *name)
{
    for (uint32_t i = 0; i < LEDGER_GROUPS_MAX; i++) {
        if (gpud->groups[i] && strcmp(gpud->groups[i]->spec.name, name) == 0)
            return gpud->groups[i];
    }
    return NULL;
}

int group_gpu(const struct group *group, uint32_t device)
{
    for (uint32_t gpu = 0; gpu < group->spec.gpu_count; gpu++) {
        if (group->devices[gpu] == device)
            return (int)gpu;
    }
    return -1;
}

/* There is no descriptor left. Whoever waits would wake us up again and again: it is let in with the one that is kept for
 * this, and sent away. */
static void turn_away(struct group *group)
{
    struct gpud *gpud = group->gpud;

    if (gpud->spare < 0)
        return;
    (void)close(gpud->spare);
    int fd = accept4(group->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd >= 0)
        (void)close(fd);
    gpud->spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
    log_warn(gpud->log, "out of file descriptors: a tenant was refused", log_str("group", group->spec.name));
}

static void on_connection(void *arg)
{
    struct group *group = arg;
    int fd = accept4(group->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

    if (fd >= 0)
        session_accept(group, fd);
    else if (errno == EMFILE || errno == ENFILE)
        turn_away(group);
}

/* Only the user of the group may enter its folder, where there is one; in a container the mount decides. */
static int make_folder(const struct gpud *gpud, const struct group_spec *spec, struct err *err)
{
    char path[256];
    bool is_private = spec->uid >= 0;

    (void)snprintf(path, sizeof path, "%s/groups/%s", gpud->config->folder, spec->name);
    if (mkdir(path, 0700) < 0 && errno != EEXIST)
        return err_set(err, -errno, "%s: %s", path, strerror(errno));
    if (geteuid() == 0 && chown(path, is_private ? (uid_t)spec->uid : 0, (gid_t)-1) < 0)
        return err_set(err, -errno, "%s: %s", path, strerror(errno));
    if (chmod(path, is_private ? 0700 : 0755) < 0)
        return err_set(err, -errno, "%s: %s", path, strerror(errno));
    return 0;
}

static int listen_for(struct group *group, struct err *err)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char path[256];
    int r = make_folder(group->gpud, &group->spec, err);

    if (r < 0)
        return r;
    group_path(group, path, sizeof path);
    if (strlen(path) >= sizeof address.sun_path)
        return err_set(err, -ENAMETOOLONG, "%s: longer than %zu bytes; choose a shorter name or folder", path,
                       sizeof address.sun_path - 1);
    memcpy(address.sun_path, path, strlen(path) + 1);
    (void)unlink(path);
    group->listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (group->listener < 0 || bind(group->listener, (const struct sockaddr *)&address, sizeof address) < 0 ||
        chmod(path, 0666) < 0 || listen(group->listener, 256) < 0)
        return err_set(err, -errno, "%s: %s", path, strerror(errno));
    r = loop_watch_start(&group->on_listener, group->gpud->loop, group->listener, on_connection, group);
    return r < 0 ? err_set(err, r, "%s: %s", path, strerror(-r)) : 0;
}

/* In MIG mode programs see slices and nothing else. */
static int check_mig(const struct gpud *gpud, const struct group_spec *spec, const uint32_t *devices, struct err *err)
{
    for (uint32_t gpu = 0; gpu < spec->gpu_count && !spec->mig[0]; gpu++) {
        const struct device *device = &gpud->devices[devices[gpu]];

        if (device->mig.mode == MIG_ON)
            return err_set(
                err, -ENOTSUP, "GPU %s is in MIG mode: request a slice of it (mig), such as %s", device->spec.uuid,
                device->mig.profile_count > 0 ? device->mig.profiles[device->mig.profile_count - 1].name : "1g.10gb");
    }
    return 0;
}

/* Compute that the driver shares by itself would take away from exact shares; and exact shares have to fit. */
static int check_compute(const struct gpud *gpud, const struct group *self, const struct group_spec *spec,
                         const uint32_t *devices, struct err *err)
{
    for (uint32_t gpu = 0; gpu < spec->gpu_count; gpu++) {
        uint64_t sum = spec->share;
        bool is_exact = spec->mode == GPU_MODE_STRICT;

        for (uint32_t i = 0; i < LEDGER_GROUPS_MAX; i++) {
            const struct group *other = gpud->groups[i];

            for (uint32_t j = 0; other && other != self && j < other->spec.gpu_count; j++) {
                if (other->devices[j] != devices[gpu])
                    continue;
                if ((other->spec.mode == GPU_MODE_TIME) != (spec->mode == GPU_MODE_TIME))
                    return err_set(err, -EBUSY,
                                   "GPU %s is shared in the mode '%s' with group %s: '%s' on the same GPU would "
                                   "break the configured shares",
                                   gpud->devices[devices[gpu]].spec.uuid, gpu_mode_name(other->spec.mode),
                                   other->spec.name, gpu_mode_name(spec->mode));
                sum += other->spec.share;
                is_exact |= other->spec.mode == GPU_MODE_STRICT;
            }
        }
        if (spec->mode != GPU_MODE_TIME && is_exact && sum > ARBITER_WHOLE)
            return err_set(err, -EBUSY, "the shares on GPU %s would add up to %.3f, and at least one of them is strict",
                           gpud->devices[devices[gpu]].spec.uuid, (double)sum / ARBITER_WHOLE);
    }
    return 0;
}

static int find_devices(const struct gpud *gpud, const struct group_spec *spec, uint32_t *devices, struct err *err)
{
    for (uint32_t gpu = 0; gpu < spec->gpu_count; gpu++) {
        int found = gpud_find_device(gpud, spec->gpus[gpu]);

        if (found < 0)
            return err_set(err, -ENOENT, "no GPU '%s' on this node; 'muster gpu top' lists them", spec->gpus[gpu]);
        for (uint32_t i = 0; i < gpu; i++) {
            if (devices[i] == (uint32_t)found)
                return err_set(err, -EINVAL, "GPU '%s' is named twice", spec->gpus[gpu]);
        }
        devices[gpu] = (uint32_t)found;
    }
    return 0;
}

/* Parts of a GPU are of what it has to give, so that two halves fit. */
static int reckon(const struct gpud *gpud, const struct group_spec *spec, const uint32_t *devices,
                  struct group_spec *ret_spec, struct err *err)
{
    int r = group_spec_reckon(spec, gpud->ledger.capacity[devices[0]], ret_spec, err);

    for (uint32_t gpu = 1; r >= 0 && spec->is_asked && gpu < spec->gpu_count; gpu++) {
        if (gpud->ledger.capacity[devices[gpu]] != gpud->ledger.capacity[devices[0]])
            return err_set(err, -ENOTSUP, "GPUs %s and %s differ in memory: request an amount instead of a fraction",
                           gpud->devices[devices[0]].spec.uuid, gpud->devices[devices[gpu]].spec.uuid);
    }
    return r;
}

static int set_amounts(struct gpud *gpud, uint32_t index, const struct group_spec *spec, const uint32_t *devices,
                       struct err *err)
{
    uint64_t request[LEDGER_GPUS_MAX] = {0};
    uint64_t limit[LEDGER_GPUS_MAX] = {0};
    uint32_t full;

    for (uint32_t gpu = 0; gpu < spec->gpu_count; gpu++) {
        request[devices[gpu]] = spec->request_bytes;
        limit[devices[gpu]] = spec->limit_bytes;
        if (spec->limit_bytes > gpud->ledger.capacity[devices[gpu]])
            return err_set(err, -EBUSY, "GPU %s has %llu bytes (%.1f GiB) for groups, %llu (%.1f GiB) are requested",
                           gpud->devices[devices[gpu]].spec.uuid,
                           (unsigned long long)gpud->ledger.capacity[devices[gpu]],
                           (double)gpud->ledger.capacity[devices[gpu]] / GIB, (unsigned long long)spec->limit_bytes,
                           (double)spec->limit_bytes / GIB);
    }
    if (!ledger_set_group(&gpud->ledger, index, request, limit, &full))
        return err_set(
            err, -EBUSY,
            "GPU %s has %.1f GiB, of which %.1f GiB are reserved for other groups: %.1f GiB (%llu bytes) more "
            "do not fit",
            gpud->devices[full].spec.uuid, (double)gpud->ledger.capacity[full] / GIB,
            (double)(gpud->ledger.requested[full] - gpud->ledger.groups[index].request[full]) / GIB,
            (double)spec->request_bytes / GIB, (unsigned long long)spec->request_bytes);
    return 0;
}

static void fill_page(struct group *group)
{
    struct gpu_control_page *page = group->page.mem;

    page->magic = GPU_CONTROL_MAGIC;
    page->version = GPU_PROTOCOL_VERSION;
    page->gpu_count = group->spec.gpu_count;
    page->daemon_start_ns = (uint64_t)group->gpud->started;
    for (uint32_t gpu = 0; gpu < group->spec.gpu_count; gpu++) {
        struct gpu_control_line *line = &page->gpus[gpu];

        memcpy(line->uuid, group->gpud->devices[group->devices[gpu]].uuid, sizeof line->uuid);
        atomic_store(&line->mode, (uint32_t)group->spec.mode);
        atomic_store(&line->request_bytes, group->spec.request_bytes);
        atomic_store(&line->limit_bytes, group->spec.limit_bytes);
        atomic_store(&line->credit_max_bytes, 2 * group->gpud->config->credit_bytes);
    }
}

/* A program's group must not outlive it, whatever became of the command that made it. */
static void on_owner_end(void *arg)
{
    struct group *group = arg;
    struct gpud *gpud = group->gpud;

    log_info(gpud->log, "group removed: its owner process has ended", log_str("group", group->spec.name));
    group_remove(group, false);
    loop_task_queue(&gpud->saving);
}

static int watch_owner(struct group *group, struct err *err)
{
    struct group_spec *spec = &group->spec;

    if (spec->owner == 0)
        return 0;
    if (spec->owner_started == 0)
        spec->owner_started = process_started((pid_t)spec->owner);
    group->owner = spec->owner_started ? peer_pidfd((pid_t)spec->owner, spec->owner_started) : -ESRCH;
    if (group->owner < 0) {
        group->owner = -1;
        return err_set(err, -ENOENT, "owner: no process %lld", (long long)spec->owner);
    }
    int r = loop_watch_start(&group->on_owner, group->gpud->loop, group->owner, on_owner_end, group);
    return r < 0 ? err_set(err, r, "cannot watch process %lld: %s", (long long)spec->owner, strerror(-r)) : 0;
}

static int first_free(const struct gpud *gpud)
{
    for (int i = 0; i < LEDGER_GROUPS_MAX; i++) {
        if (!gpud->groups[i])
            return i;
    }
    return -1;
}

static void stop_listening(struct group *group)
{
    char path[256];

    loop_watch_done(&group->on_listener);
    if (group->listener < 0)
        return;
    (void)close(group->listener);
    group->listener = -1;
    group_path(group, path, sizeof path);
    (void)unlink(path);
    /* A container has the folder mounted, which has to be the same one after a restart. */
    *strrchr(path, '/') = '\0';
    if (!group->gpud->is_stopping)
        (void)rmdir(path);
}

static void free_group(struct group *group)
{
    park_done(group);
    stop_listening(group);
    loop_watch_done(&group->on_owner);
    if (group->owner >= 0)
        (void)close(group->owner);
    shared_page_free(&group->page);
    free(group);
}

static int add(struct gpud *gpud, const struct group_spec *wanted, const struct mig_slice *slice,
               struct group **ret_group, struct err *err)
{
    struct group_spec exact, *spec = &exact;
    uint32_t devices[GPU_MAX];
    int index = first_free(gpud);
    int r = find_devices(gpud, wanted, devices, err);

    if (r >= 0)
        r = reckon(gpud, wanted, devices, &exact, err);
    if (r < 0)
        return r;
    if (index < 0)
        return err_set(err, -EBUSY, "the limit of %d groups is reached; remove one first", LEDGER_GROUPS_MAX);
    r = check_mig(gpud, spec, devices, err);
    if (r >= 0)
        r = check_compute(gpud, NULL, spec, devices, err);
    if (r >= 0)
        r = set_amounts(gpud, (uint32_t)index, spec, devices, err);
    if (r < 0)
        return r;
    struct group *group = xcalloc(1, sizeof *group);
    *group =
        (struct group){.gpud = gpud, .index = (uint32_t)index, .lease = -1, .spec = *spec, .listener = -1, .owner = -1};
    memcpy(group->devices, devices, sizeof devices);
    group->slice = *slice;
    group->looked_at = gpud_now();
    park_init(group);
    r = shared_page_new(&group->page, "muster-group", sizeof(struct gpu_control_page), true);
    if (r < 0)
        (void)err_set(err, r, "cannot create a shared page: %s", strerror(-r));
    if (r >= 0) {
        fill_page(group);
        r = watch_owner(group, err);
    }
    if (r >= 0 && !spec->mig[0])
        r = listen_for(group, err);
    if (r < 0) {
        ledger_remove_group(&gpud->ledger, (uint32_t)index);
        free_group(group);
        return r;
    }
    gpud->groups[index] = group;
    leases_join(group);
    watcher_wake(gpud);
    if (ret_group)
        *ret_group = group;
    return 0;
}

int group_add(struct gpud *gpud, const struct group_spec *wanted, struct group **ret_group, struct err *err)
{
    struct mig_slice slice = {0};
    int r = wanted->mig[0] ? slices_take_now(gpud, wanted, &slice, err) : 0;

    return r < 0 ? r : add(gpud, wanted, &slice, ret_group, err);
}

int group_add_slice(struct gpud *gpud, const struct group_spec *spec, const struct mig_slice *slice,
                    struct group **ret_group, struct err *err)
{
    return add(gpud, spec, slice, ret_group, err);
}

int group_change(struct group *group, const struct group_spec *wanted, struct err *err)
{
    struct group_spec exact, *spec = &exact;
    struct gpud *gpud = group->gpud;
    uint32_t devices[GPU_MAX] = {0};
    int r = find_devices(gpud, wanted, devices, err);

    if (r >= 0)
        r = reckon(gpud, wanted, devices, &exact, err);
    if (r < 0)
        return r;
    if (spec->gpu_count != group->spec.gpu_count ||
        memcmp(devices, group->devices, spec->gpu_count * sizeof *devices) != 0)
        return err_set(err, -EBUSY, "group %s: GPUs cannot be changed; remove the group and create it again",
                       spec->name);
    if (strcmp(spec->mig, group->spec.mig) != 0)
        return err_set(err, -EBUSY, "group %s: its slice cannot be changed; remove the group and create it again",
                       spec->name);
    if (spec->is_parkable != group->spec.is_parkable)
        return err_set(err, -EBUSY, "group %s: parkable cannot be changed; remove the group and create it again",
                       spec->name);
    r = check_compute(gpud, group, spec, devices, err);
    if (r >= 0 && spec->uid != group->spec.uid && !spec->mig[0])
        r = make_folder(gpud, spec, err);
    if (r >= 0)
        r = set_amounts(gpud, group->index, spec, devices, err);
    if (r < 0)
        return r;
    bool was_shaped = group->lease >= 0;
    spec->owner = group->spec.owner;
    spec->owner_started = group->spec.owner_started;
    group->spec = *spec;
    fill_page(group);
    if (was_shaped != (spec->mode != GPU_MODE_TIME)) {
        leases_leave(group);
        leases_join(group);
    } else if (was_shaped) {
        leases_change(group);
    }
    leases_run(gpud);
    memory_retry(gpud);
    return 0;
}

void group_remove(struct group *group, bool kills)
{
    struct gpud *gpud = group->gpud;

    /* First, or those who lose their connection come back at once. */
    stop_listening(group);
    park_done(group);
    for (struct session *s = session_first(group), *next; s; s = next) {
        next = session_next(s);
        if (kills)
            session_kill(s, GPU_REASON_PEER, 0, "its group was removed with its processes");
        session_free(s);
    }
    leases_leave(group);
    meters_forget(group);
    if (!gpud->is_stopping)
        ledger_remove_group(&gpud->ledger, group->index);
    gpud->groups[group->index] = NULL;
    if (group->spec.mig[0] && !gpud->is_stopping)
        slices_give(gpud, group->spec.name);
    free_group(group);
}
