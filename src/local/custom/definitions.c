/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All that a custom kind points to lies in the arena of its definition, which goes as a whole when the definition is put
 * again or dropped.
 */
#include "local/custom/definitions.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "base/vec.h"
#include "local/api/meta.h"
#include "local/api/problems.h"
#include "local/custom/definition_fields_internal.h"
#include "local/custom/definitions_internal.h"
#include "local/custom/schema.h"
#include "local/custom/value_path.h"

struct schema_list VEC_OF(struct schema *);
struct kind_list VEC_OF(struct custom_kind *);

struct definition {
    struct arena arena;
    const char *name;
    const char *group;
    const char *kinds_accepted;      // kind and listKind, separated by spaces
    const char *resources_accepted;  // plural, singular and short names, likewise
    struct kind_list kinds;
    struct schema_list schemas;
};

struct definitions {
    struct strmap by_name;
    struct kind_list served;
    uint64_t revision;
};

/* --- The preference of versions --- */

struct version_parts {
    bool is_kubernetes;  // v1, v1beta2
    int stability;       // 0 alpha, 1 beta, 2 neither
    unsigned long major, minor;
};

static struct version_parts version_parse(const char *version)
{
    struct version_parts parts = {.stability = 2};
    char *end;

    if (version[0] != 'v' || !isdigit((unsigned char)version[1]))
        return parts;
    parts.major = strtoul(version + 1, &end, 10);
    if (strncmp(end, "alpha", 5) == 0 || strncmp(end, "beta", 4) == 0) {
        parts.stability = *end == 'b';
        end += *end == 'b' ? 4 : 5;
        if (!isdigit((unsigned char)*end))
            return parts;
        parts.minor = strtoul(end, &end, 10);
    }
    parts.is_kubernetes = *end == '\0';
    return parts;
}

int version_compare(const char *a, const char *b)
{
    struct version_parts left = version_parse(a), right = version_parse(b);

    if (left.is_kubernetes != right.is_kubernetes)
        return left.is_kubernetes ? -1 : 1;
    if (!left.is_kubernetes)
        return strcmp(a, b);
    if (left.stability != right.stability)
        return right.stability - left.stability;
    if (left.major != right.major)
        return left.major > right.major ? -1 : 1;
    return left.minor == right.minor ? 0 : (left.minor > right.minor ? -1 : 1);
}

/* --- Reading a definition --- */

static const char *keep(struct definition *definition, yyjson_mut_val *object, const char *member)
{
    return arena_strdup(&definition->arena, definition_text(object, member));
}

static void add_word(struct strbuf *words, const char *word)
{
    if (word && *word)
        strbuf_addf(words, "%s%s", words->len ? " " : "", word);
}

static void add_words(struct strbuf *words, yyjson_mut_val *list)
{
    yyjson_mut_arr_iter iter = yyjson_mut_arr_iter_with(list);

    for (yyjson_mut_val *item; (item = yyjson_mut_arr_iter_next(&iter));)
        add_word(words, yyjson_mut_get_str(item));
}

/* The texts of a list, separated by spaces; NULL when there are none. */
static const char *keep_words(struct definition *definition, yyjson_mut_val *list)
{
    struct strbuf words;

    strbuf_init(&words, 1 << 20);
    add_words(&words, list);
    const char *kept = words.len ? arena_strdup(&definition->arena, words.text) : NULL;
    strbuf_done(&words);
    return kept;
}

static const char *keep_selectable(struct definition *definition, yyjson_mut_val *fields)
{
    struct strbuf words;
    yyjson_mut_arr_iter iter = yyjson_mut_arr_iter_with(fields);

    strbuf_init(&words, 1 << 20);
    for (yyjson_mut_val *item; (item = yyjson_mut_arr_iter_next(&iter));) {
        const char *path = definition_text(item, "jsonPath");
        add_word(&words, path + (*path == '.'));
    }
    const char *kept = words.len ? arena_strdup(&definition->arena, words.text) : NULL;
    strbuf_done(&words);
    return kept;
}

static void read_columns(struct definition *definition, struct custom_kind *kind, yyjson_mut_val *columns)
{
    size_t count = yyjson_mut_arr_size(columns);
    struct custom_column *list = arena_calloc(&definition->arena, count + 1, sizeof *list);
    yyjson_mut_arr_iter iter = yyjson_mut_arr_iter_with(columns);

    for (yyjson_mut_val *column; (column = yyjson_mut_arr_iter_next(&iter));)
        list[kind->column_count++] = (struct custom_column){
            .name = keep(definition, column, "name"),
            .type = keep(definition, column, "type"),
            .format = keep(definition, column, "format"),
            .description = keep(definition, column, "description"),
            .priority = (int)yyjson_mut_get_sint(yyjson_mut_obj_get(column, "priority")),
            .path = value_path_parse(definition_text(column, "jsonPath"), &definition->arena),
        };
    if (!count)
        list[kind->column_count++] = (struct custom_column){
            .name = "Age",
            .type = "date",
            .format = "",
            .description = "The time since the object was created.",
            .path = value_path_parse(".metadata.creationTimestamp", &definition->arena),
        };
    kind->columns = list;
}

static void read_subresources(struct definition *definition, struct custom_kind *kind, yyjson_mut_val *subresources)
{
    yyjson_mut_val *scale = yyjson_mut_obj_get(subresources, "scale");
    const char *selector = definition_text(scale, "labelSelectorPath");

    if (yyjson_mut_is_obj(yyjson_mut_obj_get(subresources, "status")))
        kind->api.flags |= KIND_STATUS;
    if (!yyjson_mut_is_obj(scale))
        return;
    kind->has_scale = true;
    kind->scale_spec = value_path_parse(definition_text(scale, "specReplicasPath"), &definition->arena);
    kind->scale_status = value_path_parse(definition_text(scale, "statusReplicasPath"), &definition->arena);
    kind->scale_selector = *selector ? value_path_parse(selector, &definition->arena) : NULL;
}

static void read_deprecation(struct definition *definition, struct custom_kind *kind, yyjson_mut_val *version)
{
    const char *warning = definition_text(version, "deprecationWarning");
    struct strbuf text;

    kind->is_deprecated = definition_is_true(version, "deprecated");
    if (!kind->is_deprecated)
        return;
    strbuf_init(&text, 4096);
    if (*warning)
        strbuf_addstr(&text, warning);
    else
        strbuf_addf(&text, "%s/%s %s is deprecated", kind->api.group, kind->api.version, kind->api.kind);
    kind->deprecation_warning = arena_strdup(&definition->arena, text.text);
    strbuf_done(&text);
}

static int read_version(struct definition *definition, yyjson_mut_doc *doc, yyjson_mut_val *version, struct err *err)
{
    yyjson_mut_val *spec = definition_spec(doc);
    yyjson_mut_val *names = yyjson_mut_obj_get(spec, "names");
    struct problems problems = {0};
    struct schema *schema = schema_compile(definition_schema(version), NULL, &problems);

    problems_done(&problems);
    if (!schema)
        return err_set(err, -EINVAL, "the schema of %s is not structural", definition->name);
    vec_push(&definition->schemas, schema);

    struct custom_kind *kind = ARENA_NEW(&definition->arena, struct custom_kind);
    kind->api = (struct api_kind){
        .group = definition->group,
        .version = keep(definition, version, "name"),
        .plural = keep(definition, names, "plural"),
        .singular = keep(definition, names, "singular"),
        .kind = keep(definition, names, "kind"),
        .short_names = keep_words(definition, yyjson_mut_obj_get(names, "shortNames")),
        .categories = keep_words(definition, yyjson_mut_obj_get(names, "categories")),
        .fields = keep_selectable(definition, yyjson_mut_obj_get(version, "selectableFields")),
        .flags = KIND_IS_CUSTOM | KIND_GENERATION | KIND_NEEDS_VERSION |
                 (strcmp(definition_text(spec, "scope"), "Namespaced") == 0 ? KIND_NAMESPACED : 0U),
    };
    kind->definition = definition->name;
    kind->list_kind = keep(definition, names, "listKind");
    kind->schema = schema;
    kind->version = strtoull(meta_text(doc, "resourceVersion"), NULL, 10);
    kind->is_storage_version = definition_is_true(version, "storage");
    read_columns(definition, kind, yyjson_mut_obj_get(version, "additionalPrinterColumns"));
    read_subresources(definition, kind, yyjson_mut_obj_get(version, "subresources"));
    read_deprecation(definition, kind, version);
    vec_push(&definition->kinds, kind);
    return 0;
}

static void definition_free(struct definition *definition)
{
    if (!definition)
        return;
    vec_foreach (&definition->schemas, schema)
        schema_free(*schema);
    vec_done(&definition->schemas);
    vec_done(&definition->kinds);
    arena_done(&definition->arena);
    free(definition);
}

static void read_accepted(struct definition *definition, yyjson_mut_doc *doc)
{
    yyjson_mut_val *accepted = yyjson_mut_obj_get(definition_status(doc), "acceptedNames");
    struct strbuf words;

    strbuf_init(&words, 1 << 20);
    add_word(&words, definition_text(accepted, "plural"));
    add_word(&words, definition_text(accepted, "singular"));
    add_words(&words, yyjson_mut_obj_get(accepted, "shortNames"));
    definition->resources_accepted = arena_strdup(&definition->arena, words.text);
    strbuf_clear(&words);
    add_word(&words, definition_text(accepted, "kind"));
    add_word(&words, definition_text(accepted, "listKind"));
    definition->kinds_accepted = arena_strdup(&definition->arena, words.text);
    strbuf_done(&words);
}

static bool has_webhook(yyjson_mut_doc *doc)
{
    return strcmp(definition_text(yyjson_mut_obj_get(definition_spec(doc), "conversion"), "strategy"), "Webhook") == 0;
}

static struct definition *definition_read(yyjson_mut_doc *doc, struct err *err)
{
    struct definition *definition = xcalloc(1, sizeof *definition);
    yyjson_mut_arr_iter iter = yyjson_mut_arr_iter_with(definition_versions(doc));
    int r = 0;

    arena_init(&definition->arena);
    definition->name = arena_strdup(&definition->arena, meta_text(doc, "name"));
    definition->group = keep(definition, definition_spec(doc), "group");
    read_accepted(definition, doc);
    for (yyjson_mut_val *version; r == 0 && (version = yyjson_mut_arr_iter_next(&iter));) {
        /* Nobody converts objects by a webhook here, so that they are served as they are stored. */
        bool is_served =
            definition_is_true(version, "served") && (!has_webhook(doc) || definition_is_true(version, "storage"));
        if (is_served && definition_is_established(doc))
            r = read_version(definition, doc, version, err);
    }
    if (r < 0) {
        definition_free(definition);
        return NULL;
    }
    return definition;
}

/* --- The registry --- */

struct definitions *definitions_new(void)
{
    return xcalloc(1, sizeof(struct definitions));
}

void definitions_free(struct definitions *definitions)
{
    struct definition *definition;

    if (!definitions)
        return;
    for (size_t cursor = 0; (definition = strmap_next(&definitions->by_name, &cursor));)
        definition_free(definition);
    strmap_done(&definitions->by_name);
    vec_done(&definitions->served);
    free(definitions);
}

static int compare_kinds(const void *a, const void *b)
{
    const struct custom_kind *left = *(struct custom_kind *const *)a, *right = *(struct custom_kind *const *)b;
    int order = strcmp(left->api.group, right->api.group);

    order = order ? order : strcmp(left->api.plural, right->api.plural);
    return order ? order : version_compare(left->api.version, right->api.version);
}

static void list_served(struct definitions *definitions)
{
    struct definition *definition;

    vec_clear(&definitions->served);
    for (size_t cursor = 0; (definition = strmap_next(&definitions->by_name, &cursor));)
        vec_foreach (&definition->kinds, kind)
            vec_push(&definitions->served, *kind);
    if (definitions->served.len)
        qsort(definitions->served.items, definitions->served.len, sizeof *definitions->served.items, compare_kinds);
    definitions->revision++;
}

int definitions_put(struct definitions *definitions, yyjson_mut_doc *doc, struct err *err)
{
    struct definition *definition = definition_read(doc, err);

    if (!definition)
        return -EINVAL;
    /* The key is a member of the value, so that the old entry goes first. */
    definition_free(strmap_remove(&definitions->by_name, "", definition->name));
    (void)strmap_put(&definitions->by_name, "", definition->name, definition);
    list_served(definitions);
    return 0;
}

void definitions_drop(struct definitions *definitions, const char *name)
{
    struct definition *definition = strmap_remove(&definitions->by_name, "", name);

    if (!definition)
        return;
    definition_free(definition);
    list_served(definitions);
}

const struct custom_kind *definitions_find(const struct definitions *definitions, const char *group,
                                           const char *version, const char *plural)
{
    vec_foreach (&definitions->served, kind)
        if (strcmp((*kind)->api.plural, plural) == 0 && strcmp((*kind)->api.group, group) == 0 &&
            strcmp((*kind)->api.version, version) == 0)
            return *kind;
    return NULL;
}

const struct custom_kind *definitions_at(const struct definitions *definitions, size_t index)
{
    return index < definitions->served.len ? definitions->served.items[index] : NULL;
}

uint64_t definitions_revision(const struct definitions *definitions)
{
    return definitions->revision;
}

bool definitions_has_name(const struct definitions *definitions, const char *self, const char *group, const char *name,
                          bool is_kind)
{
    struct definition *definition;

    if (!name || !*name)
        return false;
    for (size_t cursor = 0; (definition = strmap_next(&definitions->by_name, &cursor));)
        if (strcmp(definition->name, self) != 0 && strcmp(definition->group, group) == 0 &&
            kind_list_has(is_kind ? definition->kinds_accepted : definition->resources_accepted, name))
            return true;
    return false;
}

const struct custom_kind *custom_kind_of(const struct api_kind *kind)
{
    return kind->flags & KIND_IS_CUSTOM ? (const struct custom_kind *)kind : NULL;
}
