/* SPDX-License-Identifier: Apache-2.0 */
/* Processes on a GPU: those of the tenant's group, by the numbers that they have here. In a container NVML shows the
 * node's numbers; other tenants are none of its business, not even how many they are. So the whole list is fetched into
 * memory of our own, whatever room the program has for it. */
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "gpu/tenant/link/client.h"
#include "gpu/tenant/nvml/nvml_view.h"
#include "gpu/tenant/tenant.h"

/* One of the lists: how long its entries are, where in them the number of the process is, and what fills it. */
struct list {
    size_t size;
    size_t pid_at;
    nvml_result (*fetch)(const struct list *list, unsigned *count, void *entries);
    void *real;
    void *device;
    unsigned long long since_us;
    unsigned mode;
    nvml_result if_empty;
};

enum { FIRST_ROOM = 64, MOST_ROOM = 65536 };

static void *entries_new(const struct list *list, unsigned room)
{
    void *memory = mmap(NULL, room * list->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

static void entries_free(const struct list *list, void *entries, unsigned room)
{
    if (entries)
        (void)munmap(entries, room * list->size);
}

/* Everything that the driver has. On success the entries have to be freed. */
static nvml_result fetch_all(const struct list *list, void **ret_entries, unsigned *ret_count, unsigned *ret_room)
{
    nvml_result result = NVML_INSUFFICIENT_SIZE;
    unsigned room = FIRST_ROOM;
    while (room <= MOST_ROOM) {
        void *entries = entries_new(list, room);
        unsigned count = room;
        result = entries ? list->fetch(list, &count, entries) : NVML_UNKNOWN;
        if (result == NVML_SUCCESS && count <= room) {
            *ret_entries = entries;
            *ret_count = count;
            *ret_room = room;
            return result;
        }
        entries_free(list, entries, room);
        if (result != NVML_INSUFFICIENT_SIZE)
            break;
        /* It may be more by the next time. */
        unsigned wanted = count > room ? count : room;
        room = wanted > MOST_ROOM / 2 ? MOST_ROOM + 1 : wanted * 2;
    }
    return result == NVML_SUCCESS ? NVML_UNKNOWN : result;
}

/* Moves the group's own to the front. */
static unsigned keep_own(const struct list *list, char *entries, unsigned count)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < count; i++) {
        char *entry = entries + i * list->size, *place = entries + kept * list->size;
        unsigned pid;
        memcpy(&pid, entry + list->pid_at, sizeof pid);
        pid = client_own_pid(pid);
        if (pid == 0)
            continue;
        if (place != entry)
            memcpy(place, entry, list->size);
        memcpy(place + list->pid_at, &pid, sizeof pid);
        kept++;
    }
    return kept;
}

static nvml_result show(const struct list *list, unsigned *count, void *ret_entries)
{
    void *entries;
    unsigned found, room;
    nvml_result result = fetch_all(list, &entries, &found, &room);
    if (result != NVML_SUCCESS)
        return result;
    unsigned has_room_for = ret_entries ? *count : 0;
    *count = keep_own(list, entries, found);
    if (*count == 0)
        result = list->if_empty;
    else if (*count > has_room_for)
        result = NVML_INSUFFICIENT_SIZE;
    else
        memcpy(ret_entries, entries, *count * list->size);
    entries_free(list, entries, room);
    return result;
}

static nvml_result fetch_processes(const struct list *list, unsigned *count, void *entries)
{
    return ((nvml_processes_fn *)list->real)(list->device, count, entries);
}

int on_nvml_processes(nvml_processes_fn *real, void *device, unsigned *count, struct nvml_process *ret_list)
{
    if (!count || (!ret_list && *count > 0) || !nvml_is_told())
        return real(device, count, ret_list);
    struct list list = {.size = sizeof *ret_list,
                        .pid_at = offsetof(struct nvml_process, pid),
                        .fetch = fetch_processes,
                        .real = (void *)real,
                        .device = device};
    return show(&list, count, ret_list);
}

static nvml_result fetch_processes_v1(const struct list *list, unsigned *count, void *entries)
{
    return ((nvml_processes_v1_fn *)list->real)(list->device, count, entries);
}

int on_nvml_processes_v1(nvml_processes_v1_fn *real, void *device, unsigned *count, struct nvml_process_v1 *ret_list)
{
    if (!count || (!ret_list && *count > 0) || !nvml_is_told())
        return real(device, count, ret_list);
    struct list list = {.size = sizeof *ret_list,
                        .pid_at = offsetof(struct nvml_process_v1, pid),
                        .fetch = fetch_processes_v1,
                        .real = (void *)real,
                        .device = device};
    return show(&list, count, ret_list);
}

static nvml_result fetch_details(const struct list *list, unsigned *count, void *entries)
{
    struct nvml_process_details details = {
        .version = NVML_PROCESS_DETAILS_V1, .mode = list->mode, .count = *count, .list = entries};
    nvml_result result = ((nvml_details_fn *)list->real)(list->device, &details);
    *count = details.count;
    return result;
}

/* A later version of the struct has a place for the number of the process that we do not know. */
int on_nvml_details(nvml_details_fn *real, void *device, struct nvml_process_details *details)
{
    if (!details || !nvml_is_told())
        return real(device, details);
    if (details->version != NVML_PROCESS_DETAILS_V1)
        return NVML_VERSION_MISMATCH;
    struct list list = {.size = sizeof *details->list,
                        .pid_at = offsetof(struct nvml_process_detail, pid),
                        .fetch = fetch_details,
                        .real = (void *)real,
                        .device = device,
                        .mode = details->mode};
    return show(&list, &details->count, details->list);
}

static nvml_result fetch_accounting_pids(const struct list *list, unsigned *count, void *entries)
{
    return ((nvml_accounting_pids_fn *)list->real)(list->device, count, entries);
}

int on_nvml_accounting_pids(nvml_accounting_pids_fn *real, void *device, unsigned *count, unsigned *ret_pids)
{
    if (!count || (!ret_pids && *count > 0) || !nvml_is_told())
        return real(device, count, ret_pids);
    struct list list = {
        .size = sizeof *ret_pids, .fetch = fetch_accounting_pids, .real = (void *)real, .device = device};
    return show(&list, count, ret_pids);
}

int on_nvml_accounting(nvml_accounting_fn *real, void *device, unsigned pid, struct nvml_accounting *ret_stats)
{
    if (!nvml_is_told())
        return real(device, pid, ret_stats);
    unsigned node_pid = client_node_pid(pid);
    return node_pid ? real(device, node_pid, ret_stats) : NVML_NOT_FOUND;
}

int on_nvml_accounting_v2(nvml_accounting_v2_fn *real, void *device, struct nvml_accounting_v2 *stats)
{
    if (!stats || !nvml_is_told())
        return real(device, stats);
    unsigned pid = stats->pid, node_pid = client_node_pid(pid);
    if (!node_pid)
        return NVML_NOT_FOUND;
    stats->pid = node_pid;
    nvml_result result = real(device, stats);
    stats->pid = pid;
    return result;
}

static nvml_result fetch_busy(const struct list *list, unsigned *count, void *entries)
{
    return ((nvml_process_busy_fn *)list->real)(list->device, entries, count, list->since_us);
}

static struct list busy_list(void *real, void *device, unsigned long long since_us)
{
    return (struct list){.size = sizeof(struct nvml_process_busy),
                         .pid_at = offsetof(struct nvml_process_busy, pid),
                         .fetch = fetch_busy,
                         .real = real,
                         .device = device,
                         .since_us = since_us,
                         .if_empty = NVML_NOT_FOUND};
}

int on_nvml_process_busy(nvml_process_busy_fn *real, void *device, struct nvml_process_busy *ret_list, unsigned *count,
                         unsigned long long since_us)
{
    if (!count || !nvml_is_told())
        return real(device, ret_list, count, since_us);
    struct list list = busy_list((void *)real, device, since_us);
    return show(&list, count, ret_list);
}

static nvml_result fetch_processes_busy(const struct list *list, unsigned *count, void *entries)
{
    struct nvml_processes_busy busy = {
        .version = NVML_PROCESSES_BUSY_V1, .count = *count, .since_us = list->since_us, .list = entries};
    nvml_result result = ((nvml_processes_busy_fn *)list->real)(list->device, &busy);
    *count = busy.count;
    return result;
}

int on_nvml_processes_busy(nvml_processes_busy_fn *real, void *device, struct nvml_processes_busy *busy)
{
    if (!busy || !nvml_is_told())
        return real(device, busy);
    if (busy->version != NVML_PROCESSES_BUSY_V1)
        return NVML_VERSION_MISMATCH;
    struct list list = {.size = sizeof *busy->list,
                        .pid_at = offsetof(struct nvml_process_busy_v2, pid),
                        .fetch = fetch_processes_busy,
                        .real = (void *)real,
                        .device = device,
                        .since_us = busy->since_us,
                        .if_empty = NVML_NOT_FOUND};
    return show(&list, &busy->count, busy->list);
}

static unsigned added(unsigned sum, unsigned percent)
{
    return percent >= 100 || sum + percent > 100 ? 100 : sum + percent;
}

/* One sample for each process: the driver's is of the time since `since_us`. */
bool nvml_look_at_work(void *device, struct nvml_own_work *ret_work)
{
    void *real = driver_real(HOOK_nvmlDeviceGetProcessUtilization);
    struct timespec now = {0};
    struct nvml_process_busy *samples;
    unsigned found, room;
    *ret_work = (struct nvml_own_work){0};
    if (!real)
        return false;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    unsigned long long now_us = (unsigned long long)now.tv_sec * 1000000 + (unsigned long long)now.tv_nsec / 1000;
    struct list list = busy_list(real, device, now_us - 1000000);
    nvml_result result = fetch_all(&list, (void **)&samples, &found, &room);
    if (result == NVML_NOT_FOUND)
        return true;
    if (result != NVML_SUCCESS)
        return false;
    unsigned count = keep_own(&list, (char *)samples, found);
    for (unsigned i = 0; i < count; i++) {
        ret_work->gpu = added(ret_work->gpu, samples[i].gpu);
        ret_work->memory = added(ret_work->memory, samples[i].memory);
        ret_work->encoder = added(ret_work->encoder, samples[i].encoder);
        ret_work->decoder = added(ret_work->decoder, samples[i].decoder);
        if (samples[i].time_us > ret_work->time_us)
            ret_work->time_us = samples[i].time_us;
    }
    entries_free(&list, samples, room);
    return true;
}

/* A GPU without a way to tell processes apart (a slice of one) shows how busy it is as a whole. */
int on_nvml_utilization(nvml_utilization_fn *real, void *device, struct nvml_utilization *ret_rates)
{
    nvml_result result = real(device, ret_rates);
    struct nvml_own_work work;
    if (result == NVML_SUCCESS && ret_rates && nvml_is_told() && nvml_look_at_work(device, &work)) {
        ret_rates->gpu = work.gpu;
        ret_rates->memory = work.memory;
    }
    return result;
}

/* The driver keeps a history of the whole GPU; of the group's own work there is the latest sample alone. */
int on_nvml_samples(nvml_samples_fn *real, PARAMS_nvml_samples)
{
    struct nvml_own_work work;
    bool is_about_work = type >= NVML_SAMPLES_GPU && type <= NVML_SAMPLES_DECODER;
    if (!is_about_work || !count || !ret_value_type || (ret_list && *count == 0) || !nvml_is_told())
        return real(ARGS_nvml_samples);
    /* Asked for how many there are, the driver says what is wrong with the rest. */
    unsigned ignored = 0;
    nvml_result result = real(device, type, 0, ret_value_type, &ignored, NULL);
    if (result != NVML_SUCCESS)
        return result;
    if (!nvml_look_at_work(device, &work))
        return real(ARGS_nvml_samples);
    *ret_value_type = NVML_VALUE_UNSIGNED;
    if (work.time_us <= since_us)
        return NVML_NOT_FOUND;
    const unsigned figures[] = {work.gpu, work.memory, work.encoder, work.decoder};
    *count = 1;
    if (ret_list)
        *ret_list = (struct nvml_sample){.time_us = work.time_us, .value.number = figures[type - NVML_SAMPLES_GPU]};
    return NVML_SUCCESS;
}
