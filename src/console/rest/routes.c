/* SPDX-License-Identifier: Apache-2.0 */

/* The table of routes. A row cannot be written without a permission: ROUTE() has no form without it. */
#include "console/rest/routes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "console/assets/kinds.h"
#include "console/policies/policy.h"
#include "console/rest/handlers.h"
#include "console/rest/operations.h"
#include "console/templates/reuse.h"
#include "console/workloads/kinds.h"

/* Passwords take a core and 64 MiB each; logins by identity providers wait for those. */
enum { SIGNINS_MAX = 8, LOGINS_MAX = 64, BODY_MAX = 256 << 10, ORGANIZATION_MAX = 8 << 20 };

/* Answers by processes, lists of events, and logs, at a time. A log takes one of the 64 requests that the cluster gets at
 * once. */
enum { PROGRAMS_MAX = 4, EVENTS_MAX = 16, LOGS_MAX = 24 };

#define FORM "application/x-www-form-urlencoded"
#define ROUTE(the_method, the_path, name, permission, ...) \
    REST_ROUTE(the_method, the_path, handle_##name, .role = (permission), .body_max = BODY_MAX, __VA_ARGS__)
/* With a body of up to `max` bytes. */
#define LARGE_ROUTE(the_method, the_path, name, permission, max) \
    REST_ROUTE(the_method, the_path, handle_##name, .role = (permission), .body_max = (max))

#define UNITS "/api/v1/org-unit/"
#define RIGHTS "/api/v1/authorization/"
#define OURS "/api/muster/v1/"

/* The five routes of a kind of assets. */
#define ASSET_ROUTES(path, type)                                                                                    \
    ROUTE("GET", ASSETS path, list_assets, type ":read"), ROUTE("POST", ASSETS path, create_asset, type ":create"), \
        ROUTE("GET", ASSETS path "/{AssetId}", get_asset, type ":read"),                                            \
        ROUTE("PUT", ASSETS path "/{AssetId}", update_asset, type ":update"),                                       \
        ROUTE("DELETE", ASSETS path "/{AssetId}", delete_asset, type ":delete")

/* The five routes of a kind of workloads. */
#define WORKLOAD_ROUTES(path, type)                                                              \
    ROUTE("POST", WORKLOADS path, create_workload, type ":create"),                              \
        ROUTE("GET", WORKLOADS path "/{workloadId}", get_workload_kind, type ":read"),           \
        ROUTE("DELETE", WORKLOADS path "/{workloadId}", delete_workload, type ":delete"),        \
        ROUTE("POST", WORKLOADS path "/{workloadId}/suspend", suspend_workload, type ":update"), \
        ROUTE("POST", WORKLOADS path "/{workloadId}/resume", resume_workload, type ":update")

/* The four routes of a kind of workloads that do not end. */
#define SERVER_ROUTES(path)                                                                   \
    ROUTE("POST", WORKLOADS path, create_workload, "inferences:create"),                      \
        ROUTE("GET", WORKLOADS path "/{workloadId}", get_workload_kind, "inferences:read"),   \
        ROUTE("PATCH", WORKLOADS path "/{workloadId}", update_workload, "inferences:update"), \
        ROUTE("DELETE", WORKLOADS path "/{workloadId}", delete_workload, "inferences:delete")

/* The six routes of the templates of a kind of workloads. */
#define TEMPLATE_ROUTES(path)                                                                                  \
    ROUTE("GET", WORKLOAD_TEMPLATES path, list_workload_templates, "templates:read"),                          \
        ROUTE("POST", WORKLOAD_TEMPLATES path, create_workload_template, "templates:create"),                  \
        ROUTE("GET", WORKLOAD_TEMPLATES path "/{templateId}", get_workload_template, "templates:read"),        \
        ROUTE("PUT", WORKLOAD_TEMPLATES path "/{templateId}", update_workload_template, "templates:update"),   \
        ROUTE("PATCH", WORKLOAD_TEMPLATES path "/{templateId}", update_workload_template, "templates:update"), \
        ROUTE("DELETE", WORKLOAD_TEMPLATES path "/{templateId}", delete_workload_template, "templates:delete")

/* The four routes of a type of policies. */
#define POLICY_ROUTES(path)                                               \
    ROUTE("GET", POLICIES "/" path, get_policy, "policies:read"),         \
        ROUTE("PUT", POLICIES "/" path, set_policy, "policies:update"),   \
        ROUTE("PATCH", POLICIES "/" path, set_policy, "policies:update"), \
        ROUTE("DELETE", POLICIES "/" path, delete_policy, "policies:delete")

/* A path that the page shows something at. */
#define PAGE(path) ROUTE("GET", path, page, ROLE_PAGE)

static const struct rest_route rows[] = {
    PAGE("/"),
    PAGE("/workloads"),
    PAGE("/nodes"),
    PAGE("/submit"),
    PAGE("/quota"),
    PAGE("/what-if"),
    PAGE("/assets"),
    PAGE("/assets/{kind}"),
    PAGE("/templates"),
    PAGE("/policies"),
    PAGE("/policies/{type}"),
    PAGE("/clusters"),
    PAGE("/pools"),
    PAGE("/access"),
    PAGE("/access/{part}"),
    PAGE("/notifications"),
    PAGE("/settings"),
    PAGE("/settings/{part}"),
    PAGE("/me"),
    PAGE("/audit"),
    ROUTE("GET", "/page/{file}", page_part, ROLE_PAGE),

    ROUTE("POST", "/api/v1/token", token, ROLE_ANYONE, .requests_max = SIGNINS_MAX),
    ROUTE("POST", "/api/v2/token", oauth_token, ROLE_ANYONE, .requests_max = SIGNINS_MAX, .types = FORM),
    ROUTE("POST", OURS "login", login, ROLE_ANYONE, .requests_max = SIGNINS_MAX, .types = "application/json"),
    ROUTE("POST", OURS "logout", logout, ROLE_SELF),
    ROUTE("GET", OURS "me", me, ROLE_SELF),
    ROUTE("GET", "/setup", setup_page, ROLE_PAGE),
    ROUTE("POST", "/setup", setup, ROLE_ANYONE, .requests_max = SIGNINS_MAX, .types = FORM),

    ROUTE("GET", OURS "sso", list_sso, ROLE_ANYONE),
    ROUTE("GET", OURS "sso/{idp}/login", sso_login, ROLE_ANYONE, .requests_max = LOGINS_MAX),
    ROUTE("GET", OURS "sso/{idp}/callback", sso_callback, ROLE_ANYONE, .requests_max = LOGINS_MAX),

    ROUTE("GET", "/api/v1/idps", list_idps, "security-settings:read"),
    ROUTE("POST", "/api/v1/idps", create_idp, "security-settings:create"),
    ROUTE("GET", "/api/v1/idps/{idp}", get_idp, "security-settings:read"),
    ROUTE("PUT", "/api/v1/idps/{idp}", update_idp, "security-settings:update"),
    ROUTE("DELETE", "/api/v1/idps/{idp}", delete_idp, "security-settings:delete"),
    ROUTE("GET", "/api/v1/idps/{idp}/mappers", get_mappers, "security-settings:read"),
    ROUTE("PUT", "/api/v1/idps/{idp}/mappers", update_mappers, "security-settings:update"),

    ROUTE("GET", OURS "notification-channels", list_channels, "security-settings:read"),
    ROUTE("POST", OURS "notification-channels", create_channel, "security-settings:create"),
    ROUTE("GET", OURS "notification-channels/{channel}", get_channel, "security-settings:read"),
    ROUTE("PUT", OURS "notification-channels/{channel}", update_channel, "security-settings:update"),
    ROUTE("DELETE", OURS "notification-channels/{channel}", delete_channel, "security-settings:delete"),
    ROUTE("POST", OURS "notification-channels/{channel}/test", test_channel, "security-settings:update"),

    ROUTE("POST", "/api/v1/me/password", change_password, ROLE_SELF, .requests_max = SIGNINS_MAX),
    ROUTE("GET", "/api/v1/users", list_users, "users:read"),
    ROUTE("GET", "/api/v1/users/count", count_users, "users:read"),
    ROUTE("POST", "/api/v1/users", create_user, "users:create"),
    ROUTE("GET", "/api/v1/users/{userId}", get_user, "users:read"),
    ROUTE("DELETE", "/api/v1/users/{userId}", delete_user, "users:delete"),
    ROUTE("POST", "/api/v1/users/{userId}/logout", logout_user, "users:update"),
    ROUTE("POST", "/api/v1/users/{userId}/password", reset_password, "users:update"),

    ROUTE("GET", "/api/v1/service-accounts", list_accounts, "service-account:read"),
    ROUTE("POST", "/api/v1/service-accounts", create_account, "service-account:create"),
    ROUTE("GET", "/api/v1/service-accounts/{serviceAccountId}", get_account, "service-account:read"),
    ROUTE("PATCH", "/api/v1/service-accounts/{serviceAccountId}", patch_account, "service-account:update"),
    ROUTE("DELETE", "/api/v1/service-accounts/{serviceAccountId}", delete_account, "service-account:delete"),
    ROUTE("POST", "/api/v1/service-accounts/{serviceAccountId}/secret", renew_account, "service-account:update"),
    ROUTE("GET", "/api/v1/apps", list_apps, "apps:read"),
    ROUTE("POST", "/api/v1/apps", create_app, "apps:create"),
    ROUTE("GET", "/api/v1/apps/{appId}", get_account, "apps:read"),
    ROUTE("PATCH", "/api/v1/apps/{appId}", patch_account, "apps:update"),
    ROUTE("DELETE", "/api/v1/apps/{appId}", delete_account, "apps:delete"),
    ROUTE("POST", "/api/v1/apps/{appId}/secret", renew_app, "apps:update"),

    ROUTE("GET", "/api/v1/access-keys", list_keys, "access-keys:read"),
    ROUTE("POST", "/api/v1/access-keys", create_key, "access-keys:create"),
    ROUTE("GET", "/api/v1/access-keys/{accessKeyId}", get_key, "access-keys:read"),
    ROUTE("DELETE", "/api/v1/access-keys/{accessKeyId}", delete_key, "access-keys:delete"),
    ROUTE("POST", "/api/v1/access-keys/{accessKeyId}/secret", renew_key, "access-keys:update"),
    ROUTE("GET", "/api/v1/administration/access-keys", list_all_keys, "users:update"),
    ROUTE("DELETE", "/api/v1/administration/access-keys/{accessKeyId}", delete_any_key, "users:update"),

    ROUTE("GET", RIGHTS "roles", list_roles, "roles:read"),
    ROUTE("GET", RIGHTS "roles/{roleIdPath}", get_role, "roles:read"),
    ROUTE("POST", OURS "roles", create_role, "roles:create"),
    ROUTE("PUT", OURS "roles/{roleId}", update_role, "roles:update"),
    ROUTE("DELETE", OURS "roles/{roleId}", delete_role, "roles:delete"),
    ROUTE("GET", RIGHTS "permissions", list_permissions, "roles:read"),
    ROUTE("GET", RIGHTS "access-rules", list_rules, "access_rules:read"),
    ROUTE("GET", RIGHTS "access-rules/count", count_rules, "access_rules:read"),
    ROUTE("POST", RIGHTS "access-rules", create_rule, "access_rules:create"),
    ROUTE("GET", RIGHTS "access-rules/{accessRuleId}", get_rule, "access_rules:read"),
    ROUTE("DELETE", RIGHTS "access-rules/{accessRuleId}", delete_rule, "access_rules:delete"),
    ROUTE("GET", RIGHTS "me/access-rules", list_my_rules, ROLE_SELF),
    ROUTE("GET", RIGHTS "me/access-rules/count", count_my_rules, ROLE_SELF),

    ROUTE("GET", "/api/v1/clusters", list_clusters, "cluster:read"),
    ROUTE("GET", "/api/v1/clusters/{clusterUuid}", get_cluster, "cluster:read"),
    ROUTE("GET", "/api/v1/node-pools", list_node_pools, "nodepools:read"),
    ROUTE("GET", "/api/v1/node-pools/count", count_node_pools, "nodepools:read"),
    ROUTE("POST", "/api/v1/node-pools", create_node_pool, "nodepools:create"),
    ROUTE("GET", "/api/v1/node-pools/{nodepoolId}", get_node_pool, "nodepools:read"),
    ROUTE("PUT", "/api/v1/node-pools/{nodepoolId}", update_node_pool, "nodepools:update"),
    ROUTE("PATCH", "/api/v1/node-pools/{nodepoolId}", update_node_pool, "nodepools:update"),
    ROUTE("DELETE", "/api/v1/node-pools/{nodepoolId}", delete_node_pool, "nodepools:delete"),

    ROUTE("GET", UNITS "departments", list_departments, "department:read"),
    ROUTE("GET", UNITS "departments/count", count_departments, "department:read"),
    ROUTE("POST", UNITS "departments", create_department, "department:create"),
    ROUTE("GET", UNITS "departments/{departmentId}", get_department, "department:read"),
    ROUTE("PUT", UNITS "departments/{departmentId}", update_department, "department:update"),
    ROUTE("DELETE", UNITS "departments/{departmentId}", delete_department, "department:delete"),
    ROUTE("PUT", UNITS "departments/{departmentId}/resources", set_department_resources, "department:update"),
    ROUTE("PATCH", UNITS "departments/{departmentId}/resources", set_department_resources, "department:update"),
    ROUTE("GET", UNITS "projects", list_projects, "project:read"),
    ROUTE("GET", UNITS "projects/count", count_projects, "project:read"),
    ROUTE("POST", UNITS "projects", create_project, "project:create"),
    ROUTE("GET", UNITS "projects/{projectId}", get_project, "project:read"),
    ROUTE("PUT", UNITS "projects/{projectId}", update_project, "project:update"),
    ROUTE("DELETE", UNITS "projects/{projectId}", delete_project, "project:delete"),
    ROUTE("PUT", UNITS "projects/{projectId}/resources", set_project_resources, "project:update"),
    ROUTE("PATCH", UNITS "projects/{projectId}/resources", set_project_resources, "project:update"),

    ROUTE("GET", OURS "organization", export_organization, "tenant:read"),
    LARGE_ROUTE("PUT", OURS "organization", apply_organization, "tenant:update", ORGANIZATION_MAX),

    ROUTE("GET", OURS "stream", stream, ROLE_SELF),

    ROUTE("GET", OURS "state", live_state, "dashboards-overview:read"),
    ROUTE("GET", OURS "map", live_map, "nodes:read"),
    ROUTE("GET", OURS "holes", live_holes, "nodes:read"),
    ROUTE("GET", OURS "ledger", live_ledger, "project:read"),
    ROUTE("GET", OURS "usage", live_usage, "dashboards-consumption:read"),
    ROUTE("GET", OURS "workloads/index", live_index, "workloads:read"),
    ROUTE("GET", OURS "workloads/window", live_window, "workloads:read"),
    ROUTE("GET", OURS "workloads/counts", live_counts, "workloads:read"),
    ROUTE("POST", OURS "workloads/{workloadId}/clone", clone_workload, "workloads:read"),
    ROUTE("GET", OURS "workloads/{workloadId}/logs", workload_logs, "workloads:read", .requests_max = LOGS_MAX),
    ROUTE("GET", OURS "workloads/{namespace}/{kind}/{name}", live_workload, "workloads:read"),
    ROUTE("GET", OURS "workloads/{namespace}/{kind}/{name}/why", live_why, "workloads:read",
          .requests_max = PROGRAMS_MAX),
    ROUTE("GET", OURS "workloads/{namespace}/{kind}/{name}/events", live_events, "workloads:read",
          .requests_max = EVENTS_MAX),
    ROUTE("POST", OURS "preview", live_preview, "workloads:create", .requests_max = PROGRAMS_MAX,
          .types = "application/json"),
    ROUTE("GET", OURS "when", live_later, ROLE_SELF),
    ROUTE("POST", OURS "whatif", live_later, ROLE_SELF),
    ROUTE("POST", OURS "replay", live_later, ROLE_SELF),

    ROUTE("GET", "/api/v1/audit/log", list_audit, "events-history:read"),

    ROUTE("GET", ASSETS "datasource", list_data_sources, "pvc-assets:read"),
    ROUTE("GET", ASSETS "credentials", list_credentials, "credentials:read"),
    ASSET_ROUTES("compute", "compute-resources"),
    ASSET_ROUTES("environment", "environments"),
    ASSET_ROUTES("datasource/pvc", "pvc-assets"),
    ASSET_ROUTES("datasource/git", "git-assets"),
    ASSET_ROUTES("datasource/nfs", "nfs-assets"),
    ASSET_ROUTES("datasource/s3", "s3-assets"),
    ASSET_ROUTES("datasource/host-path", "host-path-assets"),
    ASSET_ROUTES("datasource/config-map", "cm-volume-assets"),
    ASSET_ROUTES("datasource/secrets", "secret-volume-assets"),
    ASSET_ROUTES("credentials/access-key", "credentials"),
    ASSET_ROUTES("credentials/password", "credentials"),
    ASSET_ROUTES("credentials/docker-registry", "credentials"),
    ASSET_ROUTES("credentials/generic-secret", "credentials"),
    ASSET_ROUTES("credentials/ngc-api-key", "credentials"),
    ASSET_ROUTES("registries", "registries"),
    ASSET_ROUTES("workload-template", "templates"),

    ROUTE("GET", "/api/v2/policy", list_policies, "policies:read"),
    POLICY_ROUTES("workspaces"),
    POLICY_ROUTES("trainings"),
    POLICY_ROUTES("distributed"),
    POLICY_ROUTES("inferences"),
    ROUTE("POST", OURS "policy/check", check_workload, "policies:read"),

    ROUTE("GET", "/api/v1/workloads", list_workloads, "workloads:read"),
    ROUTE("GET", WORKLOADS "count", count_workloads, "workloads:read"),
    ROUTE("GET", WORKLOADS "pods", list_pods, "workloads:read"),
    ROUTE("GET", WORKLOADS "pods/count", count_pods, "workloads:read"),
    ROUTE("GET", WORKLOADS "{workloadId}", get_workload, "workloads:read"),
    ROUTE("GET", WORKLOADS "{workloadId}/pods", list_workload_pods, "workloads:read"),
    ROUTE("GET", WORKLOADS "{workloadId}/events", list_workload_events, "workloads:read"),
    ROUTE("GET", WORKLOADS "{workloadId}/history", list_workload_history, "workloads:read"),
    ROUTE("POST", WORKLOADS "batch", batch_workloads, "workloads:update"),
    ROUTE("GET", WORKLOADS "telemetry", workloads_telemetry, "workloads:read"),
    ROUTE("GET", "/api/v1/workload-priorities", list_workload_priorities, "workload-properties:read"),
    ROUTE("GET", "/api/v1/workload-categories", list_workload_categories, "workload-properties:read"),
    ROUTE("GET", "/api/v1/workload-categories/{categoryId}", get_workload_category, "workload-properties:read"),
    ROUTE("GET", "/api/v1/workload-types", list_workload_types, "workload-properties:read"),
    ROUTE("GET", "/api/v1/workload-types/{workloadTypeId}", get_workload_type, "workload-properties:read"),
    ROUTE("PUT", "/api/v1/workload-types/{workloadTypeId}", update_workload_type, "workload-properties:update"),
    WORKLOAD_ROUTES("workspaces", "workspaces"),
    WORKLOAD_ROUTES("trainings", "trainings"),
    WORKLOAD_ROUTES("distributed", "trainings"),
    SERVER_ROUTES("inferences"),

    ROUTE("GET", "/api/v1/workload-templates", list_workload_templates, "templates:read"),
    ROUTE("GET", WORKLOAD_TEMPLATES "count", count_workload_templates, "templates:read"),
    ROUTE("GET", WORKLOAD_TEMPLATES "name-availability", check_template_name, "templates:read"),
    ROUTE("GET", WORKLOAD_TEMPLATES "{templateId}", get_workload_template, "templates:read"),
    TEMPLATE_ROUTES("workspaces"),
    TEMPLATE_ROUTES("trainings"),
    TEMPLATE_ROUTES("distributed"),
    ROUTE("GET", WORKLOAD_TEMPLATES "inferences", list_workload_templates, "templates:read"),
    ROUTE("POST", WORKLOAD_TEMPLATES "inferences", create_workload_template, "templates:create"),
    ROUTE("GET", WORKLOAD_TEMPLATES "inferences/{templateId}", get_workload_template, "templates:read"),
    ROUTE("DELETE", WORKLOAD_TEMPLATES "inferences/{templateId}", delete_workload_template, "templates:delete"),
};

void handle_not_yet(void *arg, struct http_exchange *exchange)
{
    (void)arg;
    rest_fail(exchange, -ENOSYS, "%s %.200s is not supported yet: see docs/runai-compatibility.md",
              http_exchange_method(exchange), http_exchange_path(exchange));
}

static bool has_row(const struct operation *operation)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (strcmp(rows[i].method, operation->method) == 0 && strcmp(rows[i].path, operation->path) == 0)
            return true;
    }
    return false;
}

static bool has_permission(const struct rest_route *row)
{
    enum resource_type type;
    enum action action;

    return row->role && (strcmp(row->role, ROLE_ANYONE) == 0 || strcmp(row->role, ROLE_SELF) == 0 ||
                         strcmp(row->role, ROLE_PAGE) == 0 || permission_parse(row->role, &type, &action));
}

int routes_check(const struct rest_route *table, size_t count, struct err *err)
{
    for (size_t i = 0; i < count; i++) {
        if (!has_permission(&table[i]))
            return err_set(err, -EINVAL, "the route %s %s has no permission", table[i].method, table[i].path);
    }
    return 0;
}

int routes_make(struct rest_route **ret_rows, size_t *ret_count, struct err *err)
{
    struct rest_route *all = xcalloc(ARRAY_LEN(rows) + operation_count, sizeof *all);
    size_t count = 0;

    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        all[count++] = rows[i];
    for (size_t i = 0; i < operation_count; i++) {
        if (!has_row(&operations[i]))
            all[count++] = (struct rest_route)REST_ROUTE(operations[i].method, operations[i].path, handle_not_yet,
                                                         .role = ROLE_SELF, .body_max = BODY_MAX);
    }
    int r = routes_check(all, count, err);
    if (r < 0) {
        free(all);
        return r;
    }
    *ret_rows = all;
    *ret_count = count;
    return 0;
}
