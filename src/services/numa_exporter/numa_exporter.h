/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

struct service_kind;

/*
 * `muster numa-exporter`, on each node: writes on each pod from which NUMA zones the kubelet has given it CPUs, memory and
 * devices, for the scheduler's plugin `numa`.
 */
extern const struct service_kind numa_exporter_service;
