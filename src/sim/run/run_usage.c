/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Past use of queues: what each held over a window, against what there was to hold, with use of long ago counting less
 * where a half-life is set. The window is a ring of equal slots; sums over it are carried from slot to slot.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "model/delta.h"
#include "sim/run/run_internal.h"
#include "sim/trace/trace_random.h"

enum { SLOTS_MAX = 2048 };
#define LN_2 0.69314718055994530942

struct usage_window {
    nsec_t slot_start;
    nsec_t slot;  // length
    nsec_t now;
    uint32_t slot_count;
    uint32_t at;    // slot under way
    uint32_t rows;  // queues, and the cluster in the last row
    double decay;   // from one slot to the next
    double oldest;  // weight of what leaves the window
    double *slots;  // [slot][row][resource]: amount x nanoseconds
    double *sums;   // [row][resource]: over the window without the slot under way
};

struct usage_window *usage_window_new(const struct sim_run_usage_options *options, nsec_t start, uint32_t queue_count)
{
    struct usage_window *usage = xcalloc(1, sizeof *usage);
    nsec_t window = MAX(options->window, options->interval);

    usage->slot = MAX(options->interval, window / SLOTS_MAX);
    usage->slot_count = (uint32_t)CLAMP(window / usage->slot, INT64_C(1), (nsec_t)SLOTS_MAX) + 1;
    usage->slot_start = usage->now = start;
    usage->rows = queue_count + 1;
    usage->decay = 1;
    if (options->half_life > 0)
        usage->decay = exact_exp(-LN_2 * (double)usage->slot / (double)options->half_life);
    usage->oldest = 1;
    for (uint32_t i = 0; i + 1 < usage->slot_count; i++)
        usage->oldest *= usage->decay;
    usage->slots = xcalloc((size_t)usage->slot_count * usage->rows * SHARE_COUNT, sizeof *usage->slots);
    usage->sums = xcalloc((size_t)usage->rows * SHARE_COUNT, sizeof *usage->sums);
    return usage;
}

void usage_window_free(struct usage_window *usage)
{
    if (!usage)
        return;
    free(usage->slots);
    free(usage->sums);
    free(usage);
}

nsec_t usage_window_next(const struct usage_window *usage)
{
    return usage->slot_start + usage->slot;
}

static double *slot_row(struct usage_window *usage, uint32_t slot, uint32_t row)
{
    return usage->slots + ((size_t)slot * usage->rows + row) * SHARE_COUNT;
}

static const double *past_of(const struct sim_run *run, uint32_t queue)
{
    return run->state->queues.items[run->queues.items[queue].id].usage;
}

/* Queues that come with past use had the same all the time: each slot of the window gets its part of what there is. */
void usage_window_seed(struct sim_run *run)
{
    struct usage_window *usage = run->inner->usage;
    double weight = 0;
    bool has_past = false;

    for (uint32_t i = 0; i + 1 < usage->rows; i++)
        for (int r = 0; r < SHARE_COUNT; r++)
            has_past |= past_of(run, i)[r] > 0;
    if (!has_past)
        return;
    for (uint32_t slot = 0; slot + 1 < usage->slot_count; slot++)
        weight = weight * usage->decay + 1;
    for (uint32_t i = 0; i < usage->rows; i++) {
        for (int r = 0; r < SHARE_COUNT; r++) {
            double part = i + 1 < usage->rows ? past_of(run, i)[r] : 1;
            double amount = part * share_to_double(r, run->state->total.v[r]) * (double)usage->slot;

            for (uint32_t slot = 0; slot < usage->slot_count; slot++)
                slot_row(usage, slot, i)[r] = slot == usage->at ? 0 : amount;
            usage->sums[(size_t)i * SHARE_COUNT + (size_t)r] = amount * weight;
        }
    }
}

static void add(double *row, const struct amounts *amounts, nsec_t length)
{
    for (int r = 0; r < SHARE_COUNT; r++)
        row[r] += share_to_double(r, amounts->v[r]) * (double)length;
}

static void fill(struct sim_run *run, nsec_t to)
{
    struct usage_window *usage = run->inner->usage;

    for (uint32_t i = 0; i + 1 < usage->rows; i++)
        add(slot_row(usage, usage->at, i), &run->queues.items[i].used_now, to - usage->now);
    add(slot_row(usage, usage->at, usage->rows - 1), &run->state->total, to - usage->now);
    usage->now = to;
}

/* The slot is full: it joins the sums, and the slot that comes next, the oldest one, leaves them. */
static void turn(struct usage_window *usage)
{
    uint32_t next = (usage->at + 1) % usage->slot_count;

    for (uint32_t i = 0; i < usage->rows; i++) {
        double *sum = usage->sums + (size_t)i * SHARE_COUNT;
        const double *full = slot_row(usage, usage->at, i);
        double *old = slot_row(usage, next, i);

        for (int r = 0; r < SHARE_COUNT; r++) {
            sum[r] = sum[r] * usage->decay + full[r] - old[r] * usage->oldest;
            sum[r] = MAX(sum[r], 0.0);
            old[r] = 0;
        }
    }
    usage->at = next;
    usage->slot_start += usage->slot;
}

static void tell(struct sim_run *run)
{
    struct usage_window *usage = run->inner->usage;
    const double *whole = usage->sums + (size_t)(usage->rows - 1) * SHARE_COUNT;

    for (uint32_t i = 0; i + 1 < usage->rows; i++) {
        const double *sum = usage->sums + (size_t)i * SHARE_COUNT;
        double used[SHARE_COUNT];

        for (int r = 0; r < SHARE_COUNT; r++)
            used[r] = whole[r] > 0 ? sum[r] / whole[r] : 0;
        state_set_usage(run->state, state_name(run->state, run->queues.items[i].name), used);
    }
}

void usage_window_advance(struct sim_run *run, nsec_t now)
{
    struct usage_window *usage = run->inner->usage;
    bool has_turned = false;

    while (usage->now < now) {
        nsec_t to = MIN(usage_window_next(usage), now);

        fill(run, to);
        if (to == usage_window_next(usage)) {
            turn(usage);
            has_turned = true;
        }
    }
    if (has_turned)
        tell(run);
}
