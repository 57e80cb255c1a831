/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

struct request;

/* pods/binding: the scheduler's or binder's decision. */
void serve_binding(struct request *request);
