/* SPDX-License-Identifier: Apache-2.0 */
/* Interrupts end the process by their signal; a file that is being written is finished first. */
#include <signal.h>
#include <unistd.h>

#include "cli.h"
#include "progress.h"

static volatile sig_atomic_t held, pending;

static void end_by(int signal_number)
{
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

/* Everything here is async-signal-safe. A second signal does not wait for the file. */
static void handle(int signal_number)
{
    if (held && !pending) {
        pending = signal_number;
        return;
    }
    if (cli_progress_line) {
        ssize_t put = write(STDERR_FILENO, "\r\033[K", 4);
        (void)put;
    }
    end_by(signal_number);
}

void cli_signals_start(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    sigemptyset(&action.sa_mask);
    action.sa_handler = SIG_IGN;
    sigaction(SIGPIPE, &action, NULL);
    action.sa_handler = handle;
    action.sa_flags = SA_RESTART | SA_NODEFER;
    const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct sigaction before;
        sigaction(numbers[i], NULL, &before);
        if (before.sa_handler != SIG_IGN) /* nohup */
            sigaction(numbers[i], &action, NULL);
    }
}

void cli_signals_hold(void)
{
    held = 1;
}

void cli_signals_release(void)
{
    held = 0;
    if (pending)
        end_by(pending);
}
