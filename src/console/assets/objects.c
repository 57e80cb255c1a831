/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What assets are in the cluster: credentials are Secrets and new claims are PersistentVolumeClaims in the namespace of each
 * project below the scope of the asset. Secrets, claims and ConfigMaps that an asset only names are looked for there. All other
 * kinds of assets are used when a workload is submitted, and have no objects.
 */
#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "console/assets/assets.h"
#include "console/assets/kinds.h"
#include "console/assets/vault.h"
#include "console/data/items.h"
#include "console/org/sync.h"
#include "console/org/wants.h"
#include "console/rest/context.h"

enum { NAME_PART_MAX = 40, ID_PART = 8, ISSUES_MAX = 20, SECRET_TEXT_LIMIT = 1 << 20 };

/* The asset that is made into objects. */
struct making {
    yyjson_val *spec;
    yyjson_val *secrets;  // NULL: there are none
};

struct object_row {
    const char *kind;
    enum kube_known resource;
    const char *prefix;    // of names; NULL: the asset only names an object of others
    const char *existing;  // the member of the spec that names one
    void (*encode)(const struct making *making, struct want *want, yyjson_mut_val *root);
};

static const char *text_in(yyjson_val *object, const char *key)
{
    const char *text = yyjson_get_str(yyjson_obj_get(object, key));

    return text ? text : "";
}

static const char *text_at(yyjson_val *object, const char *pointer)
{
    const char *text = yyjson_get_str(yyjson_ptr_get(object, pointer));

    return text ? text : "";
}

/* --- Secrets --- */

static char *base64(const char *text)
{
    size_t len = strlen(text);
    size_t size = sodium_base64_encoded_len(len, sodium_base64_VARIANT_ORIGINAL);
    char *encoded = xmalloc(size);

    return sodium_bin2base64(encoded, size, (const unsigned char *)text, len, sodium_base64_VARIANT_ORIGINAL);
}

static void put_data(struct want *want, yyjson_mut_val *data, const char *key, const char *text)
{
    _cleanup_(freep) char *encoded = base64(text);

    (void)yyjson_mut_obj_add(data, yyjson_mut_strcpy(want->doc, key), yyjson_mut_strcpy(want->doc, encoded));
}

static yyjson_mut_val *begin_secret(struct want *want, yyjson_mut_val *root, const char *type)
{
    put_text(want->doc, root, "type", type);
    return yyjson_mut_obj_add_obj(want->doc, root, "data");
}

static void encode_access_key(const struct making *making, struct want *want, yyjson_mut_val *root)
{
    yyjson_mut_val *data = begin_secret(want, root, "Opaque");

    put_data(want, data, "AccessKeyId", text_in(making->spec, "accessKeyId"));
    put_data(want, data, "SecretKey", text_in(making->secrets, "secretAccessKey"));
}

static void encode_password(const struct making *making, struct want *want, yyjson_mut_val *root)
{
    yyjson_mut_val *data = begin_secret(want, root, "kubernetes.io/basic-auth");

    put_data(want, data, "username", text_in(making->spec, "user"));
    put_data(want, data, "password", text_in(making->secrets, "password"));
}

/* As `docker login` keeps it, which kubelets read. */
static void encode_registry(const struct making *making, struct want *want, yyjson_mut_val *root)
{
    const char *user = text_in(making->spec, "user");
    const char *password = text_in(making->secrets, "password");
    yyjson_mut_val *config;
    yyjson_mut_doc *doc = json_new_object(&config);
    yyjson_mut_val *auths = yyjson_mut_obj_add_obj(doc, config, "auths");
    yyjson_mut_val *login = yyjson_mut_obj(doc);
    struct strbuf pair;

    strbuf_init(&pair, SECRET_TEXT_LIMIT);
    strbuf_addf(&pair, "%s:%s", user, password);
    _cleanup_(freep) char *both = strbuf_take(&pair);
    _cleanup_(freep) char *auth = base64(both);
    put_text(doc, login, "username", user);
    put_text(doc, login, "password", password);
    put_text(doc, login, "auth", auth);
    (void)yyjson_mut_obj_add(auths, yyjson_mut_strcpy(doc, text_in(making->spec, "url")), login);
    char *text = yyjson_mut_write(doc, 0, NULL);
    BUG_ON(!text);
    put_data(want, begin_secret(want, root, "kubernetes.io/dockerconfigjson"), ".dockerconfigjson", text);
    sodium_memzero(text, strlen(text));
    sodium_memzero(both, strlen(both));
    free(text);
    yyjson_mut_doc_free(doc);
}

static void encode_pairs(const struct making *making, struct want *want, yyjson_mut_val *root)
{
    yyjson_mut_val *data = begin_secret(want, root, "Opaque");
    yyjson_val *pair;
    yyjson_arr_iter iter;

    yyjson_arr_iter_init(yyjson_obj_get(making->secrets, "keyValuePairs"), &iter);
    while ((pair = yyjson_arr_iter_next(&iter)))
        put_data(want, data, text_in(pair, "key"), text_in(pair, "value"));
}

static void encode_ngc(const struct making *making, struct want *want, yyjson_mut_val *root)
{
    put_data(want, begin_secret(want, root, "Opaque"), "NGC_API_KEY", text_in(making->secrets, "ngc_api_key"));
}

/* --- claims --- */

static void encode_claim(const struct making *making, struct want *want, yyjson_mut_val *root)
{
    static const char *const modes[][2] = {
        {"readWriteOnce", "ReadWriteOnce"}, {"readOnlyMany", "ReadOnlyMany"}, {"readWriteMany", "ReadWriteMany"}};
    yyjson_val *info = yyjson_obj_get(making->spec, "claimInfo");
    yyjson_mut_val *spec = yyjson_mut_obj_add_obj(want->doc, root, "spec");
    yyjson_mut_val *list = yyjson_mut_obj_add_arr(want->doc, spec, "accessModes");

    for (size_t i = 0; i < ARRAY_LEN(modes); i++) {
        if (yyjson_get_bool(yyjson_obj_get(yyjson_obj_get(info, "accessModes"), modes[i][0])))
            (void)yyjson_mut_arr_add_str(want->doc, list, modes[i][1]);
    }
    if (yyjson_mut_arr_size(list) == 0)
        (void)yyjson_mut_arr_add_str(want->doc, list, "ReadWriteOnce");
    yyjson_mut_val *resources = yyjson_mut_obj_add_obj(want->doc, spec, "resources");
    put_text(want->doc, yyjson_mut_obj_add_obj(want->doc, resources, "requests"), "storage", text_in(info, "size"));
    if (*text_in(info, "storageClass"))
        put_text(want->doc, spec, "storageClassName", text_in(info, "storageClass"));
    if (*text_in(info, "volumeMode"))
        put_text(want->doc, spec, "volumeMode", text_in(info, "volumeMode"));
}

/* --- the table --- */

static const struct object_row rows[] = {
    {"accessKey", KUBE_SECRETS, "access-key", "existingSecretName", encode_access_key},
    {"password", KUBE_SECRETS, "password", "existingSecretName", encode_password},
    {"dockerRegistry", KUBE_SECRETS, "docker-registry", "existingSecretName", encode_registry},
    {"genericSecret", KUBE_SECRETS, "generic-secret", "existingSecretName", encode_pairs},
    {"ngcApiKey", KUBE_SECRETS, "ngc-api-key", NULL, encode_ngc},
    {"pvc", KUBE_PERSISTENT_VOLUME_CLAIMS, "pvc", "claimName", encode_claim},
    {"config-map", KUBE_CONFIG_MAPS, NULL, "configMap", NULL},
};

static const struct object_row *row_of(const struct asset_kind *kind)
{
    for (size_t i = 0; kind && i < ARRAY_LEN(rows); i++) {
        if (strcmp(rows[i].kind, kind->name) == 0)
            return &rows[i];
    }
    return NULL;
}

bool asset_has_objects(const struct asset_kind *kind)
{
    return row_of(kind) != NULL;
}

static bool is_true(yyjson_val *item, const char *pointer)
{
    return yyjson_get_bool(yyjson_ptr_get(item, pointer));
}

/* Private secrets and claims of a single workload are made for the workload. */
static bool is_made_later(yyjson_val *item)
{
    return is_true(item, "/meta/private") || is_true(item, "/spec/ephemeral");
}

/* The object of somebody else that the asset names; "": it names none. A new claim may have a name as well. */
static const char *existing_name(const struct object_row *row, yyjson_val *item)
{
    bool is_new_claim = row->resource == KUBE_PERSISTENT_VOLUME_CLAIMS && !is_true(item, "/spec/existingPvc");

    return row->existing && !is_new_claim ? text_in(yyjson_obj_get(item, "spec"), row->existing) : "";
}

/* "password-my-login-1a2b3c4d": names of assets are free texts, and unique in one scope alone. */
static char *make_name(const char *prefix, yyjson_val *item)
{
    const char *name = text_at(item, "/meta/name");
    char part[NAME_PART_MAX + 1];
    size_t len = 0;
    struct strbuf text;

    for (; *name && len < NAME_PART_MAX; name++) {
        bool is_letter = (*name >= 'a' && *name <= 'z') || (*name >= 'A' && *name <= 'Z');
        bool is_digit = *name >= '0' && *name <= '9';

        if (is_letter || is_digit)
            part[len++] = (char)(is_letter ? *name | 0x20 : *name);
        else if (len > 0 && part[len - 1] != '-')
            part[len++] = '-';
    }
    if (len > 0 && part[len - 1] == '-')
        len--;
    part[len] = '\0';
    strbuf_init(&text, 256);
    strbuf_addf(&text, "%s-%s%s%.*s", prefix, part, len ? "-" : "", ID_PART, text_at(item, "/meta/id"));
    return strbuf_take(&text);
}

char *asset_object_name(const struct asset_kind *kind, yyjson_val *item)
{
    const struct object_row *row = row_of(kind);

    if (!row || !row->prefix || *existing_name(row, item) || is_made_later(item))
        return NULL;
    const char *chosen = row->resource == KUBE_PERSISTENT_VOLUME_CLAIMS ? text_at(item, "/spec/claimName") : "";
    return *chosen ? xstrdup(chosen) : make_name(row->prefix, item);
}

/* --- what is wanted --- */

struct wanting {
    struct console *console;
    const struct sync_item *item;
    const struct object_row *row;
    struct wants *wants;
    struct making making;
    struct place place;
    const char *made;  // the name of objects that are made; NULL: they are named
    const char *named;
};

static void place_of_unit(yyjson_val *project, struct place *ret_place)
{
    *ret_place = (struct place){.scope = SCOPE_PROJECT};
    (void)snprintf(ret_place->department, sizeof ret_place->department, "%s", text_in(project, "parentId"));
    (void)snprintf(ret_place->project, sizeof ret_place->project, "%s", text_in(project, "id"));
}

static int want_in_project(void *arg, yyjson_val *project)
{
    struct wanting *wanting = arg;
    const struct object_row *row = wanting->row;
    const char *namespace = text_at(project, "/status/namespace");
    struct place place;

    place_of_unit(project, &place);
    if (!place_holds(&wanting->place, &place) || strcmp(text_at(project, "/status/phase"), SYNC_DELETING) == 0 ||
        !sync_has_namespace(wanting->console->sync, namespace, place.project))
        return 0;
    enum want_mode mode = wanting->named                                   ? WANT_THERE
                          : row->resource == KUBE_PERSISTENT_VOLUME_CLAIMS ? WANT_MADE
                                                                           : WANT_SAME;
    struct want *want =
        wants_add(wanting->wants, row->resource, mode, namespace, wanting->named ? wanting->named : wanting->made);
    want->project = xstrdup(place.project);
    if (wanting->made)
        row->encode(&wanting->making, want, want_begin(want, wanting->item, row->kind));
    return 0;
}

static int read_secrets(struct console *console, const char *id, yyjson_doc **ret_doc, struct err *err)
{
    char *text = NULL;
    int r = vault_get(console->vault, id, &text, err);

    if (r < 0)
        return r == -ENOENT ? 0 : r;
    r = json_parse(text, strlen(text), "the secrets", ret_doc, err);
    sodium_memzero(text, strlen(text));
    free(text);
    return r;
}

static int asset_wants(struct console *console, const struct sync_item *item, struct wants *wants, struct err *err)
{
    _cleanup_(json_doc_freep) yyjson_doc *secrets = NULL;
    _cleanup_(freep) char *made = NULL;
    const struct asset_kind *kind = asset_kind_find(item->kind + strlen("asset:"));
    struct wanting wanting = {.console = console, .item = item, .row = row_of(kind), .wants = wants};
    yyjson_val *root = yyjson_doc_get_root(item->doc);

    if (!wanting.row)
        return 0;
    wants->is_listing = wanting.row->prefix != NULL;
    wants->resource = wanting.row->resource;
    if (!root || is_made_later(root))
        return 0;
    place_load(yyjson_obj_get(root, "place"), &wanting.place);
    wanting.made = made = asset_object_name(kind, root);
    wanting.named = made ? NULL : existing_name(wanting.row, root);
    wanting.making.spec = yyjson_obj_get(root, "spec");
    int r = made ? read_secrets(console, item->id, &secrets, err) : 0;
    if (r < 0)
        return r;
    wanting.making.secrets = yyjson_doc_get_root(secrets);
    return items_each(console->db, ITEM_PROJECT, NULL, want_in_project, &wanting, err);
}

/* --- how far it is --- */

static const char *issue_code(const struct want *want)
{
    if (want->mode == WANT_THERE)
        return "NotCreated";
    return want->is_listed && want->mode == WANT_MADE ? "LostPhase" : "ReplicationError";
}

static yyjson_mut_val *encode_status(yyjson_mut_doc *doc, const struct wants *wants, const char *problem)
{
    yyjson_mut_val *status = yyjson_mut_obj(doc);

    put_text(doc, status, "status", *problem ? "Issues found" : "No issues found");
    if (!*problem)
        return status;
    put_text(doc, status, "message", problem);
    yyjson_mut_val *issues = yyjson_mut_obj_add_arr(doc, status, "issues");
    vec_foreach (&wants->list, want) {
        if (!want->issue || !want->project || yyjson_mut_arr_size(issues) >= ISSUES_MAX)
            continue;
        yyjson_mut_val *issue = yyjson_mut_arr_add_obj(doc, issues);
        put_text(doc, issue, "scopeId", want->project);
        put_text(doc, issue, "scopeType", "project");
        put_text(doc, issue, "issue", issue_code(want));
    }
    return status;
}

static int asset_end(struct console *console, const struct sync_item *item, const struct wants *wants,
                     const char *problem, struct err *err)
{
    _cleanup_(json_doc_freep) yyjson_doc *now = NULL;
    yyjson_val *root = yyjson_doc_get_root(item->doc);

    if (!root || !row_of(asset_kind_find(item->kind + strlen("asset:"))) || is_made_later(root))
        return 0;
    int r = item_get(console->db, item->kind, item->id, &now, err);
    if (r < 0)
        return r == -ENOENT ? 0 : r;
    yyjson_mut_doc *doc = yyjson_doc_mut_copy(now, NULL);
    yyjson_mut_val *copy = yyjson_mut_doc_get_root(doc);
    yyjson_mut_val *status = encode_status(doc, wants, problem);
    if (!yyjson_mut_equals(yyjson_mut_obj_get(copy, "status"), status)) {
        (void)yyjson_mut_obj_remove_key(copy, "status");
        (void)yyjson_mut_obj_add_val(doc, copy, "status", status);
        r = item_update(console->db, item->kind, item->id, copy, err);
        if (r == 0)
            r = sync_note(console, item, "update", err);
    }
    yyjson_mut_doc_free(doc);
    return r;
}

const struct sync_kind asset_sync_kind = {.fill = asset_wants, .end = asset_end};

/* --- assets of a project --- */

struct object_walk {
    const struct asset_kind *kind;
    const struct place *place;  // NULL: any
    asset_object_fn fn;
    void *arg;
};

static int give_asset(void *arg, yyjson_val *item)
{
    const struct object_walk *walk = arg;
    struct place place;

    place_load(yyjson_obj_get(item, "place"), &place);
    if (!walk->place || place_holds(&place, walk->place))
        walk->fn(walk->arg, walk->kind->item, text_at(item, "/meta/id"));
    return 0;
}

int assets_each_object(struct db *db, const char *project, asset_object_fn fn, void *arg, struct err *err)
{
    _cleanup_(json_doc_freep) yyjson_doc *doc = NULL;
    struct object_walk walk = {.fn = fn, .arg = arg};
    struct place place;
    int r = project ? item_get(db, ITEM_PROJECT, project, &doc, err) : 0;

    if (r < 0)
        return r == -ENOENT ? 0 : r;
    if (project) {
        place_of_unit(yyjson_doc_get_root(doc), &place);
        walk.place = &place;
    }
    for (size_t i = 0; r == 0 && i < ARRAY_LEN(rows); i++) {
        walk.kind = asset_kind_find(rows[i].kind);
        r = items_each(db, walk.kind->item, NULL, give_asset, &walk, err);
    }
    return r;
}
