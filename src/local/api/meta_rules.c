/* SPDX-License-Identifier: Apache-2.0 */
#include "local/api/meta_rules.h"

#include <ctype.h>
#include <string.h>

#include "base/strbuf.h"
#include "local/api/kinds.h"
#include "local/api/meta.h"
#include "local/api/names.h"
#include "local/api/problems.h"

enum { ANNOTATIONS_BYTES_MAX = 256 << 10, TEXT_MAX = 4096 };

#define LABEL_WORDS                                                                                                 \
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end " \
    "with "                                                                                                         \
    "an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "                       \
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
#define SUBDOMAIN_WORDS                                                                                              \
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start " \
    "and end with an alphanumeric character (e.g. 'example.com', regex used for validation is "                      \
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
#define VALUE_WORDS                                                                                                   \
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start "   \
    "and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation " \
    "is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
#define KEY_WORDS                                                                                         \
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an " \
    "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "  \
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"

/* The names of roles may hold almost anything, those of namespaces and services are parts of host names. */
static void check_name(const struct api_kind *kind, const char *name, struct problems *problems)
{
    const struct field meta = field_member(NULL, "metadata");
    bool is_role = strcmp(kind->group, "rbac.authorization.k8s.io") == 0;
    bool is_label = !*kind->group && (strcmp(kind->plural, "namespaces") == 0 || strcmp(kind->plural, "services") == 0);

    if (is_role)
        return;
    if (is_label && strlen(name) > LABEL_NAME_BYTES_MAX)
        problem_invalid_text(problems, FIELD(&meta, "name"), name, "must be no more than 63 characters");
    else if (is_label && !name_is_label(name))
        problem_invalid_text(problems, FIELD(&meta, "name"), name, LABEL_WORDS);
    else if (!is_label && strlen(name) > NAME_BYTES_MAX)
        problem_invalid_text(problems, FIELD(&meta, "name"), name, "must be no more than 253 characters");
    else if (!is_label && !name_is_subdomain(name))
        problem_invalid_text(problems, FIELD(&meta, "name"), name, SUBDOMAIN_WORDS);
}

static bool is_word(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        bool is_edge = i == 0 || i + 1 == len;
        if (!isalnum((unsigned char)text[i]) && (is_edge || !strchr("-_.", text[i])))
            return false;
    }
    return len > 0;
}

/* "name" or "prefix/name". */
static const char *fault_of_key(const char *key)
{
    const char *slash = strchr(key, '/');
    const char *name = slash ? slash + 1 : key;

    if (strlen(name) > LABEL_NAME_BYTES_MAX)
        return "name part must be no more than 63 characters";
    if (!is_word(name, strlen(name)))
        return KEY_WORDS;
    if (!slash)
        return NULL;
    char prefix[NAME_BYTES_MAX + 1];
    size_t len = (size_t)(slash - key);

    if (len == 0)
        return "prefix part must be non-empty";
    if (len > NAME_BYTES_MAX)
        return "prefix part must be no more than 253 characters";
    memcpy(prefix, key, len);
    prefix[len] = '\0';
    return name_is_subdomain(prefix) ? NULL : "prefix part " SUBDOMAIN_WORDS;
}

static const char *fault_of_value(const char *value)
{
    if (strlen(value) > LABEL_NAME_BYTES_MAX)
        return "must be no more than 63 characters";
    return !*value || is_word(value, strlen(value)) ? NULL : VALUE_WORDS;
}

static void check_labels(yyjson_mut_val *labels, struct problems *problems)
{
    const struct field meta = field_member(NULL, "metadata");
    yyjson_mut_obj_iter iter = yyjson_mut_obj_iter_with(labels);

    for (yyjson_mut_val *key; (key = yyjson_mut_obj_iter_next(&iter));) {
        const char *name = yyjson_mut_get_str(key);
        const char *value = yyjson_mut_get_str(yyjson_mut_obj_iter_get_val(key));
        const char *fault = fault_of_key(name);
        if (fault)
            problem_invalid_text(problems, FIELD(&meta, "labels"), name, fault);
        fault = fault_of_value(value ? value : "");
        if (fault)
            problem_invalid_text(problems, FIELD(&meta, "labels"), value, fault);
    }
}

static void check_annotations(yyjson_mut_val *annotations, struct problems *problems)
{
    const struct field meta = field_member(NULL, "metadata");
    yyjson_mut_obj_iter iter = yyjson_mut_obj_iter_with(annotations);
    size_t bytes = 0;

    for (yyjson_mut_val *key; (key = yyjson_mut_obj_iter_next(&iter));) {
        const char *fault = fault_of_key(yyjson_mut_get_str(key));
        bytes += yyjson_mut_get_len(key) + yyjson_mut_get_len(yyjson_mut_obj_iter_get_val(key));
        if (fault)
            problem_invalid_text(problems, FIELD(&meta, "annotations"), yyjson_mut_get_str(key), fault);
    }
    if (bytes > ANNOTATIONS_BYTES_MAX)
        problem_too_long(problems, FIELD(&meta, "annotations"), ANNOTATIONS_BYTES_MAX);
}

static bool has_item(yyjson_mut_val *list, yyjson_mut_val *wanted)
{
    yyjson_mut_arr_iter iter = yyjson_mut_arr_iter_with(list);

    for (yyjson_mut_val *item; (item = yyjson_mut_arr_iter_next(&iter));) {
        if (yyjson_mut_equals(item, wanted))
            return true;
    }
    return false;
}

/* An object that is being deleted gets no more finalizers. */
static void check_finalizers(yyjson_mut_val *now, yyjson_mut_val *before, struct problems *problems)
{
    const struct field meta = field_member(NULL, "metadata");
    yyjson_mut_arr_iter iter = yyjson_mut_arr_iter_with(now);
    struct strbuf text;
    size_t count = 0;

    strbuf_init(&text, TEXT_MAX);
    strbuf_addstr(&text,
                  "no new finalizers can be added if the object is being deleted, found new finalizers []string{");
    for (yyjson_mut_val *item; (item = yyjson_mut_arr_iter_next(&iter));) {
        if (!has_item(before, item))
            strbuf_addf(&text, "%s\"%s\"", count++ ? ", " : "", yyjson_mut_get_str(item));
    }
    strbuf_addch(&text, '}');
    if (count > 0)
        problem_forbidden(problems, FIELD(&meta, "finalizers"), text.text);
    strbuf_done(&text);
}

static yyjson_mut_val *member(yyjson_mut_doc *doc, const char *name)
{
    return yyjson_mut_obj_get(yyjson_mut_obj_get(yyjson_mut_doc_get_root(doc), "metadata"), name);
}

void meta_validate(const struct api_kind *kind, yyjson_mut_doc *doc, yyjson_mut_doc *old, struct problems *problems)
{
    if (!old)
        check_name(kind, meta_text(doc, "name"), problems);
    check_annotations(member(doc, "annotations"), problems);
    check_labels(member(doc, "labels"), problems);
    if (old && meta_has(old, "deletionTimestamp"))
        check_finalizers(member(doc, "finalizers"), member(old, "finalizers"), problems);
}
