/* SPDX-License-Identifier: Apache-2.0 */
/* The environment, as far as whoever set it may decide for this process. */
#ifndef TY_ENV_H
#define TY_ENV_H

/* Nonzero where the process has rights that whoever started it lacks (set-user-ID, set-group-ID,
 * file capabilities): what the caller chose is then not to be believed. */
int ty_env_is_foreign(void);

/* The variable, or NULL where it is not set or ty_env_is_foreign. All of src/ asks here. */
const char *ty_env(const char *name);

#endif
