/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Writing. Records gather in a buffer that is written as a chunk when a cycle ends or when there are many. A segment can
 * only begin where the state is settled, which is between two cycles: at journal_cycle_begin.
 */
#include "journal/journal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/map.h"
#include "base/mem.h"
#include "journal/record.h"
#include "journal/segment.h"
#include "model/retell/retell.h"
#include "model/state.h"

/* A buffer of this size is written at once; a segment is at most this part of the whole, and this many times the state
 * that it begins with, unless that is more than half of the whole. */
enum { CHUNK_BYTES = 256 * 1024, SEGMENTS_IN_ALL = 8, TIMES_THE_STATE = 3 };
#define TRY_AGAIN_AFTER NSEC_PER_MIN

struct segment_file {
    uint64_t number;
    uint64_t size;
};

struct journal {
    char *folder;
    int folder_fd;  // holds the lock
    uint64_t size_max;
    uint64_t segment_size;
    journal_trouble_fn trouble;
    void *arg;
    struct state *state;
    struct config config;

    VEC(struct segment_file) files;  // oldest first; the last one is being written
    uint64_t total;                  // bytes of all of them
    struct segment_writer *segment;  // NULL: none is open
    uint64_t rotate_at;              // bytes of it
    struct wire_bytes buffer;
    uint64_t cycles;
    bool is_in_cycle;
    bool is_down;
    nsec_t try_again;

    struct record_cycle cycle;  // under way
    struct map64 verdicts;      // namespace << 32 | name of a gang -> code as last written
    struct arena scratch;
    should_stop_fn should_stop;
    void *stop_context;
    uint64_t asked;  // questions whether to stop, in this cycle
    VEC(uint64_t) stops;
};

static void close_segment(struct journal *journal)
{
    segment_close(journal->segment);
    journal->segment = NULL;
    vec_clear(&journal->buffer);
}

static void give_up(struct journal *journal, const struct err *err)
{
    close_segment(journal);
    journal->try_again = journal->cycle.now + TRY_AGAIN_AFTER;
    if (!journal->is_down && journal->trouble)
        journal->trouble(journal->arg, err);
    journal->is_down = true;
}

static void remove_oldest(struct journal *journal)
{
    _cleanup_(freep) char *path = segment_path(journal->folder, journal->files.items[0].number);

    (void)unlink(path);
    journal->total -= journal->files.items[0].size;
    vec_remove_at(&journal->files, 0);
}

/* Makes room for what is to be written. */
static int keep_bound(struct journal *journal, uint64_t more, struct err *err)
{
    while (journal->files.len > 1 && journal->total + more > journal->size_max)
        remove_oldest(journal);
    if (journal->total + more > journal->size_max)
        return err_set(err, -EFBIG, "%s: the state is larger than the journal's limit of %llu bytes; raise the limit",
                       journal->folder, (unsigned long long)journal->size_max);
    return 0;
}

static void write_buffer(struct journal *journal)
{
    struct err err;
    uint64_t had;

    if (!journal->segment || journal->buffer.len == 0)
        return;
    had = segment_size(journal->segment);
    /* The packed size is not known before; it is less than the buffer's, but for a few bytes. */
    int r = keep_bound(journal, MIN(journal->buffer.len, journal->size_max / SEGMENTS_IN_ALL), &err);
    if (r >= 0)
        r = segment_write(journal->segment, journal->buffer.items, journal->buffer.len, &err);
    if (r < 0) {
        give_up(journal, &err);
        return;
    }
    journal->total += segment_size(journal->segment) - had;
    vec_last(&journal->files).size = segment_size(journal->segment);
    vec_clear(&journal->buffer);
}

static void on_delta(void *arg, const struct delta *delta)
{
    struct journal *journal = arg;

    /* What the engine says of its own in a cycle, it will say again in a replay. */
    if (!journal->segment || journal->is_in_cycle)
        return;
    record_put_delta(&journal->buffer, delta);
    if (journal->buffer.len >= CHUNK_BYTES)
        write_buffer(journal);
}

static int create_segment(struct journal *journal, struct err *err)
{
    uint64_t number = journal->files.len ? vec_last(&journal->files).number + 1 : 1;
    _cleanup_(freep) char *path = segment_path(journal->folder, number);
    int r = segment_create(path, journal->cycle.now, &journal->segment, err);

    if (r < 0)
        return r;
    vec_push(&journal->files, (struct segment_file){number, segment_size(journal->segment)});
    journal->total += segment_size(journal->segment);
    return 0;
}

static void begin_segment(struct journal *journal)
{
    struct err err;

    close_segment(journal);
    map64_clear(&journal->verdicts);
    if (create_segment(journal, &err) < 0) {
        give_up(journal, &err);
        return;
    }
    record_put_config(&journal->buffer, &journal->config);
    state_as_deltas(journal->state, on_delta, journal);
    write_buffer(journal);
    if (!journal->segment)
        return;
    uint64_t whole = segment_size(journal->segment);

    journal->rotate_at = MIN(MAX(journal->size_max / SEGMENTS_IN_ALL, TIMES_THE_STATE * whole), journal->size_max / 2);
    if (journal->segment_size)
        journal->rotate_at = journal->segment_size;
    if (journal->is_down && journal->trouble)
        journal->trouble(journal->arg, NULL);
    journal->is_down = false;
}

void journal_cycle_begin(struct journal *journal, uint64_t number, nsec_t now)
{
    bool is_full = journal->segment && segment_size(journal->segment) >= journal->rotate_at;

    journal->cycle = (struct record_cycle){
        .number = number,
        .now = now,
        .fresh_groups = journal->state->fresh_groups,
    };
    journal->asked = 0;
    vec_clear(&journal->stops);
    if (is_full || (!journal->segment && (!journal->is_down || now >= journal->try_again)))
        begin_segment(journal);
    journal->is_in_cycle = true;
}

/* Verdicts that are not as they were written last. */
static void add_verdicts(struct journal *journal, const struct engine *engine)
{
    const struct state *state = journal->state;
    uint32_t count = state->pending_gangs.ids.len;
    struct record_verdict *records = arena_calloc(&journal->scratch, count, sizeof *records);

    for (uint32_t i = 0; i < count; i++) {
        gang_id id = state->pending_gangs.ids.items[i];
        const struct gang *gang = &state->gangs.items[id];
        uint64_t key = (uint64_t)gang->namespace << 32 | gang->name;
        enum verdict_code code = engine_verdict(engine, id).code;
        uint64_t last = VERDICT_NONE;

        (void)map64_get(&journal->verdicts, key, &last);
        if (last == (uint64_t)code)
            continue;
        map64_put(&journal->verdicts, key, code);
        records[journal->cycle.verdict_count++] =
            (struct record_verdict){state_name(state, gang->namespace), state_name(state, gang->name), code};
    }
    journal->cycle.verdicts = records;
}

void journal_cycle_end(struct journal *journal, const struct engine *engine, const enum action *actions,
                       uint32_t action_count)
{
    journal->is_in_cycle = false;
    if (!journal->segment)
        return;
    uint64_t *numbers = arena_calloc(&journal->scratch, action_count, sizeof *numbers);

    for (uint32_t i = 0; i < action_count; i++)
        numbers[i] = actions[i];
    journal->cycle.actions = numbers;
    journal->cycle.action_count = action_count;
    journal->cycle.stops = journal->stops.items;
    journal->cycle.stop_count = journal->stops.len;
    journal->cycle.placements = engine_placements(engine);
    journal->cycle.decisions =
        record_decisions(engine, journal->state, &journal->scratch, &journal->cycle.decision_count);
    if (record_has_verdicts(&journal->cycle))
        add_verdicts(journal, engine);
    record_put_cycle(&journal->buffer, &journal->cycle);
    write_buffer(journal);
    arena_clear(&journal->scratch);
    journal->cycles += journal->segment != NULL;
}

static bool ask_clock(void *context, enum search_stage stage, uint32_t which)
{
    struct journal *journal = context;
    bool stops = journal->should_stop(journal->stop_context, stage, which);

    if (stops)
        vec_push(&journal->stops, journal->asked);
    journal->asked++;
    return stops;
}

void journal_follow_clock(struct journal *journal, struct engine *engine)
{
    journal->should_stop = engine_clock(engine, &journal->stop_context);
    if (journal->should_stop)
        engine_set_clock(engine, ask_clock, journal);
}

static int by_number(const struct dirent **left, const struct dirent **right)
{
    return strcmp((*left)->d_name, (*right)->d_name);
}

/* Segments of earlier runs count towards the bound. */
static int find_files(struct journal *journal, struct err *err)
{
    struct dirent **entries = NULL;
    int count = scandir(journal->folder, &entries, NULL, by_number);

    if (count < 0)
        return err_set(err, -errno, "%s: %s", journal->folder, strerror(errno));
    for (int i = 0; i < count; i++) {
        uint64_t number = segment_number(entries[i]->d_name);
        struct stat stat_buf;

        if (number > 0 && fstatat(journal->folder_fd, entries[i]->d_name, &stat_buf, AT_SYMLINK_NOFOLLOW) == 0) {
            vec_push(&journal->files, (struct segment_file){number, (uint64_t)stat_buf.st_size});
            journal->total += (uint64_t)stat_buf.st_size;
        }
        free(entries[i]);
    }
    free(entries);
    return 0;
}

static int open_folder(struct journal *journal, struct err *err)
{
    if (mkdir(journal->folder, 0750) < 0 && errno != EEXIST)
        return err_set(err, -errno, "%s: %s", journal->folder, strerror(errno));
    journal->folder_fd = open(journal->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (journal->folder_fd < 0)
        return err_set(err, -errno, "%s: %s", journal->folder, strerror(errno));
    if (faccessat(journal->folder_fd, ".", W_OK | X_OK, 0) < 0)
        return err_set(err, -errno, "%s: %s", journal->folder, strerror(errno));
    if (flock(journal->folder_fd, LOCK_EX | LOCK_NB) < 0)
        return err_set(err, -EBUSY, "%s: another process writes a journal to this folder", journal->folder);
    return find_files(journal, err);
}

int journal_open(const struct journal_options *options, struct state *state, const struct config *config,
                 struct journal **ret, struct err *err)
{
    struct journal *journal = xcalloc(1, sizeof *journal);

    journal->folder = xstrdup(options->folder);
    journal->folder_fd = -1;
    journal->size_max = options->size_max ? options->size_max : JOURNAL_SIZE_DEFAULT;
    journal->segment_size = options->segment_size;
    journal->trouble = options->trouble;
    journal->arg = options->arg;
    journal->state = state;
    journal->config = *config;
    map64_init(&journal->verdicts);
    arena_init(&journal->scratch);
    int r = journal->size_max < JOURNAL_SIZE_MIN
                ? err_set(err, -EINVAL, "%s: a journal needs at least %d bytes", options->folder, JOURNAL_SIZE_MIN)
                : open_folder(journal, err);
    if (r < 0) {
        journal_close(journal);
        return r;
    }
    state_set_tap(state, on_delta, journal);
    *ret = journal;
    return 0;
}

void journal_close(struct journal *journal)
{
    if (!journal)
        return;
    write_buffer(journal);
    if (journal->state->tap.arg == journal)
        state_set_tap(journal->state, NULL, NULL);
    close_segment(journal);
    if (journal->folder_fd >= 0)
        (void)close(journal->folder_fd);
    map64_done(&journal->verdicts);
    arena_done(&journal->scratch);
    vec_done(&journal->files);
    vec_done(&journal->buffer);
    vec_done(&journal->stops);
    free(journal->folder);
    free(journal);
}

uint64_t journal_bytes(const struct journal *journal)
{
    return journal->total;
}

uint64_t journal_cycles(const struct journal *journal)
{
    return journal->cycles;
}

bool journal_is_well(const struct journal *journal)
{
    return !journal->is_down;
}
