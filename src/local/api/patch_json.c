/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "local/api/patch.h"

/* One operation of a patch. */
struct operation {
    const char *op;
    const char *path;
    const char *from;
    yyjson_val *value;
};

/* What a patch has used of its limits. */
struct use {
    yyjson_mut_doc *doc;
    size_t copied;  // bytes
};

/* Where a value is or would be: its parent and its name there. */
struct place {
    yyjson_mut_val *parent;  // NULL: the place is the document
    struct strbuf token;     // the last part of the path, unescaped
    size_t index;            // in an array
    yyjson_mut_val *value;   // NULL: nothing is there
};

enum { TOKEN_MAX = 4096 };

/* "~1" is "/", "~0" is "~". */
static void unescape(const char *token, struct strbuf *text)
{
    for (; *token; token++) {
        if (token[0] == '~' && (token[1] == '0' || token[1] == '1')) {
            strbuf_addch(text, token[1] == '0' ? '~' : '/');
            token++;
        } else {
            strbuf_addch(text, *token);
        }
    }
}

/* An index without leading zeros, or "-" for the end. Negative ones count from the end, as the API server allows. */
static bool parse_index(const char *token, size_t len, size_t *ret_index)
{
    char *end = NULL;

    if (strcmp(token, "-") == 0) {
        *ret_index = len;
        return true;
    }
    bool is_negative = token[0] == '-';
    const char *digits = token + is_negative;
    if (strspn(digits, "0123456789") != strlen(digits) || !*digits || strlen(digits) > 9 ||
        (digits[0] == '0' && (digits[1] || is_negative)))
        return false;
    size_t index = strtoul(digits, &end, 10);
    if (is_negative && index > len)
        return false;
    *ret_index = is_negative ? len - index : index;
    return *ret_index <= len;
}

/* Fills `place`; false when the path leads through something that is not there. */
static bool find_place(yyjson_mut_doc *doc, const char *path, struct place *place)
{
    const char *last = strrchr(path, '/');

    strbuf_clear(&place->token);
    place->parent = NULL;
    if (!last) {
        place->value = yyjson_mut_doc_get_root(doc);
        return true;
    }
    place->parent = yyjson_mut_doc_ptr_getn(doc, path, (size_t)(last - path));
    unescape(last + 1, &place->token);
    if (place->token.is_cut)
        return false;
    if (yyjson_mut_is_obj(place->parent)) {
        place->value = yyjson_mut_obj_getn(place->parent, place->token.text, place->token.len);
        return true;
    }
    if (!yyjson_mut_is_arr(place->parent) ||
        !parse_index(place->token.text, yyjson_mut_arr_size(place->parent), &place->index))
        return false;
    place->value = yyjson_mut_arr_get(place->parent, place->index);
    return true;
}

static void put(struct use *use, struct place *place, yyjson_mut_val *value)
{
    if (!place->parent)
        yyjson_mut_doc_set_root(use->doc, value);
    else if (yyjson_mut_is_obj(place->parent))
        yyjson_mut_obj_put(place->parent, yyjson_mut_strncpy(use->doc, place->token.text, place->token.len), value);
    else
        yyjson_mut_arr_insert(place->parent, value, place->index);
}

static yyjson_mut_val *take(struct place *place)
{
    if (!place->parent)
        return NULL;
    if (yyjson_mut_is_obj(place->parent))
        return yyjson_mut_obj_remove_keyn(place->parent, place->token.text, place->token.len);
    return yyjson_mut_arr_remove(place->parent, place->index);
}

static enum patch_result reject(struct err *err, const struct operation *operation, const char *path)
{
    (void)err_set(err, -1, "%s operation does not apply: there is nothing at path \"%s\"", operation->op, path);
    return PATCH_REJECTED;
}

static enum patch_result do_add(struct use *use, const struct operation *operation, struct place *place,
                                struct err *err)
{
    if (!find_place(use->doc, operation->path, place))
        return reject(err, operation, operation->path);
    put(use, place, yyjson_val_mut_copy(use->doc, operation->value));
    return PATCH_DONE;
}

static enum patch_result do_remove(struct use *use, const struct operation *operation, struct place *place,
                                   struct err *err)
{
    if (!find_place(use->doc, operation->path, place) || !place->value || !take(place))
        return reject(err, operation, operation->path);
    return PATCH_DONE;
}

static enum patch_result do_replace(struct use *use, const struct operation *operation, struct place *place,
                                    struct err *err)
{
    /* The API server replaces a member that an object does not have by adding it. */
    if (!find_place(use->doc, operation->path, place) || (!place->value && !yyjson_mut_is_obj(place->parent)))
        return reject(err, operation, operation->path);
    if (place->parent && place->value)
        (void)take(place);
    put(use, place, yyjson_val_mut_copy(use->doc, operation->value));
    return PATCH_DONE;
}

/* Whether `inner` is at or below `outer`. */
static bool is_within(const char *inner, const char *outer)
{
    size_t len = strlen(outer);

    return strncmp(inner, outer, len) == 0 && (inner[len] == '\0' || inner[len] == '/');
}

static enum patch_result do_move(struct use *use, const struct operation *operation, struct place *place,
                                 struct err *err)
{
    if (strcmp(operation->from, operation->path) != 0 && is_within(operation->path, operation->from)) {
        (void)err_set(err, -1, "move operation does not apply: \"%s\" is within \"%s\"", operation->path,
                      operation->from);
        return PATCH_REJECTED;
    }
    if (!find_place(use->doc, operation->from, place) || !place->value)
        return reject(err, operation, operation->from);
    yyjson_mut_val *value = take(place);
    if (!value || !find_place(use->doc, operation->path, place))
        return reject(err, operation, operation->path);
    put(use, place, value);
    return PATCH_DONE;
}

static enum patch_result do_copy(struct use *use, const struct operation *operation, struct place *place,
                                 struct err *err)
{
    size_t len = 0;

    if (!find_place(use->doc, operation->from, place) || !place->value)
        return reject(err, operation, operation->from);
    yyjson_mut_val *value = place->value;
    char *text = yyjson_mut_val_write(value, YYJSON_WRITE_NOFLAG, &len);
    free(text);
    use->copied += len;
    if (use->copied > PATCH_COPY_BYTES_MAX) {
        (void)err_set(err, -1, "the copy operations of the patch add more than %d bytes", PATCH_COPY_BYTES_MAX);
        return PATCH_TOO_LARGE;
    }
    if (!find_place(use->doc, operation->path, place))
        return reject(err, operation, operation->path);
    put(use, place, yyjson_mut_val_mut_copy(use->doc, value));
    return PATCH_DONE;
}

static enum patch_result do_test(struct use *use, const struct operation *operation, struct place *place,
                                 struct err *err)
{
    yyjson_mut_val *expected = yyjson_val_mut_copy(use->doc, operation->value);

    if (!find_place(use->doc, operation->path, place))
        return reject(err, operation, operation->path);
    /* What is not there equals null, as for the API server. */
    bool is_equal = place->value ? yyjson_mut_equals(place->value, expected) : yyjson_mut_is_null(expected);
    if (is_equal)
        return PATCH_DONE;
    (void)err_set(err, -1, "testing path \"%s\" failed: the value is different", operation->path);
    return PATCH_REJECTED;
}

static const struct {
    const char *name;
    bool needs_value;
    bool needs_from;
    enum patch_result (*run)(struct use *use, const struct operation *operation, struct place *place, struct err *err);
} operations[] = {
    {"add", true, false, do_add},   {"remove", false, false, do_remove}, {"replace", true, false, do_replace},
    {"move", false, true, do_move}, {"copy", false, true, do_copy},      {"test", true, false, do_test},
};

/* A pointer is empty or begins with a slash. */
static bool is_pointer(const char *text)
{
    return text && (text[0] == '\0' || text[0] == '/');
}

static enum patch_result run_operation(struct use *use, yyjson_val *item, struct place *place, struct err *err)
{
    const struct operation operation = {
        .op = yyjson_get_str(yyjson_obj_get(item, "op")),
        .path = yyjson_get_str(yyjson_obj_get(item, "path")),
        .from = yyjson_get_str(yyjson_obj_get(item, "from")),
        .value = yyjson_obj_get(item, "value"),
    };

    if (!operation.op || !is_pointer(operation.path)) {
        (void)err_set(err, -1, "an operation of a JSON patch needs \"op\" and a \"path\" that begins with \"/\"");
        return PATCH_MALFORMED;
    }
    for (size_t i = 0; i < ARRAY_LEN(operations); i++) {
        if (strcmp(operations[i].name, operation.op) != 0)
            continue;
        if ((operations[i].needs_value && !operation.value) ||
            (operations[i].needs_from && !is_pointer(operation.from))) {
            (void)err_set(err, -1, "the operation \"%s\" of a JSON patch needs \"%s\"", operation.op,
                          operations[i].needs_value ? "value" : "from");
            return PATCH_MALFORMED;
        }
        return operations[i].run(use, &operation, place, err);
    }
    (void)err_set(err, -1, "unknown JSON patch operation \"%.40s\": expected add, remove, replace, move, copy or test",
                  operation.op);
    return PATCH_REJECTED;
}

enum patch_result patch_json(yyjson_mut_doc *doc, yyjson_val *patch, struct err *err)
{
    struct use use = {.doc = doc};
    struct place place = {0};
    enum patch_result result = PATCH_DONE;
    size_t index, count;
    yyjson_val *item;

    if (!yyjson_is_arr(patch)) {
        (void)err_set(err, -1, "a JSON patch must be an array of operations");
        return PATCH_MALFORMED;
    }
    if (yyjson_arr_size(patch) > PATCH_OPERATIONS_MAX) {
        (void)err_set(err, -1, "the allowed maximum operations in a JSON patch is %d, got %zu", PATCH_OPERATIONS_MAX,
                      yyjson_arr_size(patch));
        return PATCH_TOO_LARGE;
    }
    strbuf_init(&place.token, TOKEN_MAX);
    yyjson_arr_foreach(patch, index, count, item)
    {
        result = run_operation(&use, item, &place, err);
        if (result != PATCH_DONE)
            break;
    }
    strbuf_done(&place.token);
    return result;
}
