/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/time.h"
#include "kube/access/config.h"
#include "net/loop.h"

struct http_tls;
struct process;

/*
 * Who we are, as of now. Files are read again every minute and after the server has refused what was in them; a plugin
 * is asked again shortly before its answer expires and after a refusal.
 */
struct kube_credentials {
    struct loop *loop;
    const struct kube_config *config;  // borrowed
    loop_fn on_change;                 // a plugin has answered, or failed to
    void *arg;

    char *token;  // NULL: none
    struct http_tls *tls;
    char *ca, *cert, *key;   // what `tls` was made of
    nsec_t read_at;          // when files were read, on the monotonic clock; 0: not yet
    struct process *plugin;  // that is being asked
    bool has_answer;         // of the plugin
    nsec_t expires;          // its answer, on the wall clock; 0: never
    struct err problem;      // with the plugin
    nsec_t problem_until;    // it is not asked again before that
};

void kube_credentials_init(struct kube_credentials *credentials, struct loop *loop, const struct kube_config *config,
                           loop_fn on_change, void *arg);
void kube_credentials_done(struct kube_credentials *credentials);

/* Returns 1 when `token` and `tls` can be used, 0 when `on_change` will be called, or what is wrong. */
MUST_CHECK int kube_credentials_ready(struct kube_credentials *credentials, struct err *err);

/* The server did not accept them: get others. */
void kube_credentials_refuse(struct kube_credentials *credentials);

/* Appends the headers that say who we are: "Authorization: ...", to be freed by the caller. */
void kube_credentials_headers(const struct kube_credentials *credentials, struct kube_strings *headers);

/* What a plugin answers. Strings are the caller's to free; NULL where there is none. */
struct kube_exec_answer {
    char *token;
    char *cert;
    char *key;
    nsec_t expires;  // 0: never
};

void kube_exec_answer_done(struct kube_exec_answer *answer);

/* Reads an ExecCredential. Returns 0 or -EINVAL; the text of `err` holds nothing of what it says. */
MUST_CHECK int kube_exec_parse(const struct kube_exec *exec, const char *text, size_t len,
                               struct kube_exec_answer *ret_answer, struct err *err);

/* What a plugin is told in KUBERNETES_EXEC_INFO; to be freed by the caller. */
char *kube_exec_question(const struct kube_config *config, const char *ca);
