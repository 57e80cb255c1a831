/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/when/past.h"

#include <ctype.h>
#include <string.h>

#include "base/hash.h"
#include "model/resources.h"
#include "sim/trace/trace.h"
#include "sim/trace/trace_random.h"

/* A group of so many runs is believed in half of the draws. */
#define HALF_BELIEVED 5.0
enum { PATTERN_MAX = 256 };

/* "train-17-b" and "train-4-b" are "train-#-b". */
static void find_pattern(const char *name, char pattern[static PATTERN_MAX])
{
    size_t len = 0;

    for (const char *at = name; *at && len + 1 < PATTERN_MAX; at++) {
        bool is_digit = isdigit((unsigned char)*at);

        if (is_digit && len > 0 && pattern[len - 1] == '#')
            continue;
        pattern[len] = *at;
        if (is_digit)
            pattern[len] = '#';
        len++;
    }
    pattern[len] = '\0';
}

struct past_traits past_traits(const char *user, const char *queue, const char *image, const char *name, int64_t gpus)
{
    char pattern[PATTERN_MAX];
    uint64_t size = hash_bytes(&gpus, sizeof gpus, 1);

    find_pattern(name, pattern);
    return (struct past_traits){{
        [PAST_SAME_NAME] = hash_str(pattern, hash_str(user, size + PAST_SAME_NAME)),
        [PAST_SAME_IMAGE] = image && *image ? hash_str(image, hash_str(user, PAST_SAME_IMAGE)) : 0,
        [PAST_SAME_USER] = hash_str(user, size + PAST_SAME_USER),
        [PAST_SAME_QUEUE] = hash_str(queue, size + PAST_SAME_QUEUE),
        [PAST_QUEUE] = hash_str(queue, PAST_QUEUE),
        [PAST_SAME_SIZE] = hash_bytes(&gpus, sizeof gpus, PAST_SAME_SIZE),
        [PAST_WHOLE] = 1,
    }};
}

struct past_traits past_traits_of(const struct trace *trace, uint32_t job)
{
    const struct trace_job *of = &trace->jobs.items[job];
    trace_name user = of->user ? of->user : of->namespace;

    return past_traits(trace_str(trace, user), trace_str(trace, of->queue), trace_str(trace, of->image),
                       trace_str(trace, of->name), trace_job_gpus(trace, of));
}

const char *past_level_name(enum past_level level)
{
    static const char *const names[] = {
        [PAST_SAME_NAME] = "same user, name and GPUs",
        [PAST_SAME_IMAGE] = "same user and image",
        [PAST_SAME_USER] = "same user and GPUs",
        [PAST_SAME_QUEUE] = "same queue and GPUs",
        [PAST_QUEUE] = "same queue",
        [PAST_SAME_SIZE] = "same GPUs",
        [PAST_WHOLE] = "all workloads",
    };
    _Static_assert(ARRAY_LEN(names) == _PAST_LEVEL_MAX, "every level has a name");

    return level < _PAST_LEVEL_MAX ? names[level] : "none";
}

void past_init(struct past *history, struct trace *trace)
{
    *history = (struct past){.trace = trace};
    map64_init(&history->groups);
}

void past_done(struct past *history)
{
    vec_foreach (&history->runs, runs) {
        vec_done(&runs->recent);
        vec_done(&runs->sorted);
        vec_done(&runs->going);
    }
    vec_done(&history->runs);
    vec_done(&history->jobs);
    map64_done(&history->groups);
}

/* How many of the times are not longer than `run`. */
static uint32_t count_up_to(const nsec_t *sorted, uint32_t count, nsec_t run)
{
    uint32_t low = 0;
    uint32_t high = count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (sorted[middle] <= run)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void runs_add(struct past_runs *runs, nsec_t run)
{
    if (runs->recent.len < PAST_RUNS_KEPT) {
        vec_push(&runs->recent, run);
    } else {
        nsec_t gone = runs->recent.items[runs->oldest];

        vec_remove_at(&runs->sorted, count_up_to(runs->sorted.items, runs->sorted.len, gone) - 1);
        runs->recent.items[runs->oldest] = run;
        runs->oldest = (runs->oldest + 1) % PAST_RUNS_KEPT;
    }
    vec_insert_at(&runs->sorted, count_up_to(runs->sorted.items, runs->sorted.len, run), run);
}

static const struct past_runs *find_runs(const struct past *history, uint64_t key)
{
    uint64_t index;

    return key && map64_get(&history->groups, key, &index) ? &history->runs.items[index] : NULL;
}

static struct past_runs *get_runs(struct past *history, uint64_t key)
{
    uint64_t index;

    if (!map64_get(&history->groups, key, &index)) {
        index = history->runs.len;
        vec_push(&history->runs, (struct past_runs){.oldest = 0});
        map64_put(&history->groups, key, index);
    }
    return &history->runs.items[index];
}

uint32_t past_came(struct past *history, uint32_t job, nsec_t submitted)
{
    vec_push(&history->jobs, (struct past_job){.job = job, .submitted = submitted, .run = -1});
    return history->jobs.len - 1;
}

void past_ended(struct past *history, uint32_t index, nsec_t run)
{
    struct past_job *job = &history->jobs.items[index];
    struct past_traits traits = past_traits_of(history->trace, job->job);

    job->run = MAX(run, NSEC_PER_SEC);
    history->ended++;
    for (int i = 0; i < _PAST_LEVEL_MAX; i++)
        if (traits.keys[i])
            runs_add(get_runs(history, traits.keys[i]), job->run);
}

void past_take_trace(struct past *history, const struct trace *trace, nsec_t now)
{
    for (uint32_t i = 0; i < trace->events.len && trace->events.items[i].time < now; i++) {
        const struct trace_event *event = &trace->events.items[i];

        if (event->kind != TRACE_SUBMIT)
            continue;
        const struct trace_job *job = &trace->jobs.items[event->job];
        uint32_t index = past_came(history, event->job, event->time);
        nsec_t started = job->recorded_start ? job->recorded_start : event->time;

        if (started <= now)
            history->jobs.items[index].started = started;
        if (job->run != TRACE_RUNS_ON && started <= now && job->run <= now - started)
            past_ended(history, index, job->run);
    }
}

void past_forget_going(struct past *history)
{
    vec_foreach (&history->runs, runs)
        vec_clear(&runs->going);
}

void past_add_going(struct past *history, const struct past_traits *traits, nsec_t elapsed)
{
    for (int i = 0; i < _PAST_LEVEL_MAX; i++) {
        if (!traits->keys[i])
            continue;
        struct past_runs *runs = get_runs(history, traits->keys[i]);

        vec_insert_at(&runs->going, count_up_to(runs->going.items, runs->going.len, elapsed), elapsed);
    }
}

/* Returns -1 when the last that is known of is one that goes on: longer than `*elapsed`, which is raised. */
static nsec_t draw_from(const struct past_runs *runs, nsec_t *elapsed, struct random *random)
{
    for (;;) {
        uint32_t shorter = count_up_to(runs->sorted.items, runs->sorted.len, *elapsed);
        uint32_t gone = count_up_to(runs->going.items, runs->going.len, *elapsed);
        uint32_t ended = runs->sorted.len - shorter;
        uint32_t count = ended + runs->going.len - gone;

        if (count == 0)
            return -1;
        uint32_t pick = (uint32_t)random_between(random, 0, count - 1);
        if (pick < ended)
            return runs->sorted.items[shorter + pick];
        *elapsed = runs->going.items[gone + pick - ended];
    }
}

/* Runs of the group that are longer. */
static uint32_t count_beyond(const struct past_runs *runs, nsec_t elapsed)
{
    return runs->sorted.len - count_up_to(runs->sorted.items, runs->sorted.len, elapsed) + runs->going.len -
           count_up_to(runs->going.items, runs->going.len, elapsed);
}

nsec_t past_draw(const struct past *history, const struct past_traits *traits, nsec_t *elapsed, struct random *random)
{
    nsec_t passed = *elapsed;
    nsec_t run = -1;

    for (int i = 0; i < _PAST_LEVEL_MAX; i++) {
        const struct past_runs *runs = find_runs(history, traits->keys[i]);
        uint32_t count = runs ? count_beyond(runs, passed) : 0;
        nsec_t least = passed;

        if (count == 0)
            continue;
        run = draw_from(runs, &least, random);
        *elapsed = least;
        if (random_unit(random) >= count / (count + HALF_BELIEVED))
            continue;
        if (run >= 0)
            break;
        passed = least;
    }
    return run;
}

enum past_level past_level_of(const struct past *history, const struct past_traits *traits, uint32_t count)
{
    for (int i = 0; i < _PAST_LEVEL_MAX; i++) {
        const struct past_runs *runs = find_runs(history, traits->keys[i]);

        if (runs && runs->sorted.len >= count)
            return (enum past_level)i;
    }
    return _PAST_LEVEL_MAX;
}

nsec_t past_usual(const struct past *history, const struct past_traits *traits, double part, uint32_t count)
{
    static const enum past_level levels[] = {PAST_SAME_USER, PAST_QUEUE, PAST_WHOLE};

    for (size_t i = 0; i < ARRAY_LEN(levels); i++) {
        const struct past_runs *runs = find_runs(history, traits->keys[levels[i]]);

        if (runs && runs->sorted.len >= count)
            return runs->sorted.items[(uint32_t)(part * (runs->sorted.len - 1))];
    }
    return 0;
}

uint32_t past_find(const struct past *history, nsec_t time)
{
    uint32_t low = 0;
    uint32_t high = history->jobs.len;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (history->jobs.items[middle].submitted < time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}
