/* SPDX-License-Identifier: Apache-2.0 */
#include "console/data/items.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "console/data/db.h"
#include "text/json.h"

static char *encode(const yyjson_mut_val *item)
{
    char *text = yyjson_mut_val_write(item, 0, NULL);

    BUG_ON(!text);
    return text;
}

int item_insert(struct db *db, const struct item_key *key, const yyjson_mut_val *item, struct err *err)
{
    _cleanup_(freep) char *text = encode(item);
    int r =
        db_run(db,
               DB_CALL("INSERT INTO items(kind, id, place, name, doc) VALUES($1, $2, $3, $4, $5)", db_text(key->kind),
                       db_text(key->id), db_text(key->place), db_text(key->name), db_text(text)),
               NULL, err);

    return r == -EEXIST ? err_set(err, -EEXIST, "a %s '%s' exists already", key->kind, key->name) : r;
}

static int missing(struct err *err, const char *kind, const char *id)
{
    return err_set(err, -ENOENT, "there is no %s '%.100s'", kind, id);
}

int item_update(struct db *db, const char *kind, const char *id, const yyjson_mut_val *item, struct err *err)
{
    _cleanup_(freep) char *text = encode(item);
    int64_t changed = 0;
    int r = db_run(
        db, DB_CALL("UPDATE items SET doc = $3 WHERE kind = $1 AND id = $2", db_text(kind), db_text(id), db_text(text)),
        &changed, err);

    return r == 0 && changed == 0 ? missing(err, kind, id) : r;
}

int item_replace(struct db *db, const struct item_key *key, const yyjson_mut_val *item, struct err *err)
{
    _cleanup_(freep) char *text = encode(item);
    int64_t changed = 0;
    int r = db_run(db,
                   DB_CALL("UPDATE items SET name = $3, doc = $4 WHERE kind = $1 AND id = $2", db_text(key->kind),
                           db_text(key->id), db_text(key->name), db_text(text)),
                   &changed, err);

    if (r == -EEXIST)
        return err_set(err, -EEXIST, "a %s '%s' exists already", key->kind, key->name);
    return r == 0 && changed == 0 ? missing(err, key->kind, key->id) : r;
}

int next_number(struct db *db, const char *sequence, int64_t first, int64_t *ret_number, struct err *err)
{
    char text[24];
    int r = db_query_number(db, DB_CALL("SELECT CAST(value AS BIGINT) FROM meta WHERE key = $1", db_text(sequence)),
                            ret_number, err);

    if (r < 0 && r != -ENOENT)
        return r;
    *ret_number = r == -ENOENT ? first : *ret_number + 1;
    (void)snprintf(text, sizeof text, "%lld", (long long)*ret_number);
    return db_run(
        db,
        DB_CALL("INSERT INTO meta(key, value) VALUES($1, $2) ON CONFLICT(key) DO UPDATE SET value = excluded.value",
                db_text(sequence), db_text(text)),
        NULL, err);
}

int item_delete(struct db *db, const char *kind, const char *id, struct err *err)
{
    int64_t changed = 0;
    int r =
        db_run(db, DB_CALL("DELETE FROM items WHERE kind = $1 AND id = $2", db_text(kind), db_text(id)), &changed, err);

    return r == 0 && changed == 0 ? missing(err, kind, id) : r;
}

static int read_one(struct db *db, struct db_call call, const char *kind, const char *id, yyjson_doc **ret_doc,
                    struct err *err)
{
    _cleanup_(freep) char *text = NULL;
    int r = db_query_text(db, call, &text, err);

    if (r == -ENOENT)
        return missing(err, kind, id);
    return r < 0 ? r : json_parse(text, strlen(text), kind, ret_doc, err);
}

int item_get(struct db *db, const char *kind, const char *id, yyjson_doc **ret_doc, struct err *err)
{
    return read_one(db, DB_CALL("SELECT doc FROM items WHERE kind = $1 AND id = $2", db_text(kind), db_text(id)), kind,
                    id, ret_doc, err);
}

int item_find(struct db *db, const char *kind, const char *place, const char *name, yyjson_doc **ret_doc,
              struct err *err)
{
    return read_one(db,
                    DB_CALL("SELECT doc FROM items WHERE kind = $1 AND place = $2 AND name = $3", db_text(kind),
                            db_text(place), db_text(name)),
                    kind, name, ret_doc, err);
}

struct walk {
    item_fn fn;
    void *arg;
    struct err *err;
};

static int give(void *arg, const struct db_value *columns, size_t count)
{
    struct walk *walk = arg;
    _cleanup_(json_doc_freep) yyjson_doc *doc = NULL;
    int r = json_parse(columns[0].text, strlen(columns[0].text), "item", &doc, walk->err);

    (void)count;
    return r < 0 ? r : walk->fn(walk->arg, yyjson_doc_get_root(doc));
}

int items_each(struct db *db, const char *kind, const char *place, item_fn fn, void *arg, struct err *err)
{
    struct walk walk = {fn, arg, err};

    if (!place)
        return db_query(db, DB_CALL("SELECT doc FROM items WHERE kind = $1 ORDER BY name", db_text(kind)), give, &walk,
                        err);
    return db_query(
        db,
        DB_CALL("SELECT doc FROM items WHERE kind = $1 AND place = $2 ORDER BY name", db_text(kind), db_text(place)),
        give, &walk, err);
}
