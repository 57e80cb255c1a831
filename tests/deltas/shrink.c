/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Makes a case that fails small: steps, objects and whole themes are left out as long as the same check fails. Each try
 * is a process of its own, since a failure ends it.
 */
#include "shrink.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/macros.h"
#include "play.h"

enum { TRY_SECONDS = 60, REASON_TEXT = 64, PODS_TRIED = 500 };

/* Why it failed: the name of the check, or how the process ended. */
static void read_reason(int from, int status, char reason[static REASON_TEXT])
{
    char text[4096] = "";
    size_t len = 0;

    for (ssize_t got; len < sizeof text - 1 && (got = read(from, text + len, sizeof text - 1 - len)) > 0;)
        len += (size_t)got;
    text[len] = '\0';
    const char *colon = strchr(text, ':');
    if (*text == '#' && colon)
        (void)snprintf(reason, REASON_TEXT, "%.*s", (int)strcspn(colon + 2, ":"), colon + 2);
    else
        (void)snprintf(reason, REASON_TEXT, "%s", status == 0 ? "" : "crash");
}

static void try_mask(uint64_t seed, const struct play_mask *mask, char reason[static REASON_TEXT])
{
    int ends[2];
    int status = 0;

    (void)fflush(stdout);
    BUG_ON(pipe(ends) < 0);
    pid_t child = fork();
    BUG_ON(child < 0);
    if (child == 0) {
        struct tally tally = {0};
        (void)alarm(TRY_SECONDS);
        (void)dup2(ends[1], STDOUT_FILENO);
        (void)close(STDERR_FILENO);
        (void)close(ends[0]);
        (void)close(ends[1]);
        (void)play_seed(seed, mask, false, &tally);
        _exit(0);
    }
    (void)close(ends[1]);
    read_reason(ends[0], 1, reason);
    (void)close(ends[0]);
    (void)waitpid(child, &status, 0);
    if (status == 0)
        reason[0] = '\0';
}

struct shrink {
    uint64_t seed;
    struct play_mask mask;
    char reason[REASON_TEXT];
    uint32_t tries;
};

static bool still_fails(struct shrink *shrink, const struct play_mask *mask)
{
    char reason[REASON_TEXT];

    shrink->tries++;
    try_mask(shrink->seed, mask, reason);
    if (strcmp(reason, shrink->reason) != 0)
        return false;
    shrink->mask = *mask;
    return true;
}

static bool drop_themes(struct shrink *shrink)
{
    bool is_smaller = false;

    for (uint32_t bit = 1; bit < THEME_ALL; bit <<= 1) {
        struct play_mask mask = shrink->mask;
        mask.theme &= ~bit;
        is_smaller |= mask.theme != shrink->mask.theme && still_fails(shrink, &mask);
    }
    return is_smaller;
}

/* Sets runs of bits, long runs first. */
static bool drop_bits(struct shrink *shrink, size_t offset, uint32_t count)
{
    bool is_smaller = false;

    for (uint32_t run = count / 2 + 1; run > 0; run /= 2) {
        for (uint32_t at = 0; at < count; at += run) {
            struct play_mask mask = shrink->mask;
            uint64_t *bits = (uint64_t *)(void *)((char *)&mask + offset);

            for (uint32_t i = at; i < MIN(at + run, count); i++)
                bits[i / 64] |= UINT64_C(1) << i % 64;
            is_smaller |= memcmp(&mask, &shrink->mask, sizeof mask) != 0 && still_fails(shrink, &mask);
        }
    }
    return is_smaller;
}

int shrink_seed(uint64_t seed, struct play_mask *mask)
{
    struct shrink shrink = {.seed = seed, .mask = *mask};
    bool is_smaller = true;

    try_mask(seed, mask, shrink.reason);
    if (!*shrink.reason)
        return false;
    while (is_smaller) {
        is_smaller = drop_themes(&shrink);
        is_smaller |= drop_bits(&shrink, offsetof(struct play_mask, steps), PLAY_STEPS + 2);
        is_smaller |= drop_bits(&shrink, offsetof(struct play_mask, banned[KIND_POD]), PODS_TRIED);
        for (enum world_kind kind = 0; kind < KIND_MAP; kind++)
            if (kind != KIND_POD)
                is_smaller |= drop_bits(&shrink, offsetof(struct play_mask, banned[kind]), world_count(kind));
    }
    *mask = shrink.mask;
    printf("# %s; %u tries\n", shrink.reason, shrink.tries);
    return true;
}
