/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Plays many seeds: deltas [COUNT [SEED]]. One seed, told step by step: deltas --show SEED. A seed that fails, made
 * small and told: deltas --shrink SEED.
 *
 * A failure ends the process that plays, so that seeds are played by a child, and another one goes on after a failure.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/macros.h"
#include "play.h"
#include "shrink.h"

enum { DEFAULT_COUNT = 250, DEFAULT_SEED = 1, FAILURES_MAX = 25, TWICE_ONE_IN = 8 };

/* What the child tells while it plays. */
struct progress {
    uint64_t seed;
    bool is_done;
    struct tally tally;
};

/* Every now and then twice, which must not make a difference. */
static void play_one(uint64_t seed, struct tally *tally)
{
    static const struct play_mask nothing_left_out = {.theme = THEME_ALL};
    uint64_t outcome = play_seed(seed, &nothing_left_out, false, tally);

    if (seed % TWICE_ONE_IN != 0 || outcome == play_seed(seed, &nothing_left_out, false, tally))
        return;
    printf("# seed %llu: two runs differ\n", (unsigned long long)seed);
    (void)fflush(stdout);
    _exit(1);
}

static int play_seeds(struct progress *progress, uint64_t first, uint64_t end)
{
    int status = 0;

    (void)fflush(stdout);
    pid_t child = fork();
    BUG_ON(child < 0);
    if (child == 0) {
        for (progress->seed = first; progress->seed < end; progress->seed++)
            play_one(progress->seed, &progress->tally);
        progress->is_done = true;
        exit(0);  // which looks for leaks
    }
    (void)waitpid(child, &status, 0);
    return status;
}

static void print_tally(const struct tally *tally)
{
    printf("# %llu cycles, %llu worlds came to rest after %llu cycles at most, %llu simulations taken back\n",
           (unsigned long long)tally->cycles, (unsigned long long)tally->quiet, (unsigned long long)tally->longest,
           (unsigned long long)tally->simulations);
    for (int u = 0; u < _UNREST_MAX; u++)
        printf("# %llu never did: %s\n", (unsigned long long)tally->restless[u], unrest_name(u));
    for (int a = 0; a < _ACTION_MAX; a++)
        printf("# %s: %llu bound, %llu evicted, %llu promised\n", action_name(a),
               (unsigned long long)tally->kinds[a][DECISION_BIND], (unsigned long long)tally->kinds[a][DECISION_EVICT],
               (unsigned long long)tally->kinds[a][DECISION_PIPELINE]);
}

static int run(uint64_t count, uint64_t seed)
{
    struct progress *progress = mmap(NULL, sizeof *progress, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    uint64_t end = seed + count;
    uint64_t passed = 0;
    uint64_t failed = 0;

    BUG_ON(progress == MAP_FAILED);
    while (seed < end && failed < FAILURES_MAX) {
        int status = play_seeds(progress, seed, end);
        passed += progress->seed - seed;
        seed = progress->seed + 1;
        if (status == 0)
            break;
        failed++;
        if (progress->is_done)
            printf("# memory was lost\n");
        else if (!WIFEXITED(status) || WEXITSTATUS(status) != 1)
            printf("# seed %llu: ended with status %d\n", (unsigned long long)progress->seed, status);
    }
    print_tally(&progress->tally);
    printf("%llu passed, %llu failed, 0 skipped\n", (unsigned long long)passed, (unsigned long long)failed);
    return failed > 0;
}

static void print_mask(const struct play_mask *mask)
{
    printf("# theme %x, steps", mask->theme);
    for (uint32_t i = 1; i <= PLAY_STEPS + 1; i++)
        if (!(mask->steps[i / 64] >> i % 64 & 1))
            printf(" %u", i);
    printf("\n");
}

static int show(uint64_t seed, bool shrinks)
{
    struct play_mask mask = {.theme = THEME_ALL};
    struct tally tally = {0};

    if (shrinks && !shrink_seed(seed, &mask)) {
        printf("# seed %llu does not fail\n", (unsigned long long)seed);
        return 0;
    }
    print_mask(&mask);
    (void)play_seed(seed, &mask, true, &tally);
    print_tally(&tally);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 3 && (strcmp(argv[1], "--show") == 0 || strcmp(argv[1], "--shrink") == 0))
        return show(strtoull(argv[2], NULL, 10), strcmp(argv[1], "--shrink") == 0);
    return run(argc > 1 ? strtoull(argv[1], NULL, 10) : DEFAULT_COUNT,
               argc > 2 ? strtoull(argv[2], NULL, 10) : DEFAULT_SEED);
}
