/* SPDX-License-Identifier: Apache-2.0 */
#include "local/rights/bootstrap.h"

#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "base/macros.h"
#include "base/time.h"
#include "local/api/kinds.h"
#include "local/api/meta.h"
#include "local/api/names.h"
#include "local/api/owner_keys.h"
#include "local/rights/identity.h"
#include "local/rights/policies.h"
#include "local/rights/users.h"
#include "local/server/namespaces.h"
#include "local/server/resources.h"
#include "local/server/server_parts.h"
#include "local/verbs/write.h"
#include "text/json.h"
#include "text/yaml.h"

#define RBAC "rbac.authorization.k8s.io"
#define READ "verbs: [get, list, watch]"
#define WRITE "verbs: [create, delete, deletecollection, patch, update]"
#define AGGREGATE(name) \
    "aggregationRule: {clusterRoleSelectors: [{matchLabels: {" RBAC "/aggregate-to-" name ": 'true'}}]}"
#define PART_OF(name) "labels: {" RBAC "/aggregate-to-" name ": 'true'}"

#define CORE_READ                                                                                                     \
    "configmaps, endpoints, events, limitranges, namespaces, persistentvolumeclaims, persistentvolumeclaims/status, " \
    "pods, pods/log, pods/status, podtemplates, replicationcontrollers, replicationcontrollers/scale, "               \
    "replicationcontrollers/status, resourcequotas, resourcequotas/status, serviceaccounts, services, services/status"
#define APPS_READ                                                                                              \
    "controllerrevisions, daemonsets, daemonsets/status, deployments, deployments/scale, deployments/status, " \
    "replicasets, replicasets/scale, replicasets/status, statefulsets, statefulsets/scale, statefulsets/status"
#define CORE_WRITE                                                                                    \
    "configmaps, endpoints, events, persistentvolumeclaims, pods, pods/attach, pods/exec, "           \
    "pods/portforward, podtemplates, replicationcontrollers, replicationcontrollers/scale, secrets, " \
    "serviceaccounts, services"
#define APPS_WRITE \
    "daemonsets, deployments, deployments/scale, replicasets, replicasets/scale, statefulsets, statefulsets/scale"

/* ClusterRoles: what stands beside their name, and their rules. */
static const struct {
    const char *name;
    const char *meta;
    const char *more;
    const char *rules;
} roles[] = {
    {"cluster-admin", "", "",
     "[{apiGroups: ['*'], resources: ['*'], verbs: ['*']}, {nonResourceURLs: ['*'], verbs: ['*']}]"},
    {"admin", "", AGGREGATE("admin"), "[]"},
    {"edit", PART_OF("admin"), AGGREGATE("edit"), "[]"},
    {"view", PART_OF("edit"), AGGREGATE("view"), "[]"},
    {"system:aggregate-to-admin", PART_OF("admin"), "",
     "[{apiGroups: [" RBAC "], resources: [roles, rolebindings], verbs: [create, delete, deletecollection, get, list, "
     "patch, update, watch]}, {apiGroups: [authorization.k8s.io], resources: [localsubjectaccessreviews], verbs: "
     "[create]}]"},
    {"system:aggregate-to-edit", PART_OF("edit"), "",
     "[{apiGroups: [''], resources: [pods/attach, pods/exec, pods/portforward, secrets], " READ "}, "
     "{apiGroups: [''], resources: [" CORE_WRITE "], " WRITE "}, "
     "{apiGroups: [''], resources: [pods/eviction, serviceaccounts/token], verbs: [create]}, "
     "{apiGroups: [events.k8s.io], resources: [events], " WRITE "}, "
     "{apiGroups: [apps], resources: [" APPS_WRITE "], " WRITE "}, "
     "{apiGroups: [batch], resources: [cronjobs, jobs], " WRITE "}, "
     "{apiGroups: [policy], resources: [poddisruptionbudgets], " WRITE "}, "
     "{apiGroups: [networking.k8s.io], resources: [ingresses, networkpolicies], " WRITE "}, "
     "{apiGroups: [coordination.k8s.io], resources: [leases], verbs: [create, delete, deletecollection, get, list, "
     "patch, update, watch]}, "
     "{apiGroups: [resource.k8s.io], resources: [resourceclaims, resourceclaimtemplates], " WRITE "}, "
     "{apiGroups: [scheduling.run.ai], resources: [podgroups], " WRITE "}]"},
    {"system:aggregate-to-view", PART_OF("view"), "",
     "[{apiGroups: [''], resources: [" CORE_READ "], " READ "}, "
     "{apiGroups: [events.k8s.io], resources: [events], " READ "}, "
     "{apiGroups: [apps], resources: [" APPS_READ "], " READ "}, "
     "{apiGroups: [batch], resources: [cronjobs, cronjobs/status, jobs, jobs/status], " READ "}, "
     "{apiGroups: [policy], resources: [poddisruptionbudgets, poddisruptionbudgets/status], " READ "}, "
     "{apiGroups: [networking.k8s.io], resources: [ingresses, ingresses/status, networkpolicies], " READ "}, "
     "{apiGroups: [discovery.k8s.io], resources: [endpointslices], " READ "}, "
     "{apiGroups: [resource.k8s.io], resources: [resourceclaims, resourceclaims/status, resourceclaimtemplates], " READ
     "}, {apiGroups: [scheduling.run.ai], resources: [bindrequests, podgroups, podgroups/status], " READ "}, "
     "{apiGroups: [metrics.k8s.io], resources: [pods], " READ "}]"},
    {"muster:user", "", "",
     "[{apiGroups: [''], resources: [nodes, persistentvolumes], " READ "}, "
     "{apiGroups: [scheduling.run.ai], resources: [queues], " READ "}, "
     "{apiGroups: [kai.scheduler], resources: [topologies], " READ "}, "
     "{apiGroups: [scheduling.k8s.io], resources: [priorityclasses], " READ "}, "
     "{apiGroups: [storage.k8s.io], resources: [storageclasses], " READ "}, "
     "{apiGroups: [resource.k8s.io], resources: [deviceclasses, resourceslices], " READ "}, "
     "{apiGroups: [metrics.k8s.io], resources: [nodes], " READ "}]"},
};

static const struct {
    const char *name;
    const char *role;
    const char *group;
} bindings[] = {
    {"cluster-admin", "cluster-admin", GROUP_ADMINS},
    {"muster:users", "muster:user", GROUP_USERS},
};

enum { TEXT_MAX = 8192 };

static void on_made(void *arg, int result, const struct store_object *object, const struct err *err)
{
    struct server *server = arg;

    (void)object;
    if (result < 0)
        log_warn(server->log, "an initial role or binding could not be created", log_error(err));
}

static const struct store_object *latest(struct server *server, const struct api_kind *kind, const char *namespace,
                                         const char *name)
{
    return store_latest(server->store, resource_number(server, kind), namespace, name);
}

static void put(struct server *server, const struct api_kind *kind, const char *namespace, const char *name,
                yyjson_mut_doc *doc)
{
    meta_set_text(doc, "name", name);
    if (*namespace)
        meta_set_text(doc, "namespace", namespace);
    meta_stamp_new(doc, kind, nsec_now_wall());
    if (namespace_is_kind(kind))
        namespace_prepare(doc);
    write_doc(server, &(struct write){.kind = resource_number(server, kind), .namespace = namespace, .name = name}, doc,
              on_made, server);
}

/* The texts here are our own, and can be read. */
static void put_text(struct server *server, struct policies *policies, enum policy_kind which, const char *name,
                     const char *text)
{
    const struct api_kind *kind =
        builtin_kind_find(RBAC, "v1", which == POLICY_CLUSTER_ROLES ? "clusterroles" : "clusterrolebindings");
    struct yaml_docs docs = {0};
    struct err err = {0};

    if (latest(server, kind, "", name))
        return;
    BUG_ON(yaml_parse(text, strlen(text), name, &docs, &err) < 0 || docs.len != 1);
    yyjson_mut_doc *doc = yyjson_doc_mut_copy(docs.items[0].json, NULL);

    put(server, kind, "", name, doc);
    policies_put(policies, which, "", name, yyjson_mut_doc_imut_copy(doc, NULL));
    yyjson_mut_doc_free(doc);
    yaml_docs_done(&docs);
}

void bootstrap_roles(struct server *server, struct policies *policies)
{
    char text[TEXT_MAX];

    for (size_t i = 0; i < ARRAY_LEN(roles); i++) {
        (void)snprintf(text, sizeof text, "{metadata: {%s}, %s%srules: %s}", roles[i].meta, roles[i].more,
                       *roles[i].more ? ", " : "", roles[i].rules);
        put_text(server, policies, POLICY_CLUSTER_ROLES, roles[i].name, text);
    }
    for (size_t i = 0; i < ARRAY_LEN(bindings); i++) {
        (void)snprintf(text, sizeof text,
                       "{subjects: [{apiGroup: " RBAC ", kind: Group, name: '%s'}], roleRef: {apiGroup: " RBAC
                       ", kind: ClusterRole, name: '%s'}}",
                       bindings[i].group, bindings[i].role);
        put_text(server, policies, POLICY_CLUSTER_BINDINGS, bindings[i].name, text);
    }
}

const char *home_name(const struct user *user, char name[static HOME_NAME_MAX])
{
    int len = snprintf(name, HOME_NAME_MAX, "u-%s", user->name);

    if (len >= HOME_NAME_MAX || !name_is_label(name))
        (void)snprintf(name, HOME_NAME_MAX, "u-%u", user->uid);
    return name;
}

static yyjson_mut_doc *namespace_of(const struct user *user)
{
    yyjson_mut_val *root = NULL;
    yyjson_mut_doc *doc = json_new_object(&root);
    yyjson_mut_val *meta = yyjson_mut_obj_add_obj(doc, root, "metadata");
    yyjson_mut_val *notes = yyjson_mut_obj_add_obj(doc, meta, "annotations");
    char uid[16];

    (void)snprintf(uid, sizeof uid, "%u", user->uid);
    (void)yyjson_mut_obj_add_strcpy(doc, notes, KEY_SUBMITTED_BY, uid);
    (void)yyjson_mut_obj_add_strcpy(doc, notes, KEY_SUBMITTER_NAME, user->name);
    return doc;
}

/* A namespace that was there before may hold objects of others. */
static bool is_home(const struct store_object *object, const struct user *user)
{
    yyjson_doc *doc = yyjson_read(object->body, object->body_len, 0);
    uint32_t owner = 0;
    int r = owner_uid(yyjson_doc_get_root(doc), 0, &owner, NULL);

    yyjson_doc_free(doc);
    return r == 0 && owner == user->uid;
}

static void put_binding(struct server *server, struct policies *policies, const char *namespace, const char *user)
{
    const struct api_kind *kind = builtin_kind_find(RBAC, "v1", "rolebindings");
    yyjson_mut_val *root = NULL;

    if (latest(server, kind, namespace, "muster:owner"))
        return;
    yyjson_mut_doc *doc = json_new_object(&root);
    yyjson_mut_val *subject = yyjson_mut_arr_add_obj(doc, yyjson_mut_obj_add_arr(doc, root, "subjects"));
    yyjson_mut_val *role = yyjson_mut_obj_add_obj(doc, root, "roleRef");

    (void)yyjson_mut_obj_add_str(doc, subject, "kind", "User");
    (void)yyjson_mut_obj_add_str(doc, subject, "apiGroup", RBAC);
    (void)yyjson_mut_obj_add_strcpy(doc, subject, "name", user);
    (void)yyjson_mut_obj_add_str(doc, role, "apiGroup", RBAC);
    (void)yyjson_mut_obj_add_str(doc, role, "kind", "ClusterRole");
    (void)yyjson_mut_obj_add_str(doc, role, "name", "admin");
    put(server, kind, namespace, "muster:owner", doc);
    policies_put(policies, POLICY_BINDINGS, namespace, "muster:owner", yyjson_mut_doc_imut_copy(doc, NULL));
    yyjson_mut_doc_free(doc);
}

void bootstrap_home(struct server *server, struct policies *policies, const struct user *user)
{
    const struct api_kind *kind = builtin_kind_find("", "v1", "namespaces");
    char name[HOME_NAME_MAX];
    const struct store_object *object = latest(server, kind, "", home_name(user, name));

    if (!object) {
        yyjson_mut_doc *doc = namespace_of(user);
        put(server, kind, "", name, doc);
        yyjson_mut_doc_free(doc);
    } else if (!is_home(object, user)) {
        return;
    }
    put_binding(server, policies, name, user->name);
}
