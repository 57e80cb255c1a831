/* SPDX-License-Identifier: Apache-2.0 */

/* The outcome of a replay, for people and for programs. */
#include <inttypes.h>
#include <stdlib.h>
#include <yyjson.h>

#include "sim/replay/replay.h"
#include "sim/report/metrics.h"
#include "text/table.h"

enum { ROWS_SHOWN = 100 };

static const char *plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

static void print_differences(const struct replay *replay, const struct table_view *view, FILE *out)
{
    static const struct table_column columns[] = {
        {"CYCLE", TABLE_RIGHT, TABLE_WHOLE}, {"TIME", TABLE_LEFT, TABLE_WHOLE},   {"KIND", TABLE_LEFT, TABLE_WHOLE},
        {"OBJECT", TABLE_LEFT, TABLE_CUT},   {"RECORDED", TABLE_LEFT, TABLE_CUT}, {"REPLAYED", TABLE_LEFT, TABLE_CUT},
    };
    char time[TIME_TEXT_MAX];
    struct table t;

    table_init(&t, columns, ARRAY_LEN(columns));
    for (uint32_t i = 0; i < MIN(replay->kept.len, (uint32_t)ROWS_SHOWN); i++) {
        const struct replay_difference *at = &replay->kept.items[i];

        table_cell(&t, STYLE_PLAIN, "%" PRIu64, at->cycle);
        table_cell(&t, STYLE_PLAIN, "%s", time_format(at->now, time));
        table_cell(&t, STYLE_PLAIN, "%s", at->is_verdict ? "verdict" : *at->name ? "decision" : "order");
        table_cell(&t, STYLE_PLAIN, "%s%s%s", at->namespace, *at->namespace ? "/" : "", at->name);
        table_cell(&t, STYLE_PLAIN, "%s", at->then);
        table_cell(&t, STYLE_WARN, "%s", at->again);
    }
    if (t.cells.len > 0) {
        (void)fputc('\n', out);
        table_print(&t, view, out);
    }
    if (replay->differences > ROWS_SHOWN)
        (void)fprintf(out, "and %" PRIu64 " more\n", replay->differences - ROWS_SHOWN);
    table_done(&t);
}

/* "1,624". Returns `text`. */
static const char *count(uint64_t value, char text[static METRIC_TEXT_MAX])
{
    return metric_format(UNIT_COUNT, (double)value, text);
}

void replay_print(const struct replay *replay, const struct table_view *view, FILE *out)
{
    const uint64_t *kinds = replay->decisions;
    char first[TIME_TEXT_MAX];
    char last[TIME_TEXT_MAX];
    char counts[4][METRIC_TEXT_MAX];

    (void)fprintf(out, "%s cycle%s in %" PRIu64 " segment%s", count(replay->cycles, counts[0]), plural(replay->cycles),
                  replay->segments, plural(replay->segments));
    if (replay->cycles > 0)
        (void)fprintf(out, ", from %s to %s", time_format(replay->first, first), time_format(replay->last, last));
    (void)fprintf(out, "\n%s pods bound, %s evicted, %s promised; %s verdicts\n",
                  count(kinds[DECISION_BIND], counts[0]), count(kinds[DECISION_EVICT], counts[1]),
                  count(kinds[DECISION_PIPELINE], counts[2]), count(replay->verdicts, counts[3]));
    if (replay->cut > 0)
        (void)fprintf(out, "The end of %" PRIu64 " segment%s is incomplete and ignored.\n", replay->cut,
                      plural(replay->cut));
    for (uint32_t i = 0; i < replay->damage.len; i++)
        (void)fprintf(out, "%s\n", replay->damage.items[i]);
    if (replay->cycles == 0)
        (void)fputs("There are no cycles to reproduce.\n", out);
    else if (replay->differences == 0 && replay->cycles == 1)
        (void)fputs("The cycle was reproduced identically.\n", out);
    else if (replay->differences == 0)
        (void)fprintf(out, "All %s cycles reproduced identically.\n", count(replay->cycles, counts[0]));
    else
        (void)fprintf(out, "%" PRIu64 " difference%s in %" PRIu64 " cycle%s.\n", replay->differences,
                      plural(replay->differences), replay->cycles_differ, plural(replay->cycles_differ));
    print_differences(replay, view, out);
}

static void add_time(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *key, nsec_t time)
{
    char text[TIME_TEXT_MAX];

    (void)yyjson_mut_obj_add_strcpy(doc, object, key, time_format(time, text));
}

static void add_difference(yyjson_mut_doc *doc, yyjson_mut_val *list, const struct replay_difference *at)
{
    yyjson_mut_val *item = yyjson_mut_arr_add_obj(doc, list);

    (void)yyjson_mut_obj_add_uint(doc, item, "segment", at->segment);
    (void)yyjson_mut_obj_add_uint(doc, item, "cycle", at->cycle);
    add_time(doc, item, "time", at->now);
    (void)yyjson_mut_obj_add_str(doc, item, "kind", at->is_verdict ? "verdict" : *at->name ? "decision" : "order");
    (void)yyjson_mut_obj_add_str(doc, item, "namespace", at->namespace);
    (void)yyjson_mut_obj_add_str(doc, item, "name", at->name);
    (void)yyjson_mut_obj_add_str(doc, item, "recorded", at->then);
    (void)yyjson_mut_obj_add_str(doc, item, "replayed", at->again);
}

void replay_write(const struct replay *replay, FILE *out)
{
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *root = yyjson_mut_obj(doc);

    yyjson_mut_doc_set_root(doc, root);
    (void)yyjson_mut_obj_add_bool(doc, root, "same", replay_is_same(replay));
    (void)yyjson_mut_obj_add_uint(doc, root, "segments", replay->segments);
    (void)yyjson_mut_obj_add_uint(doc, root, "cycles", replay->cycles);
    if (replay->cycles > 0) {
        add_time(doc, root, "from", replay->first);
        add_time(doc, root, "to", replay->last);
    }
    (void)yyjson_mut_obj_add_uint(doc, root, "deltas", replay->deltas);
    (void)yyjson_mut_obj_add_uint(doc, root, "bound", replay->decisions[DECISION_BIND]);
    (void)yyjson_mut_obj_add_uint(doc, root, "evicted", replay->decisions[DECISION_EVICT]);
    (void)yyjson_mut_obj_add_uint(doc, root, "promised", replay->decisions[DECISION_PIPELINE]);
    (void)yyjson_mut_obj_add_uint(doc, root, "verdicts", replay->verdicts);
    (void)yyjson_mut_obj_add_uint(doc, root, "cut", replay->cut);
    yyjson_mut_val *damage = yyjson_mut_obj_add_arr(doc, root, "damage");
    for (uint32_t i = 0; i < replay->damage.len; i++)
        (void)yyjson_mut_arr_add_str(doc, damage, replay->damage.items[i]);
    (void)yyjson_mut_obj_add_uint(doc, root, "cyclesThatDiffer", replay->cycles_differ);
    yyjson_mut_val *list = yyjson_mut_obj_add_arr(doc, root, "differences");
    for (uint32_t i = 0; i < replay->kept.len; i++)
        add_difference(doc, list, &replay->kept.items[i]);
    char *text = yyjson_mut_write(doc, YYJSON_WRITE_PRETTY_TWO_SPACES | YYJSON_WRITE_ALLOW_INVALID_UNICODE, NULL);

    (void)fprintf(out, "%s\n", text);
    free(text);
    yyjson_mut_doc_free(doc);
}
