/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares the rules for built-in kinds with what a real API server said about the same objects: recorded.jsonl.gz has one
 * case a line. An object that was taken must come out equal; of one that was refused, the message must be the same. Prints
 * TAP; cases of the file given as second argument are known to differ.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/macros.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "local/api/kinds.h"
#include "local/api/meta.h"
#include "local/api/problems.h"
#include "local/builtin/builtin.h"
#include "text/file.h"

enum { FILE_BYTES_MAX = 64 << 20, MESSAGE_BYTES_MAX = 1 << 20 };

struct known {
    char *name;
    char *reason;
};

struct check {
    VEC(struct known) known;
    size_t count;
    size_t failed;
};

static yyjson_mut_doc *copy_of(yyjson_val *value)
{
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);

    yyjson_mut_doc_set_root(doc, yyjson_val_mut_copy(doc, value));
    return doc;
}

static void forget(yyjson_mut_doc *doc)
{
    static const char *const members[] = {"resourceVersion", "creationTimestamp", "managedFields"};

    for (size_t i = 0; i < ARRAY_LEN(members); i++)
        meta_remove(doc, members[i]);
}

/* Addresses of services are not the same, and the scheduler is ours. */
static void even_out(yyjson_mut_doc *doc)
{
    yyjson_mut_val *spec = yyjson_mut_obj_get(yyjson_mut_doc_get_root(doc), "spec");
    yyjson_mut_val *address = yyjson_mut_obj_get(spec, "clusterIP");

    if (yyjson_mut_is_str(address) && strncmp(yyjson_mut_get_str(address), "10.", 3) == 0) {
        yyjson_mut_set_str(address, "ADDRESS");
        yyjson_mut_set_str(yyjson_mut_arr_get_first(yyjson_mut_obj_get(spec, "clusterIPs")), "ADDRESS");
    }
}

static char *replace(char *text, const char *from, const char *to)
{
    struct strbuf out;
    const char *at = text;

    strbuf_init(&out, FILE_BYTES_MAX);
    for (const char *found; *from && (found = strstr(at, from)); at = found + strlen(from)) {
        strbuf_add(&out, at, (size_t)(found - at));
        strbuf_addstr(&out, to);
    }
    strbuf_addstr(&out, at);
    free(text);
    char *result = strbuf_take(&out);
    strbuf_done(&out);
    return result;
}

/* What our rules make of it: the message of a refusal, or "" and the document as it would be stored. */
static void judge(const struct api_kind *kind, yyjson_mut_doc *doc, yyjson_mut_doc *old, struct strbuf *message)
{
    struct field_faults faults = {0};
    struct problems problems = {0};
    struct err err = {0};

    if (builtin_check_fields(kind, doc, &faults, &err) < 0) {
        strbuf_addstr(message, err.text);
    } else if (faults.texts.len) {
        strbuf_addf(message, "%s in version \"%s\" cannot be handled as a %s: ", kind->kind, kind->version, kind->kind);
        field_faults_format(&faults, message);
    } else {
        yyjson_mut_val *root = yyjson_mut_doc_get_root(doc);
        yyjson_mut_val *status = strcmp(kind->plural, "nodes") == 0 ? yyjson_mut_obj_remove_key(root, "status") : NULL;
        if (!old)
            meta_stamp_new(doc, kind, 0);
        if (status)
            yyjson_mut_obj_add_val(doc, root, "status", status);
        builtin_default(kind, doc, old);
        builtin_clear_empty(kind, doc);
        builtin_prepare(kind, doc, old);
        if (old) {
            meta_stamp_update(doc, kind, old);
            meta_count_change(doc, kind, old);
        }
        builtin_validate(kind, doc, old, &problems);
        if (problems_any(&problems))
            problems_message(&problems, kind->group, kind->kind, meta_text(doc, "name"), message);
    }
    field_faults_done(&faults);
    problems_done(&problems);
}

/* The first member that differs. */
static bool is_equal(const char *path, yyjson_mut_val *found, yyjson_mut_val *expected)
{
    char below[256];

    if (yyjson_mut_equals(found, expected))
        return true;
    for (int side = 0; side < 2 && yyjson_mut_is_obj(found) && yyjson_mut_is_obj(expected); side++) {
        yyjson_mut_obj_iter iter = yyjson_mut_obj_iter_with(side ? found : expected);
        for (yyjson_mut_val *key; (key = yyjson_mut_obj_iter_next(&iter));) {
            const char *name = yyjson_mut_get_str(key);
            (void)snprintf(below, sizeof below, "%s.%s", path, name ? name : "");
            if (!is_equal(below, yyjson_mut_obj_get(found, name), yyjson_mut_obj_get(expected, name)))
                return false;
        }
    }
    for (size_t i = 0; yyjson_mut_is_arr(found) && i < yyjson_mut_arr_size(expected); i++) {
        (void)snprintf(below, sizeof below, "%s[%zu]", path, i);
        if (!is_equal(below, yyjson_mut_arr_get(found, i), yyjson_mut_arr_get(expected, i)))
            return false;
    }
    _cleanup_(freep) char *is = found ? yyjson_mut_val_write(found, 0, NULL) : NULL;
    _cleanup_(freep) char *should = expected ? yyjson_mut_val_write(expected, 0, NULL) : NULL;
    printf("# %s\n# found:    %.300s\n# expected: %.300s\n", path, is ? is : "nothing", should ? should : "nothing");
    return false;
}

static bool is_same_object(yyjson_mut_doc *doc, yyjson_val *result)
{
    char *text;

    forget(doc);
    even_out(doc);
    text = replace(yyjson_mut_write(doc, 0, NULL), meta_text(doc, "uid"), "UID");
    yyjson_doc *read = yyjson_read(text, strlen(text), 0);
    yyjson_mut_doc *found = copy_of(yyjson_doc_get_root(read));
    yyjson_mut_doc *expected = copy_of(result);
    even_out(expected);
    bool is_same = is_equal("object", yyjson_mut_doc_get_root(found), yyjson_mut_doc_get_root(expected));

    yyjson_doc_free(read);
    free(text);
    yyjson_mut_doc_free(found);
    yyjson_mut_doc_free(expected);
    return is_same;
}

static bool is_right(yyjson_val *line)
{
    const struct api_kind *kind = builtin_kind_find(yyjson_get_str(yyjson_obj_get(line, "group")), "v1",
                                                    yyjson_get_str(yyjson_obj_get(line, "plural")));
    const char *expected = yyjson_get_str(yyjson_obj_get(line, "message"));
    yyjson_val *old_value = yyjson_obj_get(line, "old");
    yyjson_mut_doc *doc = copy_of(yyjson_obj_get(line, "sent"));
    yyjson_mut_doc *old = old_value ? copy_of(old_value) : NULL;
    struct strbuf message;

    strbuf_init(&message, MESSAGE_BYTES_MAX);
    judge(kind, doc, old, &message);
    char *text = replace(xstrdup(message.text), old ? "" : meta_text(doc, "uid"), "UID");
    /* The API server shows how specifications differ on more lines; one line says what is wrong. */
    size_t expected_len = strcspn(expected, "\n");
    bool is_same = strlen(text) == expected_len && strncmp(text, expected, expected_len) == 0;
    if (!is_same)
        printf("# found:    %.900s\n# expected: %.900s\n", text, expected);
    else if (!*expected)
        is_same = is_same_object(doc, yyjson_obj_get(line, "result"));
    free(text);
    strbuf_done(&message);
    yyjson_mut_doc_free(doc);
    yyjson_mut_doc_free(old);
    return is_same;
}

static const char *known_reason(const struct check *check, const char *name)
{
    vec_foreach (&check->known, known)
        if (strcmp(known->name, name) == 0)
            return known->reason;
    return NULL;
}

static void try_case(struct check *check, const char *text)
{
    yyjson_doc *read = yyjson_read(text, strlen(text), 0);
    yyjson_val *line = yyjson_doc_get_root(read);
    const char *name = yyjson_get_str(yyjson_obj_get(line, "name"));
    const char *reason = known_reason(check, name);
    bool is_good = is_right(line);

    check->failed += is_good == (reason != NULL);
    printf("%s %zu - %s%s%s\n", is_good ? "ok" : "not ok", ++check->count, name, reason ? " # TODO " : "",
           reason ? reason : "");
    yyjson_doc_free(read);
}

/* Lines of a name, two spaces and a reason. */
static void read_known(struct check *check, char *text)
{
    char *rest = NULL;

    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        char *gap = strstr(line, "  ");
        if (!gap || *line == '#')
            continue;
        *gap = '\0';
        vec_push(&check->known, (struct known){line, gap + 2});
    }
}

int main(int argc, char **argv)
{
    _cleanup_(freep) char *text = NULL;
    _cleanup_(freep) char *known = NULL;
    struct check check = {0};
    struct err err = {0};
    size_t len;
    char *rest = NULL;

    if (argc != 3 || file_read(argv[1], FILE_BYTES_MAX, &text, &len, &err) < 0 ||
        file_read(argv[2], FILE_BYTES_MAX, &known, &len, &err) < 0) {
        printf("Bail out! %s\n", err.text);
        return 1;
    }
    read_known(&check, known);
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
        try_case(&check, line);
    printf("1..%zu\n", check.count);
    vec_done(&check.known);
    return check.failed > 0;
}
