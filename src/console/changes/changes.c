/* SPDX-License-Identifier: Apache-2.0 */
#include "console/changes/changes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/time.h"
#include "console/data/db.h"
#include "text/json.h"

/* Old rows go now and then: more often would cost every change a statement. */
enum { PRUNE_EACH = 64 };

static void put(yyjson_mut_doc *doc, yyjson_mut_val *to, const char *key, const char *text)
{
    if (text && *text)
        (void)yyjson_mut_obj_add_strcpy(doc, to, key, text);
}

static char *write_row(const char *from, const struct change_row *row)
{
    yyjson_mut_val *root;
    yyjson_mut_doc *doc = json_new_object(&root);
    char time[TIME_TEXT_MAX];

    put(doc, root, "from", from);
    put(doc, root, "time", time_format(nsec_now_wall() / NSEC_PER_MSEC * NSEC_PER_MSEC, time));
    put(doc, root, "type", row->type);
    put(doc, root, "action", row->action);
    put(doc, root, "id", row->id);
    put(doc, root, "name", row->name);
    put(doc, root, "subject", row->subject);
    put(doc, root, "scope", scope_name(row->scope));
    put(doc, root, "department", row->department);
    put(doc, root, "project", row->project);
    put(doc, root, "owner", row->owner);
    put(doc, root, "sync", row->sync_kind);
    (void)yyjson_mut_obj_add_bool(doc, root, "isAudited", row->subject != NULL);
    (void)yyjson_mut_obj_add_bool(doc, root, "syncsAll", row->syncs_all);
    char *text = yyjson_mut_write(doc, YYJSON_WRITE_ALLOW_INVALID_UNICODE, NULL);
    BUG_ON(!text);
    yyjson_mut_doc_free(doc);
    return text;
}

int changes_last(struct db *db, int64_t *ret_seq, struct err *err)
{
    return db_query_number(db, DB_CALL("SELECT COALESCE(MAX(seq), 0) FROM changes"), ret_seq, err);
}

int change_add(struct db *db, const char *from, const struct change_row *row, struct err *err)
{
    int64_t seq = 0;
    int r = changes_last(db, &seq, err);

    if (r < 0)
        return r;
    seq++;
    _cleanup_(freep) char *text = write_row(from, row);
    r = db_run(db, DB_CALL("INSERT INTO changes(seq, doc) VALUES($1, $2)", db_number(seq), db_text(text)), NULL, err);
    if (r == 0 && seq % PRUNE_EACH == 0)
        r = db_run(db, DB_CALL("DELETE FROM changes WHERE seq <= $1", db_number(seq - CHANGES_KEPT)), NULL, err);
    return r;
}

struct walk {
    change_fn fn;
    void *arg;
    struct err *err;
};

static int take_row(void *arg, const struct db_value *columns, size_t count)
{
    struct walk *walk = arg;
    _cleanup_(json_doc_freep) yyjson_doc *doc = NULL;
    const char *text = columns[1].text ? columns[1].text : "";
    int r = json_parse(text, strlen(text), "a change", &doc, walk->err);

    (void)count;
    return r < 0 ? r : walk->fn(walk->arg, columns[0].number, yyjson_doc_get_root(doc));
}

int changes_each(struct db *db, int64_t after, int64_t count, change_fn fn, void *arg, struct err *err)
{
    struct walk walk = {fn, arg, err};

    return db_query(db,
                    DB_CALL("SELECT seq, doc FROM changes WHERE seq > $1 ORDER BY seq LIMIT $2", db_number(after),
                            db_number(count)),
                    take_row, &walk, err);
}
