/* SPDX-License-Identifier: Apache-2.0 */

/* JSON values as YAML in blocks, the way people write values files. Every string that could be read otherwise is quoted. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "base/mem.h"
#include "sim/migrate/migrate_internal.h"

/* Letters, then what names and paths are made of; words that YAML takes for something else are not plain. */
static bool is_plain(const char *text)
{
    static const char *const words[] = {"true", "false", "yes", "no", "on", "off", "null", "y", "n"};

    if (!isalpha((unsigned char)*text) && *text != '/')
        return false;
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        if (strcasecmp(text, words[i]) == 0)
            return false;
    }
    for (; *text; text++) {
        if (!isalnum((unsigned char)*text) && !strchr("-_./", *text))
            return false;
    }
    return true;
}

static void write_string(const char *text, FILE *out)
{
    if (is_plain(text)) {
        (void)fputs(text, out);
        return;
    }
    _cleanup_(freep) char *quoted = NULL;
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);

    yyjson_mut_doc_set_root(doc, yyjson_mut_str(doc, text));
    quoted = yyjson_mut_write(doc, YYJSON_WRITE_ALLOW_INVALID_UNICODE, NULL);
    (void)fputs(quoted ? quoted : "\"\"", out);
    yyjson_mut_doc_free(doc);
}

static void write_scalar(yyjson_mut_val *value, FILE *out)
{
    if (yyjson_mut_is_str(value)) {
        write_string(yyjson_mut_get_str(value), out);
        return;
    }
    _cleanup_(freep) char *text = yyjson_mut_val_write(value, 0, NULL);
    (void)fputs(text ? text : "null", out);
}

static void write_value(yyjson_mut_val *value, int indent, bool is_item, FILE *out);

static void write_object(yyjson_mut_val *object, int indent, bool is_item, FILE *out)
{
    size_t i, count;
    yyjson_mut_val *key, *value;

    yyjson_mut_obj_foreach(object, i, count, key, value)
    {
        if (i > 0 || !is_item)
            (void)fprintf(out, "%*s", indent, "");
        write_string(yyjson_mut_get_str(key), out);
        (void)fputc(':', out);
        write_value(value, indent, false, out);
    }
}

static void write_array(yyjson_mut_val *array, int indent, FILE *out)
{
    size_t i, count;
    yyjson_mut_val *item;

    yyjson_mut_arr_foreach(array, i, count, item)
    {
        (void)fprintf(out, "%*s-", indent, "");
        write_value(item, indent, true, out);
    }
}

/* What follows a key or a dash, to the end of the line and beyond. */
static void write_value(yyjson_mut_val *value, int indent, bool is_item, FILE *out)
{
    bool is_filled = yyjson_mut_is_ctn(value) && yyjson_mut_get_len(value) > 0;

    if (is_filled && yyjson_mut_is_obj(value)) {
        (void)fputc(is_item ? ' ' : '\n', out);
        write_object(value, indent + 2, is_item, out);
    } else if (is_filled) {
        (void)fputc('\n', out);
        write_array(value, indent + 2, out);
    } else {
        (void)fputc(' ', out);
        write_scalar(value, out);
        (void)fputc('\n', out);
    }
}

void migration_write_values(const struct migration *migration, FILE *out)
{
    yyjson_mut_val *root = yyjson_mut_doc_get_root(migration->values);

    (void)fputs("# Values for Muster's chart, written by muster migrate.\n", out);
    if (yyjson_mut_obj_size(root) == 0)
        (void)fputs("{}\n", out);
    else
        write_object(root, 0, false, out);
}

void migration_write_manifests(const struct migration *migration, FILE *out)
{
    size_t i, count;
    yyjson_mut_val *object;

    yyjson_mut_arr_foreach(yyjson_mut_doc_get_root(migration->objects), i, count, object)
    {
        if (i > 0)
            (void)fputs("---\n", out);
        write_object(object, 0, false, out);
    }
}
