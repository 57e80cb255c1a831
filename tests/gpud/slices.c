/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Random requests for slices on a pretended driver, with daemons that are killed at any step of theirs, a driver that
 * fails, processes that outlive their group, and others who make slices as well: gpud-slices LIBRARY FOLDER SEED COUNT
 *
 * Each daemon is a process of its own. What it has to keep to is judged by a ledger here, against the driver's state: whoever
 * has a slice still has the very same one, and in the end nothing is left but foreign slices.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "gpu/mig/models.h"
#include "gpu/mig/slices.h"
#include "state.h"

enum { TENANTS = 12, ORDERS = 4, GPUS = 2, STEPS_MOST = 1600, CHANGES_MOST = 5, MOMENT = 1000 };
#define GPU_NAME "NVIDIA H200"

enum order_kind { ORDER_TAKE, ORDER_GIVE, ORDER_TIDY };

struct order {
    enum order_kind kind;
    uint32_t tenant, gpu;
    const struct mig_profile *profile;
    bool is_done;
    int result;
    char uuid[NVML_UUID_SIZE];
};

/* What the tenant has as far as it knows; `serial` is 0 when it has nothing. */
struct tenant {
    unsigned serial;
    struct fake_slice as_given;
};

/* A slice of somebody else's, or one in which a process goes on without its group. */
struct other {
    unsigned serial;
    struct fake_slice as_seen;
};

static struct tenant tenants[TENANTS];
static struct other others[GPUS * FAKE_SLICES];
static uint32_t other_count;
static struct order *orders;
static struct fake_state *truth;
static const char *library, *folder;
static char records_path[256];
static unsigned long takes, taken, crashes, refusals, foreign_made;

static uint64_t random_state;

static uint32_t pick(uint32_t below)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(random_state >> 33) % below;
}

static void tenant_name(uint32_t tenant, char text[static 16])
{
    (void)snprintf(text, 16, "tenant-%u", tenant);
}

static bool tenant_is_there(void *arg, const char *group)
{
    (void)arg;
    for (uint32_t i = 0; i < TENANTS; i++) {
        char name[16];

        tenant_name(i, name);
        if (tenants[i].serial && strcmp(name, group) == 0)
            return true;
    }
    return false;
}

static void carry_out(struct mig *mig, struct order *order)
{
    struct mig_slice slice = {0};
    char gpu[NVML_UUID_SIZE], name[16];

    (void)snprintf(gpu, sizeof gpu, "GPU-fa4e0001-1234-5678-9abc-def0112233%02x", order->gpu);
    tenant_name(order->tenant, name);
    if (order->kind == ORDER_TAKE) {
        order->result = mig_take(mig, gpu, order->profile->name, name, MOMENT, &slice, NULL);
        memcpy(order->uuid, slice.uuid, sizeof order->uuid);
    } else if (order->kind == ORDER_GIVE) {
        mig_give(mig, name, MOMENT);
    } else {
        order->result = (int)mig_tidy(mig, MOMENT);
    }
    order->is_done = true;
}

static _Noreturn void be_daemon(uint32_t count)
{
    struct mig *mig;
    struct err err = {0};
    bool is_damaged = false;

    if (mig_open(library, records_path, &mig, &is_damaged, &err) < 0 || is_damaged) {
        (void)fprintf(stderr, "the slices cannot be opened: %s\n", is_damaged ? "the file is damaged" : err.text);
        _exit(1);
    }
    mig_keep_groups(mig, tenant_is_there, NULL, MOMENT);
    for (uint32_t i = 0; i < count; i++)
        carry_out(mig, &orders[i]);
    mig_close(mig);
    _exit(0);
}

/* Returns whether it came to its end. */
static bool run_daemon(uint32_t count, const char *crash, const char *fault)
{
    int status;
    pid_t child = fork();

    if (child == 0) {
        if (crash)
            (void)setenv("FAKE_GPU_CRASH", crash, 1);
        if (fault)
            (void)setenv("FAKE_GPU_FAULT", fault, 1);
        be_daemon(count);
    }
    if (child < 0 || waitpid(child, &status, 0) != child)
        abort();
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return true;
    if (!crash || !WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL) {
        (void)fprintf(stderr, "a daemon ended with the status %d\n", status);
        exit(1);
    }
    crashes++;
    return false;
}

static _Noreturn void complain(const char *what, unsigned serial)
{
    (void)fprintf(stderr, "slice %u: %s\n", serial, what);
    exit(1);
}

static struct fake_slice *find(unsigned serial)
{
    for (uint32_t gpu = 0; gpu < GPUS; gpu++) {
        for (uint32_t i = 0; i < FAKE_SLICES; i++) {
            if (truth->slices[gpu][i].serial == serial)
                return &truth->slices[gpu][i];
        }
    }
    return NULL;
}

static bool is_same(const struct fake_slice *now, const struct fake_slice *then)
{
    return now && now->serial == then->serial && now->start == then->start && now->size == then->size &&
           now->profile == then->profile && now->compute;
}

static const struct other *find_other(unsigned serial)
{
    for (uint32_t i = 0; i < other_count; i++) {
        if (others[i].serial == serial)
            return &others[i];
    }
    return NULL;
}

static const struct tenant *find_owner(unsigned serial)
{
    for (uint32_t i = 0; i < TENANTS; i++) {
        if (tenants[i].serial == serial)
            return &tenants[i];
    }
    return NULL;
}

static void judge_neighbours(void)
{
    for (uint32_t i = 0; i < TENANTS; i++) {
        if (tenants[i].serial && !is_same(find(tenants[i].serial), &tenants[i].as_given))
            complain("a tenant's was touched", tenants[i].serial);
    }
    for (uint32_t i = 0; i < other_count; i++) {
        if (!is_same(find(others[i].serial), &others[i].as_seen))
            complain("a foreign slice was touched", others[i].serial);
    }
}

/* After everything unused was removed: what is there has an owner. */
static void judge_stranded(void)
{
    for (uint32_t gpu = 0; gpu < GPUS; gpu++) {
        for (uint32_t i = 0; i < FAKE_SLICES; i++) {
            unsigned serial = truth->slices[gpu][i].serial;

            if (serial && !find_owner(serial) && !find_other(serial))
                complain("is stranded", serial);
        }
    }
}

/* Whether the profile has a place beside those that stay: the ledger's own word. */
static bool has_place(uint32_t gpu, const struct mig_profile *profile)
{
    uint32_t same = 0;

    for (uint32_t i = 0; i < FAKE_SLICES; i++) {
        const struct fake_slice *at = &truth->slices[gpu][i];

        same += at->serial && at->profile == profile->id && (find_owner(at->serial) || find_other(at->serial));
    }
    for (uint32_t start = 0; start < 8 && same < profile->most; start++) {
        bool is_free = profile->starts >> start & 1;

        for (uint32_t i = 0; i < FAKE_SLICES && is_free; i++) {
            const struct fake_slice *at = &truth->slices[gpu][i];

            if (at->serial && (find_owner(at->serial) || find_other(at->serial)))
                is_free = start >= at->start + at->size || at->start >= start + profile->size;
        }
        if (is_free)
            return true;
    }
    return false;
}

static void judge_refusal(const struct order *order)
{
    refusals++;
    if (order->result != -EBUSY || has_place(order->gpu, order->profile))
        complain("a request was refused though there is room", 0);
}

static void note_take(const struct order *order)
{
    unsigned serial = fake_serial(order->uuid);
    struct fake_slice *slice = serial ? find(serial) : NULL;

    if (!slice || !slice->compute || slice->profile != order->profile->id)
        complain("is not what was asked for", serial);
    if (find_owner(serial) || find_other(serial))
        complain("was given to two", serial);
    if (slice < truth->slices[order->gpu] || slice >= truth->slices[order->gpu] + FAKE_SLICES)
        complain("is on another GPU", serial);
    tenants[order->tenant] = (struct tenant){.serial = serial, .as_given = *slice};
    if (pick(2))
        atomic_store(&slice->held, 4242);
    taken++;
}

/* The group is gone; a process of its may go on, and then its slice stays what it is. */
static void let_go(uint32_t tenant)
{
    struct fake_slice *slice = find(tenants[tenant].serial);

    if (slice && atomic_load(&slice->held) && pick(2))
        others[other_count++] = (struct other){.serial = slice->serial, .as_seen = *slice};
    else if (slice)
        atomic_store(&slice->held, 0);
    tenants[tenant] = (struct tenant){0};
}

/* One ends: a foreign slice goes, or a process without a group, whose slice is then ours to remove. */
static void end_other(void)
{
    if (other_count == 0)
        return;
    uint32_t i = pick(other_count);
    struct fake_slice *slice = find(others[i].serial);
    if (atomic_load(&slice->held))
        atomic_store(&slice->held, 0);
    else
        *slice = (struct fake_slice){0};
    others[i] = others[--other_count];
}

/* Others make a slice where there is room. */
static void make_foreign(void)
{
    const struct mig_model *model = mig_model_find(GPU_NAME, truth->bytes);
    const struct mig_profile *profile = &model->profiles[pick(model->profile_count)];
    uint32_t gpu = pick(GPUS), start = pick(8), index = 0;

    if (!(profile->starts >> start & 1))
        return;
    for (uint32_t i = 0; i < FAKE_SLICES; i++) {
        const struct fake_slice *at = &truth->slices[gpu][i];

        if (at->serial && start < at->start + at->size && at->start < start + profile->size)
            return;
        if (at->serial && at->profile == profile->id && profile->most == 1)
            return;
    }
    while (truth->slices[gpu][index].serial)
        index++;
    truth->slices[gpu][index] = (struct fake_slice){.serial = ++truth->last_serial,
                                                    .profile = profile->id,
                                                    .start = start,
                                                    .size = profile->size,
                                                    .processors = profile->slices,
                                                    .compute = 1};
    others[other_count++] = (struct other){.serial = truth->last_serial, .as_seen = truth->slices[gpu][index]};
    foreign_made++;
}

static void give_orders(uint32_t count)
{
    const struct mig_model *model = mig_model_find(GPU_NAME, truth->bytes);
    bool is_named[TENANTS] = {false};

    for (uint32_t i = 0; i < count; i++) {
        uint32_t tenant = pick(TENANTS);

        orders[i] = (struct order){.kind = ORDER_TIDY, .tenant = tenant};
        if (is_named[tenant] || pick(10) == 0)
            continue;
        is_named[tenant] = true;
        if (tenants[tenant].serial) {
            orders[i].kind = ORDER_GIVE;
            let_go(tenant);
            continue;
        }
        orders[i].kind = ORDER_TAKE;
        orders[i].gpu = pick(GPUS);
        /* Small ones most of the time, so that many are there at once. */
        orders[i].profile = &model->profiles[pick(4) ? model->profile_count - 1 - pick(4) : pick(model->profile_count)];
    }
}

static const char *random_fault(char text[static 96])
{
    static const char *const names[] = {"nvmlDeviceCreateGpuInstanceWithPlacement",
                                        "nvmlGpuInstanceCreateComputeInstance",
                                        "nvmlGpuInstanceDestroy",
                                        "nvmlComputeInstanceDestroy",
                                        "nvmlDeviceGetGpuInstances",
                                        "nvmlComputeInstanceGetInfo_v2",
                                        "nvmlGpuInstanceGetInfo",
                                        "nvmlDeviceGetMigMode",
                                        "nvmlDeviceGetComputeRunningProcesses_v3"};

    (void)snprintf(text, 96, "%s:%u:999", names[pick(sizeof names / sizeof *names)], 1 + pick(12));
    return text;
}

static void live_once(void)
{
    char crash_text[24], fault_text[96];
    uint32_t count = 1 + pick(ORDERS);
    const char *crash = NULL, *fault = NULL;

    if (pick(3) == 0)
        make_foreign();
    if (pick(4) == 0)
        end_other();
    if (pick(5) < 2) {
        if (pick(3))
            (void)snprintf(crash_text, sizeof crash_text, "change:%u", 1 + pick(CHANGES_MOST * count));
        else
            (void)snprintf(crash_text, sizeof crash_text, "step:%u", 1 + pick(STEPS_MOST));
        crash = crash_text;
    }
    if (pick(10) == 0)
        fault = random_fault(fault_text);
    give_orders(count);
    (void)run_daemon(count, crash, fault);
    bool is_given_later = fault != NULL;
    for (uint32_t i = 0; i < count; i++) {
        takes += orders[i].is_done && orders[i].kind == ORDER_TAKE;
        if (orders[i].is_done && orders[i].kind == ORDER_TAKE && orders[i].result >= 0)
            note_take(&orders[i]);
    }
    /* From the last: what a group still had when one before was refused is free by now. */
    for (uint32_t i = count; i > 0; i--) {
        const struct order *order = &orders[i - 1];

        is_given_later |= order->kind == ORDER_GIVE;
        if (order->is_done && order->kind == ORDER_TAKE && order->result < 0 && !is_given_later)
            judge_refusal(order);
    }
    judge_neighbours();
}

static void tidy_up(void)
{
    orders[0] = (struct order){.kind = ORDER_TIDY};
    (void)run_daemon(1, NULL, NULL);
    judge_neighbours();
    judge_stranded();
}

static void open_truth(void)
{
    char path[256];

    (void)snprintf(path, sizeof path, "%s/state", folder);
    (void)snprintf(records_path, sizeof records_path, "%s/slices.json", folder);
    (void)setenv("FAKE_GPU_STATE", path, 1);
    (void)setenv("FAKE_GPU_NAME", GPU_NAME, 1);
    (void)setenv("FAKE_GPU_MIG", "on", 1);
    (void)setenv("FAKE_GPU_COUNT", "2", 1);
    (void)setenv("FAKE_GPU_BYTES", "150323855360", 1);
    truth = fake_state();
    orders = mmap(NULL, ORDERS * sizeof *orders, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (!truth || orders == MAP_FAILED)
        complain("there is no memory for this test", 0);
}

int main(int argc, char **argv)
{
    if (argc != 5)
        return 2;
    library = argv[1];
    folder = argv[2];
    random_state = strtoull(argv[3], NULL, 10);
    open_truth();
    for (unsigned long i = 0; takes < strtoul(argv[4], NULL, 10); i++) {
        live_once();
        if (i % 8 == 0)
            tidy_up();
    }
    for (uint32_t i = 0; i < TENANTS; i++)
        tenants[i] = (struct tenant){0};
    for (uint32_t i = 0; i < GPUS * FAKE_SLICES; i++)
        atomic_store(&truth->slices[i / FAKE_SLICES][i % FAKE_SLICES].held, 0);
    for (uint32_t i = 0; i < other_count;) {
        if (atomic_load(&others[i].as_seen.held))
            others[i] = others[--other_count];
        else
            i++;
    }
    tidy_up();
    (void)printf("%lu requests, %lu served, %lu refused, %lu slices made by others, %lu crashes\n", takes, taken,
                 refusals, foreign_made, crashes);
    return 0;
}
