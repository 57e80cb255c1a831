/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The API server moves what all versions of a definition have in common out of them before it looks, and names fields
 * accordingly: a schema that all versions share is at spec.validation, one that differs at spec.versions[1].schema.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/strbuf.h"
#include "base/strmap.h"
#include "local/api/meta.h"
#include "local/api/names.h"
#include "local/api/problems.h"
#include "local/custom/definition_fields_internal.h"
#include "local/custom/definitions_internal.h"
#include "local/custom/schema.h"

#define LABEL_SHAPE                                                                                                   \
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic "           \
    "character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is " \
    "'[a-z]([-a-z0-9]*[a-z0-9])?')"
#define SUBDOMAIN_SHAPE                                                                                              \
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start " \
    "and end with an alphanumeric character (e.g. 'example.com', regex used for validation is "                      \
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"

/* --- Defaults --- */

static void put_default(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *member, const char *text)
{
    if (!*definition_text(object, member))
        yyjson_mut_obj_put(object, yyjson_mut_strcpy(doc, member), yyjson_mut_strcpy(doc, text));
}

void definition_default(yyjson_mut_doc *doc)
{
    yyjson_mut_val *spec = definition_spec(doc);
    yyjson_mut_val *names = yyjson_mut_obj_get(spec, "names");
    const char *kind = definition_text(names, "kind");
    struct strbuf text;

    if (!yyjson_mut_is_obj(spec))
        return;
    strbuf_init(&text, 1024);
    if (yyjson_mut_is_obj(names) && *kind) {
        for (const char *at = kind; *at; at++)
            strbuf_addch(&text, (char)tolower((unsigned char)*at));
        put_default(doc, names, "singular", text.text);
        strbuf_clear(&text);
        strbuf_addf(&text, "%sList", kind);
        put_default(doc, names, "listKind", text.text);
    }
    strbuf_done(&text);
    yyjson_mut_val *conversion = yyjson_mut_obj_get(spec, "conversion");
    if (!yyjson_mut_is_obj(conversion)) {
        conversion = yyjson_mut_obj(doc);
        yyjson_mut_obj_put(spec, yyjson_mut_str(doc, "conversion"), conversion);
    }
    put_default(doc, conversion, "strategy", "None");
}

/* --- Names --- */

static void check_label(const char *text, const char *before, const struct field *field, struct problems *problems)
{
    struct strbuf lower, detail;

    strbuf_init(&lower, 1024);
    strbuf_init(&detail, 1024);
    /* Kinds may have capital letters. */
    strbuf_addstr(&lower, text);
    for (size_t i = 0; *before && i < lower.len; i++)
        lower.text[i] = (char)tolower((unsigned char)lower.text[i]);
    if (strlen(text) > LABEL_NAME_BYTES_MAX)
        strbuf_addf(&detail, "%smust be no more than %d characters", before, LABEL_NAME_BYTES_MAX);
    else if (!name_is_label(lower.text) || isdigit((unsigned char)*lower.text))
        strbuf_addf(&detail, "%s%s", before, LABEL_SHAPE);
    if (detail.len)
        problem_invalid_text(problems, field, text, detail.text);
    strbuf_done(&lower);
    strbuf_done(&detail);
}

static void check_label_list(yyjson_mut_val *names, const char *member, const struct field *field,
                             struct problems *problems)
{
    const struct field here = field_member(field, member);
    yyjson_mut_arr_iter iter = yyjson_mut_arr_iter_with(yyjson_mut_obj_get(names, member));
    yyjson_mut_val *item;

    for (size_t i = 0; (item = yyjson_mut_arr_iter_next(&iter)); i++) {
        const struct field at = field_item(&here, i);
        if (yyjson_mut_is_str(item))
            check_label(yyjson_mut_get_str(item), "", &at, problems);
    }
}

static void check_names(yyjson_mut_val *names, const struct field *spec, struct problems *problems)
{
    static const struct {
        const char *member;
        const char *before;
    } single[] = {
        {"plural", ""},
        {"singular", ""},
        {"kind", "may have mixed case, but should otherwise match: "},
        {"listKind", "may have mixed case, but should otherwise match: "},
    };
    const struct field here = field_member(spec, "names");

    for (size_t i = 0; i < ARRAY_LEN(single); i++)
        if (!*definition_text(names, single[i].member))
            problem_required(problems, FIELD(&here, single[i].member), "");
    for (size_t i = 0; i < ARRAY_LEN(single); i++)
        if (*definition_text(names, single[i].member))
            check_label(definition_text(names, single[i].member), single[i].before, FIELD(&here, single[i].member),
                        problems);
    check_label_list(names, "shortNames", &here, problems);
    if (*definition_text(names, "kind") &&
        strcmp(definition_text(names, "kind"), definition_text(names, "listKind")) == 0)
        problem_invalid_text(problems, FIELD(&here, "listKind"), definition_text(names, "listKind"),
                             "kind and listKind may not be the same");
    check_label_list(names, "categories", &here, problems);
}

/* The groups of Kubernetes itself are not for everybody. */
static bool is_protected(const char *group)
{
    static const char *const suffixes[] = {"k8s.io", "kubernetes.io"};

    for (size_t i = 0; i < ARRAY_LEN(suffixes); i++) {
        size_t len = strlen(group), suffix = strlen(suffixes[i]);
        if (len >= suffix && strcmp(group + len - suffix, suffixes[i]) == 0 &&
            (len == suffix || group[len - suffix - 1] == '.'))
            return true;
    }
    return false;
}

static void check_group(yyjson_mut_val *spec, const struct field *field, struct problems *problems)
{
    const char *group = definition_text(spec, "group");
    const struct field here = field_member(field, "group");

    if (!*group)
        problem_required(problems, &here, "");
    else if (!name_is_subdomain(group))
        problem_invalid_text(problems, &here, group, SUBDOMAIN_SHAPE);
    else if (!strchr(group, '.'))
        problem_invalid_text(problems, &here, group, "should be a domain with at least one dot");
}

static void check_name(yyjson_mut_doc *doc, struct problems *problems)
{
    yyjson_mut_val *spec = definition_spec(doc);
    const struct field metadata = field_member(NULL, "metadata");
    struct strbuf wanted;

    strbuf_init(&wanted, 1024);
    strbuf_addf(&wanted, "%s.%s", definition_text(yyjson_mut_obj_get(spec, "names"), "plural"),
                definition_text(spec, "group"));
    if (strcmp(wanted.text, meta_text(doc, "name")) != 0)
        problem_invalid_text(problems, FIELD(&metadata, "name"), meta_text(doc, "name"),
                             "must be spec.names.plural+\".\"+spec.group");
    strbuf_done(&wanted);
}

static void check_approval(yyjson_mut_doc *doc, struct problems *problems)
{
    static const char approval[] = "api-approved.kubernetes.io";
    const struct field metadata = field_member(NULL, "metadata");
    const struct field annotations = field_member(&metadata, "annotations");
    const struct field here = field_key(&annotations, approval);
    yyjson_mut_val *set =
        yyjson_mut_obj_get(yyjson_mut_obj_get(yyjson_mut_doc_get_root(doc), "metadata"), "annotations");

    if (is_protected(definition_text(definition_spec(doc), "group")) && !*definition_text(set, approval))
        problem_required(problems, &here,
                         "protected groups must have approval annotation \"api-approved.kubernetes.io\", see "
                         "https://github.com/kubernetes/enhancements/pull/1111");
}

/* --- Versions --- */

/* Whether all versions have the same there, or the same nothing. */
static bool is_shared(yyjson_mut_val *versions, const char *member)
{
    yyjson_mut_arr_iter iter = yyjson_mut_arr_iter_with(versions);
    yyjson_mut_val *first = yyjson_mut_obj_get(yyjson_mut_arr_get_first(versions), member);

    for (yyjson_mut_val *version; (version = yyjson_mut_arr_iter_next(&iter));) {
        yyjson_mut_val *value = yyjson_mut_obj_get(version, member);
        if (!value != !first || (value && !yyjson_mut_equals(value, first)))
            return false;
    }
    return true;
}

/* The versions as the API server shows them: in its own form, without what they share. */
static void show_versions(yyjson_mut_val *versions, struct strbuf *text)
{
    yyjson_mut_arr_iter iter = yyjson_mut_arr_iter_with(versions);
    bool is_first = true;

    if (!yyjson_mut_is_arr(versions)) {
        strbuf_addstr(text, "null");
        return;
    }
    strbuf_addch(text, '[');
    for (yyjson_mut_val *version; (version = yyjson_mut_arr_iter_next(&iter)); is_first = false)
        strbuf_addf(
            text,
            "%s{\"Name\":\"%s\",\"Served\":%s,\"Storage\":%s,\"Deprecated\":%s,\"DeprecationWarning\":null,"
            "\"Schema\":null,\"Subresources\":null,\"AdditionalPrinterColumns\":null,\"SelectableFields\":null}",
            is_first ? "" : ",", definition_text(version, "name"),
            definition_is_true(version, "served") ? "true" : "false",
            definition_is_true(version, "storage") ? "true" : "false",
            definition_is_true(version, "deprecated") ? "true" : "false");
    strbuf_addch(text, ']');
}

static void report_versions(yyjson_mut_val *versions, const struct field *field, const char *detail,
                            struct problems *problems)
{
    struct strbuf text;

    strbuf_init(&text, PROBLEM_BYTES_MAX);
    strbuf_addstr(&text, "Invalid value: ");
    show_versions(versions, &text);
    strbuf_addf(&text, ": %s", detail);
    problem_add(problems, PROBLEM_INVALID, field, text.text);
    strbuf_done(&text);
}

static void check_version_list(yyjson_mut_val *spec, const struct field *field, struct problems *problems)
{
    yyjson_mut_val *versions = yyjson_mut_obj_get(spec, "versions");
    const struct field here = field_member(field, "versions");
    yyjson_mut_arr_iter iter = yyjson_mut_arr_iter_with(versions);
    struct strmap names = {0};
    yyjson_mut_val *version;
    size_t stored = 0;

    for (size_t i = 0; (version = yyjson_mut_arr_iter_next(&iter)); i++) {
        const struct field at = field_item(&here, i);
        const char *name = definition_text(version, "name");
        stored += definition_is_true(version, "storage");
        (void)strmap_put(&names, "", name, version);
        check_label(name, "", FIELD(&at, "name"), problems);
        if (*definition_text(version, "deprecationWarning") && !definition_is_true(version, "deprecated"))
            problem_invalid_text(problems, FIELD(&at, "deprecationWarning"),
                                 definition_text(version, "deprecationWarning"),
                                 "can only be set for deprecated versions");
    }
    if (names.len < yyjson_mut_arr_size(versions))
        report_versions(versions, &here, "must contain unique version names", problems);
    if (stored != 1)
        report_versions(versions, &here, "must have exactly one version marked as storage version", problems);
    if (yyjson_mut_arr_size(versions))
        check_label(definition_text(yyjson_mut_arr_get_first(versions), "name"), "", FIELD(field, "version"), problems);
    strmap_done(&names);
}

/* --- What a version has --- */

static void check_columns(yyjson_mut_val *columns, const struct field *field, struct problems *problems)
{
    static const char types[] = "boolean date integer number string";
    const struct field here = field_member(field, "additionalPrinterColumns");
    yyjson_mut_arr_iter iter = yyjson_mut_arr_iter_with(columns);
    yyjson_mut_val *column;

    for (size_t i = 0; (column = yyjson_mut_arr_iter_next(&iter)); i++) {
        const struct field at = field_item(&here, i);
        const char *type = definition_text(column, "type");
        const char *path = definition_text(column, "jsonPath");
        if (!*definition_text(column, "name"))
            problem_required(problems, FIELD(&at, "name"), "");
        if (!*type)
            problem_required(problems, FIELD(&at, "type"), "must be one of boolean,date,integer,number,string");
        else if (!kind_list_has(types, type))
            problem_invalid_text(problems, FIELD(&at, "type"), type,
                                 "must be one of boolean,date,integer,number,string");
        if (!*path)
            problem_required(problems, FIELD(&at, "JSONPath"), "");
        else if (*path != '.')
            problem_invalid_text(problems, FIELD(&at, "JSONPath"), path, "must be a simple json path starting with .");
    }
}

static bool is_below(const char *path, const char *prefix)
{
    return strncmp(path, prefix, strlen(prefix)) == 0;
}

static void check_scale(yyjson_mut_val *scale, const struct field *field, struct problems *problems)
{
    const struct field subresources = field_member(field, "subresources");
    const struct field here = field_member(&subresources, "scale");
    const char *wanted = definition_text(scale, "specReplicasPath");
    const char *present = definition_text(scale, "statusReplicasPath");
    const char *selector = definition_text(scale, "labelSelectorPath");

    if (!yyjson_mut_is_obj(scale))
        return;
    if (!*wanted)
        problem_required(problems, FIELD(&here, "specReplicasPath"), "");
    else if (!is_below(wanted, ".spec."))
        problem_invalid_text(problems, FIELD(&here, "specReplicasPath"), wanted, "should be a json path under .spec");
    if (!*present)
        problem_required(problems, FIELD(&here, "statusReplicasPath"), "");
    else if (!is_below(present, ".status."))
        problem_invalid_text(problems, FIELD(&here, "statusReplicasPath"), present,
                             "should be a json path under .status");
    if (*selector && !is_below(selector, ".spec.") && !is_below(selector, ".status."))
        problem_invalid_text(problems, FIELD(&here, "labelSelectorPath"), selector,
                             "should be a json path under either .spec or .status");
}

/* Whether the schema has a plain value at ".spec.a.b". */
static bool leads_to_value(const struct schema *schema, const char *path)
{
    const struct schema_node *node = schema ? schema_root(schema) : NULL;
    char name[256];
    bool is_named = true;

    while (*path == '.' && node && is_named) {
        size_t len = strcspn(++path, ".");
        if (len >= sizeof name)
            return false;
        memcpy(name, path, len);
        name[len] = '\0';
        path += len;
        node = schema_member(node, name, &is_named);
    }
    return node && is_named && *path == '\0' && schema_is_plain(node);
}

static void check_selectable(yyjson_mut_val *fields, const struct schema *schema, const struct field *field,
                             struct problems *problems)
{
    const struct field here = field_member(field, "selectableFields");
    yyjson_mut_arr_iter iter = yyjson_mut_arr_iter_with(fields);
    struct strmap seen = {0};
    struct strbuf text;
    yyjson_mut_val *item;

    strbuf_init(&text, 1024);
    for (size_t i = 0; (item = yyjson_mut_arr_iter_next(&iter)); i++) {
        const struct field at = field_item(&here, i);
        const char *path = definition_text(item, "jsonPath");
        const struct field at_path = field_member(&at, "jsonPath");
        strbuf_clear(&text);
        if (!*path)
            problem_required(problems, &at_path, "");
        else if (*path != '.') {
            strbuf_addf(&text, "is an invalid path: expected [ or . but got: %.*s", (int)strcspn(path, "."), path);
            problem_invalid_text(problems, &at_path, path, text.text);
        } else if (strncmp(path, ".metadata", 9) == 0 || !leads_to_value(schema, path))
            problem_invalid_text(problems, &at_path, path, "is an invalid path: does not refer to a valid field");
        else if (strmap_put(&seen, "", path, item))
            problem_duplicate(problems, &at_path, yyjson_mut_obj_get(item, "jsonPath"));
    }
    strbuf_done(&text);
    strmap_done(&seen);
}

/* Where the parts of versions are that they share, and where those that differ. */
struct places {
    const struct field *spec;
    const struct field *version;
    bool shares_schema, shares_scale, shares_columns, shares_fields;
};

static void check_version(yyjson_mut_val *version, const struct places *places, bool is_first,
                          struct problems *problems)
{
    const struct field validation = field_member(places->spec, "validation");
    const struct field own = field_member(places->version, "schema");
    yyjson_mut_val *openapi = definition_schema(version);
    const struct field schema_field = field_member(places->shares_schema ? &validation : &own, "openAPIV3Schema");
    struct problems unheard = {0};
    struct schema *schema = NULL;

    /* What is shared is reported once. */
    if (openapi)
        schema = schema_compile(openapi, &schema_field, is_first || !places->shares_schema ? problems : &unheard);
    else
        problem_required(problems, FIELD(&own, "openAPIV3Schema"), "");
    if (is_first || !places->shares_scale)
        check_scale(yyjson_mut_obj_get(yyjson_mut_obj_get(version, "subresources"), "scale"),
                    places->shares_scale ? places->spec : places->version, problems);
    if (is_first || !places->shares_columns)
        check_columns(yyjson_mut_obj_get(version, "additionalPrinterColumns"),
                      places->shares_columns ? places->spec : places->version, problems);
    if (is_first || !places->shares_fields)
        check_selectable(yyjson_mut_obj_get(version, "selectableFields"), schema,
                         places->shares_fields ? places->spec : places->version, problems);
    schema_free(schema);
    problems_done(&unheard);
}

static void check_versions(yyjson_mut_val *spec, const struct field *field, struct problems *problems)
{
    yyjson_mut_val *versions = yyjson_mut_obj_get(spec, "versions");
    const struct field here = field_member(field, "versions");
    struct places places = {
        .spec = field,
        .shares_schema = is_shared(versions, "schema"),
        .shares_scale = is_shared(versions, "subresources"),
        .shares_columns = is_shared(versions, "additionalPrinterColumns"),
        .shares_fields = is_shared(versions, "selectableFields"),
    };
    yyjson_mut_arr_iter iter = yyjson_mut_arr_iter_with(versions);
    yyjson_mut_val *version;

    for (size_t i = 0; (version = yyjson_mut_arr_iter_next(&iter)); i++) {
        const struct field at = field_item(&here, i);
        places.version = &at;
        check_version(version, &places, i == 0, problems);
    }
}

/* --- The rest --- */

static void check_conversion(yyjson_mut_val *spec, const struct field *field, struct problems *problems)
{
    yyjson_mut_val *conversion = yyjson_mut_obj_get(spec, "conversion");
    yyjson_mut_val *strategy = yyjson_mut_obj_get(conversion, "strategy");
    yyjson_mut_val *webhook = yyjson_mut_obj_get(conversion, "webhook");
    const struct field here = field_member(field, "conversion");

    if (yyjson_mut_equals_str(strategy, "None"))
        return;
    if (!yyjson_mut_equals_str(strategy, "Webhook")) {
        problem_not_supported(problems, FIELD(&here, "strategy"), strategy, "None Webhook");
        return;
    }
    if (!yyjson_mut_is_obj(yyjson_mut_obj_get(webhook, "clientConfig")))
        problem_required(problems, FIELD(&here, "webhookClientConfig"), "required when strategy is set to Webhook");
    if (!yyjson_mut_arr_size(yyjson_mut_obj_get(webhook, "conversionReviewVersions")))
        problem_required(problems, FIELD(&here, "conversionReviewVersions"), "");
}

static void check_scope(yyjson_mut_val *spec, const struct field *field, struct problems *problems)
{
    const char *scope = definition_text(spec, "scope");
    const struct field here = field_member(field, "scope");

    if (!*scope)
        problem_required(problems, &here, "");
    else if (strcmp(scope, "Cluster") != 0 && strcmp(scope, "Namespaced") != 0)
        problem_not_supported(problems, &here, yyjson_mut_obj_get(spec, "scope"), "Cluster Namespaced");
}

static void check_unchanged(yyjson_mut_val *now, yyjson_mut_val *before, const char *member, const struct field *field,
                            struct problems *problems)
{
    yyjson_mut_val *value = yyjson_mut_obj_get(now, member);

    if (!yyjson_mut_equals(value, yyjson_mut_obj_get(before, member)))
        problem_invalid(problems, FIELD(field, member), value, "field is immutable");
}

static void check_update(yyjson_mut_doc *doc, yyjson_mut_doc *old, struct problems *problems)
{
    yyjson_mut_val *spec = definition_spec(doc), *before = definition_spec(old);
    const struct field here = field_member(NULL, "spec");
    const struct field names = field_member(&here, "names");

    if (definition_is_established(old)) {
        check_unchanged(spec, before, "scope", &here, problems);
        check_unchanged(yyjson_mut_obj_get(spec, "names"), yyjson_mut_obj_get(before, "names"), "kind", &names,
                        problems);
    }
    check_unchanged(spec, before, "group", &here, problems);
    check_unchanged(yyjson_mut_obj_get(spec, "names"), yyjson_mut_obj_get(before, "names"), "plural", &names, problems);
}

static bool has_version(yyjson_mut_val *versions, const char *name)
{
    yyjson_mut_arr_iter iter = yyjson_mut_arr_iter_with(versions);

    for (yyjson_mut_val *version; (version = yyjson_mut_arr_iter_next(&iter));)
        if (strcmp(definition_text(version, "name"), name) == 0)
            return true;
    return false;
}

/* Objects may still be stored in a version until it has been taken out of the status. */
static void check_stored(yyjson_mut_doc *doc, yyjson_mut_val *stored, struct problems *problems)
{
    const struct field status = field_member(NULL, "status");
    const struct field here = field_member(&status, "storedVersions");
    yyjson_mut_arr_iter iter = yyjson_mut_arr_iter_with(stored);
    struct strbuf text;
    yyjson_mut_val *item;

    strbuf_init(&text, 1024);
    for (size_t i = 0; (item = yyjson_mut_arr_iter_next(&iter)); i++) {
        const char *name = yyjson_mut_get_str(item);
        const struct field at = field_item(&here, i);
        if (!name || has_version(definition_versions(doc), name))
            continue;
        strbuf_clear(&text);
        strbuf_addf(&text,
                    "missing from spec.versions; %s was previously a storage version, and must remain in spec.versions "
                    "until a storage migration ensures no data remains persisted in %s and removes %s from "
                    "status.storedVersions",
                    name, name, name);
        problem_invalid_text(problems, &at, name, text.text);
    }
    strbuf_done(&text);
}

/* The first version that is marked is the one that objects of a new definition are stored in. */
static void check_storage(yyjson_mut_doc *doc, struct problems *problems)
{
    const struct field status = field_member(NULL, "status");
    const struct field here = field_member(&status, "storedVersions");
    yyjson_mut_arr_iter iter = yyjson_mut_arr_iter_with(definition_versions(doc));
    const char *first = NULL;
    struct strbuf text;

    strbuf_init(&text, 1024);
    for (yyjson_mut_val *version; (version = yyjson_mut_arr_iter_next(&iter));) {
        if (!definition_is_true(version, "storage"))
            continue;
        if (first && !text.len)
            strbuf_addf(&text, "Invalid value: [\"%s\"]: must have the storage version %s", first,
                        definition_text(version, "name"));
        first = first ? first : definition_text(version, "name");
    }
    if (!first)
        strbuf_addstr(&text, "Invalid value: null: must have at least one stored version");
    if (text.len)
        problem_add(problems, PROBLEM_INVALID, &here, text.text);
    strbuf_done(&text);
}

void definition_validate(yyjson_mut_doc *doc, yyjson_mut_doc *old, struct problems *problems)
{
    yyjson_mut_val *spec = definition_spec(doc);
    const struct field here = field_member(NULL, "spec");

    if (!old)
        check_name(doc, problems);
    check_group(spec, &here, problems);
    check_scope(spec, &here, problems);
    check_version_list(spec, &here, problems);
    check_names(yyjson_mut_obj_get(spec, "names"), &here, problems);
    check_versions(spec, &here, problems);
    check_conversion(spec, &here, problems);
    if (definition_is_true(spec, "preserveUnknownFields"))
        problem_invalid(
            problems, FIELD(&here, "preserveUnknownFields"), yyjson_mut_obj_get(spec, "preserveUnknownFields"),
            "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema "
            "instead");
    if (old) {
        check_update(doc, old, problems);
        check_stored(doc, yyjson_mut_obj_get(definition_status(old), "storedVersions"), problems);
    } else {
        check_storage(doc, problems);
        check_approval(doc, problems);
    }
}
