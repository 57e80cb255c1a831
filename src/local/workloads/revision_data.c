/* SPDX-License-Identifier: Apache-2.0 */
#include "local/workloads/revision_data.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "text/json.h"

/* Larger ones are not objects that a server takes. */
enum { DATA_MAX = 4 << 20 };

struct member {
    yyjson_val *key, *val;
};

static int by_name(const void *left, const void *right)
{
    const struct member *a = left, *b = right;

    return strcmp(yyjson_get_str(a->key), yyjson_get_str(b->key));
}

static yyjson_mut_val *in_order(yyjson_mut_doc *doc, yyjson_val *val)
{
    VEC(struct member) members = {0};
    yyjson_mut_val *made;
    size_t i, max;
    yyjson_val *key, *item;

    if (yyjson_is_arr(val)) {
        made = yyjson_mut_arr(doc);
        yyjson_arr_foreach(val, i, max, item)
        {
            (void)yyjson_mut_arr_append(made, in_order(doc, item));
        }
        return made;
    }
    if (!yyjson_is_obj(val))
        return yyjson_val_mut_copy(doc, val);
    made = yyjson_mut_obj(doc);
    yyjson_obj_foreach(val, i, max, key, item)
    {
        vec_push(&members, ((struct member){key, item}));
    }
    if (members.len > 1)
        qsort(members.items, members.len, sizeof *members.items, by_name);
    vec_foreach (&members, member)
        (void)yyjson_mut_obj_add(made, yyjson_val_mut_copy(doc, member->key), in_order(doc, member->val));
    vec_done(&members);
    return made;
}

/* These characters stand in texts alone. The last two are the separators of lines and paragraphs. */
static void escape(const char *text, struct strbuf *escaped)
{
    static const struct {
        const char *plain, *escape;
    } rows[] = {
        {"<", "\\u003c"}, {">", "\\u003e"}, {"&", "\\u0026"}, {"\xe2\x80\xa8", "\\u2028"}, {"\xe2\x80\xa9", "\\u2029"}};

    while (*text) {
        size_t plain = strcspn(text, "<>&\xe2"), len = 1;
        const char *bytes = NULL;

        strbuf_add(escaped, text, plain);
        text += plain;
        for (size_t i = 0; *text && !bytes && i < sizeof rows / sizeof *rows; i++) {
            len = strlen(rows[i].plain);
            bytes = strncmp(text, rows[i].plain, len) == 0 ? rows[i].escape : NULL;
        }
        if (bytes) {
            strbuf_addstr(escaped, bytes);
            text += len;
        } else if (*text) {
            strbuf_addch(escaped, *text++);
        }
    }
}

yyjson_mut_val *revision_data(yyjson_mut_doc *doc, yyjson_val *template)
{
    yyjson_mut_doc *scratch = json_new_object(NULL);
    yyjson_mut_val *data = yyjson_mut_obj(scratch), *spec = yyjson_mut_obj_add_obj(scratch, data, "spec");
    yyjson_mut_val *replaced = yyjson_mut_obj_add_obj(scratch, spec, "template");
    yyjson_mut_val *ordered = in_order(scratch, template), *key, *val;
    size_t i, max;
    struct strbuf text;

    /* The sign stands before all letters. */
    (void)yyjson_mut_obj_add_str(scratch, replaced, "$patch", "replace");
    yyjson_mut_obj_foreach(ordered, i, max, key, val)
    {
        (void)yyjson_mut_obj_add_val(scratch, replaced, yyjson_mut_get_str(key), yyjson_mut_val_mut_copy(scratch, val));
    }
    yyjson_mut_doc_set_root(scratch, data);
    _cleanup_(freep) char *written = yyjson_mut_write(scratch, 0, NULL);
    yyjson_mut_doc_free(scratch);
    BUG_ON(!written);
    strbuf_init(&text, DATA_MAX);
    escape(written, &text);
    yyjson_mut_val *raw = yyjson_mut_rawncpy(doc, text.text, text.len);
    strbuf_done(&text);
    return raw;
}
