/* SPDX-License-Identifier: Apache-2.0 */
/* `tally methods` and `tally devices`. */
#include "cli.h"

static int wants_json(const cli_options *options)
{
    return strcmp(cli_text(options, CLI_LIST_FORMAT, "table"), "json") == 0;
}

/* "a b c" as ["a","b","c"]. */
static void json_list(const char *words)
{
    int any = 0;
    cli_out("[");
    while (words && *words) {
        size_t length = strcspn(words, " ");
        if (length)
            cli_out("%s\"%.*s\"", any++ ? "," : "", (int)length, words);
        words += length + strspn(words + length, " ");
    }
    cli_out("]");
}

static void json_parameters(const tally_parameter *parameters)
{
    cli_out("{");
    for (const tally_parameter *p = parameters; p->key; p++) {
        cli_out("%s", p == parameters ? "" : ",");
        cli_out_json_string(p->key);
        cli_out(":{\"default\":%lld,\"least\":%lld,\"most\":%lld,\"help\":", (long long)p->standard,
                (long long)p->least, (long long)p->most);
        cli_out_json_string(p->help);
        cli_out("}");
    }
    cli_out("}");
}

static void method_json(const tally_method_info *info)
{
    cli_out("{\"name\":");
    cli_out_json_string(info->name);
    cli_out(",\"source\":");
    cli_out_json_string(info->source);
    cli_out(",\"summary\":");
    cli_out_json_string(info->summary);
    cli_out(",\"devices\":");
    json_list(info->devices);
    cli_out(",\"dtypes\":");
    json_list(info->dtypes);
    cli_out(",\"bins\":[%llu,%llu],\"parameters\":", (unsigned long long)info->bins_min,
            (unsigned long long)info->bins_max);
    json_parameters(info->parameters);
    cli_out("}");
}

static void method_text(const tally_method_info *info, const char *bold, const char *plain)
{
    cli_out("%s%s%s\n  %s\n", bold, info->name, plain, info->summary);
    cli_out("  source %s; devices: %s; samples: %s; bins: %llu", info->source, info->devices,
            info->dtypes, (unsigned long long)info->bins_min);
    if (info->bins_max == UINT64_MAX)
        cli_out(" and more\n");
    else
        cli_out(" to %llu\n", (unsigned long long)info->bins_max);
    for (const tally_parameter *p = info->parameters; p->key; p++)
        cli_out("  --set %s=%lld (%lld to %lld): %s\n", p->key, (long long)p->standard,
                (long long)p->least, (long long)p->most, p->help);
}

int cli_methods(const cli_options *options)
{
    int json = wants_json(options);
    int colors = cli_colors(options, 1);
    uint32_t count = tally_method_count();
    if (json)
        cli_out("[");
    for (uint32_t i = 0; i < count; i++) {
        tally_method_info info = {0};
        tally_error error = {""};
        info.struct_size = sizeof info;
        tally_status status = tally_method_get(i, &info, &error);
        if (status)
            return cli_fail_status(status, &error);
        if (json) {
            cli_out("%s", i ? ",\n" : "");
            method_json(&info);
        } else {
            method_text(&info, colors ? "\033[1m" : "", colors ? "\033[0m" : "");
        }
    }
    if (json)
        cli_out("]\n");
    return cli_out_end();
}

static void device_json(const tally_device_info *info)
{
    cli_out("{\"id\":");
    cli_out_json_string(info->id);
    cli_out(",\"name\":");
    cli_out_json_string(info->name);
    cli_out(",\"memory_bytes\":%llu,\"local_bytes\":%llu,\"available\":%s,\"reason\":",
            (unsigned long long)info->memory_bytes, (unsigned long long)info->local_bytes,
            info->available ? "true" : "false");
    if (info->available)
        cli_out("null");
    else
        cli_out_json_string(info->reason);
    cli_out("}");
}

static void device_text(const tally_device_info *info)
{
    if (!info->available) {
        cli_out("%-10s missing: ", info->id);
        cli_out_shown(info->reason);
        cli_out("\n");
        return;
    }
    cli_out("%-10s ", info->id);
    cli_out_shown(info->name);
    cli_out(", %.1f GiB, %.0f KiB of fast memory a core\n",
            (double)info->memory_bytes / (1024.0 * 1024 * 1024), (double)info->local_bytes / 1024);
}

int cli_devices(const cli_options *options)
{
    int json = wants_json(options);
    cli_device_list list;
    int code = cli_devices_find(0, &list);
    if (code)
        return code;
    if (json)
        cli_out("[");
    for (size_t i = 0; i < list.count; i++) {
        if (json) {
            cli_out("%s", i ? ",\n" : "");
            device_json(&list.devices[i]);
        } else {
            device_text(&list.devices[i]);
        }
    }
    free(list.devices);
    if (json)
        cli_out("]\n");
    cli_say(options, "kernels compiled with Tally: %s", tally_kernels_describe());
    return cli_out_end();
}
