/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "console/rest/context.h"

/* The rows of the REST; the table of routes is routes.c. */
#define ALL_HANDLERS(ROW)         \
    ROW(token)                    \
    ROW(oauth_token)              \
    ROW(login)                    \
    ROW(logout)                   \
    ROW(change_password)          \
    ROW(page)                     \
    ROW(page_part)                \
    ROW(setup_page)               \
    ROW(setup)                    \
    ROW(me)                       \
    ROW(list_users)               \
    ROW(count_users)              \
    ROW(create_user)              \
    ROW(get_user)                 \
    ROW(delete_user)              \
    ROW(logout_user)              \
    ROW(reset_password)           \
    ROW(list_accounts)            \
    ROW(create_account)           \
    ROW(get_account)              \
    ROW(patch_account)            \
    ROW(delete_account)           \
    ROW(renew_account)            \
    ROW(list_apps)                \
    ROW(create_app)               \
    ROW(renew_app)                \
    ROW(list_keys)                \
    ROW(create_key)               \
    ROW(get_key)                  \
    ROW(delete_key)               \
    ROW(renew_key)                \
    ROW(list_all_keys)            \
    ROW(delete_any_key)           \
    ROW(list_roles)               \
    ROW(get_role)                 \
    ROW(list_permissions)         \
    ROW(create_role)              \
    ROW(update_role)              \
    ROW(delete_role)              \
    ROW(list_rules)               \
    ROW(count_rules)              \
    ROW(create_rule)              \
    ROW(get_rule)                 \
    ROW(delete_rule)              \
    ROW(list_my_rules)            \
    ROW(count_my_rules)           \
    ROW(list_clusters)            \
    ROW(get_cluster)              \
    ROW(list_node_pools)          \
    ROW(count_node_pools)         \
    ROW(create_node_pool)         \
    ROW(get_node_pool)            \
    ROW(update_node_pool)         \
    ROW(delete_node_pool)         \
    ROW(list_departments)         \
    ROW(count_departments)        \
    ROW(create_department)        \
    ROW(get_department)           \
    ROW(update_department)        \
    ROW(delete_department)        \
    ROW(set_department_resources) \
    ROW(list_projects)            \
    ROW(count_projects)           \
    ROW(create_project)           \
    ROW(get_project)              \
    ROW(update_project)           \
    ROW(delete_project)           \
    ROW(set_project_resources)    \
    ROW(export_organization)      \
    ROW(apply_organization)       \
    ROW(list_audit)               \
    ROW(stream)                   \
    ROW(list_assets)              \
    ROW(list_data_sources)        \
    ROW(list_credentials)         \
    ROW(create_asset)             \
    ROW(get_asset)                \
    ROW(update_asset)             \
    ROW(delete_asset)             \
    ROW(list_policies)            \
    ROW(get_policy)               \
    ROW(set_policy)               \
    ROW(delete_policy)            \
    ROW(check_workload)           \
    ROW(create_workload)          \
    ROW(get_workload_kind)        \
    ROW(delete_workload)          \
    ROW(update_workload)          \
    ROW(suspend_workload)         \
    ROW(resume_workload)          \
    ROW(batch_workloads)          \
    ROW(list_workloads)           \
    ROW(count_workloads)          \
    ROW(get_workload)             \
    ROW(list_workload_pods)       \
    ROW(list_workload_priorities) \
    ROW(list_workload_categories) \
    ROW(get_workload_category)    \
    ROW(list_workload_types)      \
    ROW(get_workload_type)        \
    ROW(update_workload_type)     \
    ROW(workloads_telemetry)      \
    ROW(list_workload_templates)  \
    ROW(count_workload_templates) \
    ROW(check_template_name)      \
    ROW(create_workload_template) \
    ROW(get_workload_template)    \
    ROW(update_workload_template) \
    ROW(delete_workload_template) \
    ROW(list_workload_events)     \
    ROW(list_workload_history)    \
    ROW(workload_logs)            \
    ROW(clone_workload)           \
    ROW(list_pods)                \
    ROW(count_pods)               \
    ROW(list_idps)                \
    ROW(create_idp)               \
    ROW(get_idp)                  \
    ROW(update_idp)               \
    ROW(delete_idp)               \
    ROW(get_mappers)              \
    ROW(update_mappers)           \
    ROW(list_sso)                 \
    ROW(sso_login)                \
    ROW(sso_callback)             \
    ROW(live_state)               \
    ROW(live_map)                 \
    ROW(live_holes)               \
    ROW(live_ledger)              \
    ROW(live_usage)               \
    ROW(live_index)               \
    ROW(live_window)              \
    ROW(live_counts)              \
    ROW(live_workload)            \
    ROW(live_why)                 \
    ROW(live_events)              \
    ROW(live_preview)             \
    ROW(live_later)               \
    ROW(list_channels)            \
    ROW(create_channel)           \
    ROW(get_channel)              \
    ROW(update_channel)           \
    ROW(delete_channel)           \
    ROW(test_channel)             \
    ROW(not_yet)

#define DECLARE_HANDLER(name) void handle_##name(void *arg, struct http_exchange *exchange);
ALL_HANDLERS(DECLARE_HANDLER)
#undef DECLARE_HANDLER

/* Parts that handlers share. */

/* Whether a text is an e-mail address, as names of users are. */
MUST_CHECK int check_email(const char *text, struct err *err);

/* "^[a-z][-_a-z0-9]*[a-z0-9]$", of service accounts and access keys. */
MUST_CHECK int check_handle(const char *text, struct err *err);

MUST_CHECK int user_create(struct request *request, const char *email, const char *created_by, const char *id,
                           struct err *err);
MUST_CHECK int rule_create(struct request *request, const char *subject, const char *subject_type, int64_t role,
                           enum scope scope, const char *scope_id, const char *created_by, struct err *err);

/* Removes the rules of a subject, or those of a scope, that is no more. */
MUST_CHECK int rules_delete_of(struct console *console, const char *subject, struct err *err);
MUST_CHECK int rules_delete_in(struct console *console, const char *scope_id, struct err *err);

/* Rows of a whole kind as values of the answer. */
struct listing_rows;
MUST_CHECK int load_rows(struct request *request, const char *kind, const char *place, struct listing_rows *ret_rows,
                         struct err *err);

/* The answer {"count": n}. */
void answer_count(struct request *request, int64_t count);

/* An array of the rows. */
yyjson_mut_val *rows_array(struct request *request, const struct listing_rows *rows);

/* A password was looked at: the service may wait for that. */
void console_work_done(struct console *console);
