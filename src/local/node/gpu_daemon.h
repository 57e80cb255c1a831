/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

struct service_kind;

/*
 * The GPU daemon (gpu/daemon) as a part of `muster up`, on a machine with GPUs: it holds pods with parts of GPUs to them. A
 * daemon that runs in the folder already is left to do so; when it ends, this one takes its place.
 */
extern const struct service_kind gpu_daemon_service;

/* The folder of the daemon: the one that was given, or the usual one for "". To be freed. */
char *gpu_daemon_folder(const char *given) __attribute__((returns_nonnull));
