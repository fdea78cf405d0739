/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/programs.h"

#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"

/* Programs that no plan uses, but the next one may. */
enum { most_unused = 16 };

/* The one used last is first. Under the lock. */
static ty_program *find(ty_device *device, const ty_gpu_method *method, const char *options)
{
    for (ty_program **at = &device->programs; *at; at = &(*at)->next) {
        ty_program *p = *at;
        if (p->method == method && !strcmp(p->options, options)) {
            *at = p->next;
            p->next = device->programs;
            device->programs = p;
            return p;
        }
    }
    return NULL;
}

static tally_status build(ty_device *device, const ty_gpu_method *method, const char *options,
                          ty_program **program, tally_error *error)
{
    ty_program *p = ty_calloc(1, sizeof *p);
    char *text = p ? ty_gpu_text(method) : NULL;
    if (!text) {
        ty_free(p);
        return ty_error_memory(error, "a kernel's text", 1);
    }
    p->method = method;
    snprintf(p->options, sizeof p->options, "%s", options);
    tally_status status = device->ops->build(device, text, options, &p->handle, &p->origin, error);
    ty_free(text);
    if (status)
        ty_free(p);
    else
        *program = p;
    return status;
}

tally_status ty_program_take(ty_device *device, const ty_gpu_method *method, const char *options,
                             ty_program **program, tally_error *error)
{
    pthread_mutex_lock(&device->programs_lock);
    ty_program *p = find(device, method, options);
    if (p)
        p->users++;
    pthread_mutex_unlock(&device->programs_lock);
    if (!p) { /* two threads may build the same at once: then there are two */
        tally_status status = build(device, method, options, &p, error);
        if (status)
            return status;
        pthread_mutex_lock(&device->programs_lock);
        p->users = 1;
        p->next = device->programs;
        device->programs = p;
        pthread_mutex_unlock(&device->programs_lock);
    }
    *program = p;
    return TALLY_OK;
}

static void destroy(ty_device *device, ty_program *p)
{
    device->ops->program_close(device, p->handle);
    ty_free(p);
}

/* Takes the unused ones beyond most_unused out of the list. Under the lock. */
static ty_program *surplus(ty_device *device)
{
    ty_program *taken = NULL;
    unsigned unused = 0;
    for (ty_program **at = &device->programs; *at;) {
        ty_program *p = *at;
        if (p->users || ++unused <= most_unused) {
            at = &p->next;
            continue;
        }
        *at = p->next;
        p->next = taken;
        taken = p;
    }
    return taken;
}

static void destroy_all(ty_device *device, ty_program *p)
{
    while (p) {
        ty_program *next = p->next;
        destroy(device, p);
        p = next;
    }
}

void ty_program_give(ty_device *device, ty_program *program)
{
    if (!program)
        return;
    pthread_mutex_lock(&device->programs_lock);
    program->users--;
    ty_program *all = surplus(device);
    pthread_mutex_unlock(&device->programs_lock);
    if (all && device->ops->wait_all) /* their kernels may run for parked workspaces */
        device->ops->wait_all(device, NULL);
    destroy_all(device, all);
}

void ty_programs_open(ty_device *device)
{
    device->programs = NULL;
    device->orders = NULL;
    device->spares = NULL;
    device->parked = NULL;
    device->parked_count = 0;
    pthread_mutex_init(&device->programs_lock, NULL);
}

void ty_programs_close(ty_device *device)
{
    destroy_all(device, device->programs);
    pthread_mutex_destroy(&device->programs_lock);
}
