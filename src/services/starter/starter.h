/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

struct service_kind;

/*
 * `muster starter`: gives numbers to the Jobs that people submit, and starts those that wait for other Jobs, for a time, or
 * for their turn in an array.
 */
extern const struct service_kind starter_service;
