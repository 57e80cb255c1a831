/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/replay/replay.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/mem.h"
#include "journal/segment.h"
#include "model/state.h"
#include "sim/replay/player.h"

struct segment_at {
    char *path;
    uint64_t number;
};

struct segment_list VEC_OF(struct segment_at);

void replay_init(struct replay *replay)
{
    *replay = (struct replay){0};
    arena_init(&replay->arena);
}

void replay_done(struct replay *replay)
{
    vec_done(&replay->kept);
    vec_done(&replay->damage);
    arena_done(&replay->arena);
}

bool replay_is_same(const struct replay *replay)
{
    return replay->differences == 0 && replay->damage.len == 0;
}

static int by_name(const struct dirent **left, const struct dirent **right)
{
    return strcmp((*left)->d_name, (*right)->d_name);
}

static void list_done(struct segment_list *list)
{
    vec_foreach (list, segment)
        free(segment->path);
    vec_done(list);
}

/* The segments of a folder, oldest first, or the one file. */
static int list_segments(const char *path, struct segment_list *ret, struct err *err)
{
    struct dirent **entries = NULL;
    struct stat stat_buf;

    if (stat(path, &stat_buf) < 0)
        return err_set(err, -errno, "%s: %s", path, strerror(errno));
    if (!S_ISDIR(stat_buf.st_mode)) {
        const char *slash = strrchr(path, '/');

        vec_push(ret, (struct segment_at){xstrdup(path), segment_number(slash ? slash + 1 : path)});
        return 0;
    }
    int count = scandir(path, &entries, NULL, by_name);
    if (count < 0)
        return err_set(err, -errno, "%s: %s", path, strerror(errno));
    for (int i = 0; i < count; i++) {
        uint64_t number = segment_number(entries[i]->d_name);

        if (number > 0)
            vec_push(ret, (struct segment_at){segment_path(path, number), number});
        free(entries[i]);
    }
    free(entries);
    if (ret->len == 0)
        return err_set(err, -ENOENT, "%s: holds no journal", path);
    return 0;
}

/* Records up to the next cycle go into the state. Returns 1 with the cycle, or 0 at the end. */
static int next_cycle(struct player *player, struct record *record)
{
    struct err err;

    while (player_next(player, record) > 0) {
        if (record->kind == RECORD_CYCLE && player->engine)
            return 1;
        int r = record->kind == RECORD_CYCLE ? err_set(&err, -EBADMSG, "has a cycle without settings")
                                             : player_take(player, record, &err);
        if (r < 0) {
            (void)err_wrap(&err, r, "segment %llu", (unsigned long long)player->segment);
            player_damaged(player, &err);
            return 0;
        }
    }
    return 0;
}

static int sim_run_segment(struct replay *replay, const struct segment_at *segment, struct err *err)
{
    struct player player;
    struct record record;
    int r = player_init(&player, replay, segment->path, segment->number, err);

    while (r >= 0 && next_cycle(&player, &record) > 0) {
        bool is_same = player_cycle(&player, &record.cycle);

        player_close(&player, &record.cycle, is_same);
    }
    replay->segments += r >= 0;
    player_done(&player);
    return r;
}

int replay_run(struct replay *replay, const char *path, struct err *err)
{
    _cleanup_(list_done) struct segment_list list = {0};
    int r = list_segments(path, &list, err);

    for (uint32_t i = 0; r >= 0 && i < list.len; i++)
        r = sim_run_segment(replay, &list.items[i], err);
    return r;
}

static int walk_segment(struct replay *replay, const struct segment_at *segment, nsec_t until, replay_state_fn fn,
                        void *context, struct err *err)
{
    struct player player;
    struct record record;
    int r = player_init(&player, replay, segment->path, segment->number, err);

    while (r >= 0 && next_cycle(&player, &record) > 0 && record.cycle.now <= until) {
        /* Nothing is decided that would settle it, and ids of what has left would never be used again. */
        state_settle(player.state);
        fn(context, segment->number, player.state, &record.cycle);
    }
    player_done(&player);
    return r;
}

int replay_walk(const char *path, nsec_t until, replay_state_fn fn, void *context, struct err *err)
{
    _cleanup_(list_done) struct segment_list list = {0};
    struct replay replay;
    int r = list_segments(path, &list, err);

    replay_init(&replay);
    for (uint32_t i = 0; r >= 0 && i < list.len; i++)
        r = walk_segment(&replay, &list.items[i], until, fn, context, err);
    replay_done(&replay);
    return r;
}

/* The last segment that begins at or before `at`. */
static int find_segment(const struct segment_list *list, nsec_t at, const struct segment_at **ret, struct err *err)
{
    *ret = NULL;
    vec_foreach (list, segment) {
        struct segment_reader *reader;
        int r = segment_open(segment->path, &reader, err);

        if (r < 0)
            return r;
        if (segment_created(reader) <= at)
            *ret = segment;
        segment_reader_free(reader);
    }
    return 0;
}

/* How many cycles of the segment are not later than `at`. */
static int count_cycles(struct replay_moment *moment, const struct segment_at *segment, nsec_t at, uint64_t *ret,
                        struct err *err)
{
    struct player player;
    struct record record;
    int r = player_init(&player, &moment->replay, segment->path, segment->number, err);

    *ret = 0;
    while (r >= 0 && player_next(&player, &record) > 0)
        *ret += record.kind == RECORD_CYCLE && record.cycle.now <= at;
    player_done(&player);
    return r;
}

static void copy_decisions(struct replay_moment *moment, const struct record_cycle *cycle)
{
    struct arena *arena = &moment->replay.arena;
    struct record_decision *copy = arena_calloc(arena, cycle->decision_count, sizeof *copy);

    for (size_t i = 0; i < cycle->decision_count; i++) {
        const char **texts[] = {&copy[i].namespace, &copy[i].pod, &copy[i].node, &copy[i].for_namespace,
                                &copy[i].for_gang};

        copy[i] = cycle->decisions[i];
        for (size_t k = 0; k < ARRAY_LEN(texts); k++)
            if (*texts[k])
                *texts[k] = arena_strdup(arena, *texts[k]);
    }
    moment->then = copy;
    moment->then_count = cycle->decision_count;
}

/* Simulates up to that cycle, and leaves the engine open behind it; without deciding, the state as it found it. */
static int sim_run_up_to(struct replay_moment *moment, const struct segment_at *segment, uint64_t wanted, bool decides,
                         struct err *err)
{
    struct player player;
    struct record record;
    int r = player_init(&player, &moment->replay, segment->path, segment->number, err);

    for (uint64_t i = 1; r >= 0 && next_cycle(&player, &record) > 0; i++) {
        bool is_same = !decides || player_cycle(&player, &record.cycle);

        if (i < wanted) {
            if (decides)
                player_close(&player, &record.cycle, is_same);
            else
                state_settle(player.state);
            continue;
        }
        moment->segment = segment->number;
        moment->cycle = record.cycle.number;
        moment->now = record.cycle.now;
        moment->is_same = is_same;
        copy_decisions(moment, &record.cycle);
        moment->config = player.config;
        moment->state = TAKE_PTR(player.state);
        if (decides)
            moment->engine = TAKE_PTR(player.engine);
        break;
    }
    player_done(&player);
    return r;
}

static int find_moment(struct replay_moment *moment, const char *path, nsec_t at, bool decides, struct err *err)
{
    _cleanup_(list_done) struct segment_list list = {0};
    const struct segment_at *segment = NULL;
    uint64_t cycles = 0;

    *moment = (struct replay_moment){0};
    replay_init(&moment->replay);
    int r = list_segments(path, &list, err);
    if (r >= 0)
        r = find_segment(&list, at, &segment, err);
    if (r >= 0 && segment)
        r = count_cycles(moment, segment, at, &cycles, err);
    if (r >= 0 && cycles > 0)
        r = sim_run_up_to(moment, segment, cycles, decides, err);
    if (r >= 0 && !moment->state)
        r = err_set(err, -ENOENT, "%s: has no cycle at or before that time", path);
    return r;
}

int replay_find(struct replay_moment *moment, const char *path, nsec_t at, struct err *err)
{
    return find_moment(moment, path, at, true, err);
}

int replay_find_state(struct replay_moment *moment, const char *path, nsec_t at, struct err *err)
{
    return find_moment(moment, path, at, false, err);
}

void replay_moment_done(struct replay_moment *moment)
{
    engine_free(moment->engine);
    if (moment->state)
        state_free(moment->state);
    replay_done(&moment->replay);
}
