/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Random clusters (tests/deltas) with a journal beside them, which is replayed when they end: not one decision and not one
 * verdict may be another one. journals FOLDER [COUNT [SEED]]
 */
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "journal/journal.h"
#include "play.h"
#include "sim/replay/replay.h"
#include "text/table.h"

enum { DEFAULT_COUNT = 60, BYTES_MAX = JOURNAL_SIZE_MIN };

struct keeper {
    const char *folder;
    struct journal *journal;
    uint64_t written;  // cycles
    uint64_t replayed;
    uint64_t segments;
    uint64_t decisions;
    uint64_t verdicts;
};

static void expect(int r, const struct err *err)
{
    if (r >= 0)
        return;
    printf("# %s\n", err->text);
    exit(1);
}

static void empty_folder(const char *folder)
{
    DIR *dir = opendir(folder);
    const struct dirent *entry;

    BUG_ON(!dir);
    while ((entry = readdir(dir)) != NULL)
        if (entry->d_name[0] != '.')
            (void)unlinkat(dirfd(dir), entry->d_name, 0);
    (void)closedir(dir);
}

static void on_begin(void *arg, struct play *play)
{
    struct keeper *keeper = arg;
    struct journal_options options = {
        .folder = keeper->folder,
        .size_max = BYTES_MAX,
        .segment_size = play->seed % 2,  // every other play begins a segment with each cycle
    };
    struct err err;

    expect(journal_open(&options, play->state, &play->config, &keeper->journal, &err), &err);
}

static void on_cycle_begin(void *arg, struct play *play)
{
    struct keeper *keeper = arg;

    journal_cycle_begin(keeper->journal, play->cycles, play->world.now);
}

static void on_cycle_end(void *arg, struct play *play, const enum action *actions, uint32_t count)
{
    struct keeper *keeper = arg;

    journal_cycle_end(keeper->journal, play->engine, actions, count);
}

static void on_end(void *arg, struct play *play)
{
    struct keeper *keeper = arg;
    struct replay replay;
    struct err err;

    keeper->written += journal_cycles(keeper->journal);
    if (!journal_is_well(keeper->journal) || journal_bytes(keeper->journal) > BYTES_MAX)
        play_fail(play, "journal", "%" PRIu64 " bytes", journal_bytes(keeper->journal));
    journal_close(keeper->journal);
    replay_init(&replay);
    expect(replay_run(&replay, keeper->folder, &err), &err);
    if (!replay_is_same(&replay) || replay.cut > 0) {
        replay_print(&replay, &(struct table_view){0}, stdout);
        play_fail(play, "replay", "%" PRIu64 " differences", replay.differences);
    }
    keeper->replayed += replay.cycles;
    keeper->segments += replay.segments;
    keeper->decisions += replay.decisions[0] + replay.decisions[1] + replay.decisions[2];
    keeper->verdicts += replay.verdicts;
    replay_done(&replay);
    empty_folder(keeper->folder);
}

int main(int argc, char **argv)
{
    struct keeper keeper = {.folder = argc > 1 ? argv[1] : ""};
    uint64_t count = argc > 2 ? strtoull(argv[2], NULL, 10) : DEFAULT_COUNT;
    uint64_t seed = argc > 3 ? strtoull(argv[3], NULL, 10) : 1;
    struct play_watch watch = {&keeper, on_begin, on_cycle_begin, on_cycle_end, on_end};
    struct tally tally = {0};

    for (uint64_t i = 0; i < count; i++)
        play_watched(seed + i, &watch, &tally);
    printf("# %" PRIu64 " cycles written, %" PRIu64 " replayed in %" PRIu64 " segments; %" PRIu64 " decisions, %" PRIu64
           " verdicts\n",
           keeper.written, keeper.replayed, keeper.segments, keeper.decisions, keeper.verdicts);
    return keeper.decisions == 0;
}
