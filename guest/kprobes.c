// SPDX-License-Identifier: GPL-2.0-only
/*
 * kprobes - a probe on each instruction of the code of entry and exit
 *
 *	kprobes [STEP [FUNCTION...]]
 *
 * Each FUNCTION, or else each that is listed below, is a test unless it is on the kernel's
 * blacklist: the module /lab/probes.ko puts a kprobe on each STEPth of its instructions (1),
 * /lab/smoke must pass as it does without, and the module goes. The functions that nothing
 * has run are named at the end, and one in two has to run.
 */
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ktap.h"

#define MODULE		"/lab/probes.ko"
#define MAX_FUNCS	512

/* As 6.12 calls them, and the series; what the compiler appends does not count. */
static const char *const wanted[] = {
	/* system calls */
	"system_call_exception", "syscall_enter_*", "syscall_exit_*", "syscall_trace_enter",
	"do_syscall_trace_*", "__secure_computing", "__seccomp_filter", "sys_ni_syscall",
	"system_call_common*", "system_call_vectored_*", "syscall_vectored_*",
	/* interrupts */
	"interrupt_exit_*", "interrupt_*_prepare", "interrupt_return_*", "fast_interrupt_return_*",
	"return_regs_changed", "irqentry_*", "raw_irqentry_*", "exit_to_user_mode_*",
	"do_notify_resume", "preempt_schedule_irq", "schedule", "do_IRQ*", "__do_IRQ", "__do_irq",
	"do_softirq_own_stack", "handle_softirqs", "timer_interrupt*", "timer_replay",
	"doorbell_exception*", "xive_*_irq", "xive_muxed_ipi_action",
	"emulation_assist_interrupt", "*_exception", "*_unavailable_tm",
	/* the soft mask */
	"arch_local_irq_restore", "*replay_soft_interrupts*", "replay_one_interrupt",
	"irq_restore_happened", "prep_irq_for_idle*", "irq_set_pending_from_srr1",
	/* faults */
	"do_page_fault", "___do_page_fault", "hash__do_page_fault", "do_hash_fault",
	"bad_page_fault", "do_bad_segment_interrupt", "do_program_check", "emulate_instruction",
	"emulate_step", "emulate_single_step",
	/* signals and registers */
	"arch_do_signal_or_restart", "do_signal", "get_signal", "handle_rt_signal64",
	"sys_rt_sigreturn", "restore_math", "giveup_all", "restore_tm_state",
};

struct func {
	unsigned long start, end;
	char name[64];
	bool hit;
};

static struct func funcs[MAX_FUNCS];
static int nr_funcs;
static const char *const *patterns = wanted;
static int nr_patterns = sizeof(wanted) / sizeof(wanted[0]);

#define quit(code, ...)							\
	do {								\
		ktap_note(__VA_ARGS__);					\
		exit(code);						\
	} while (0)

static bool is_wanted(const char *name)
{
	char plain[64];

	snprintf(plain, sizeof(plain), "%.*s", (int)strcspn(name, "."), name);
	for (int i = 0; i < nr_patterns; i++)
		if (!fnmatch(patterns[i], plain, 0))
			return true;
	return false;
}

/* kallsyms is sorted by address, but for modules: a function ends where another begins. */
static void find_functions(void)
{
	FILE *f = fopen("/proc/kallsyms", "r");
	struct func *open_func = NULL;
	unsigned long address;
	char type, name[64];

	while (f && fscanf(f, "%lx %c %63s%*[^\n]", &address, &type, name) == 3) {
		if (open_func && address > open_func->start) {
			open_func->end = address;
			open_func = NULL;
		}
		if (open_func || !strchr("tTwW", type) || !is_wanted(name))
			continue;
		if (!address || nr_funcs == MAX_FUNCS)
			quit(1, "no address of %s, or too many functions", name);
		open_func = &funcs[nr_funcs++];
		open_func->start = address;
		snprintf(open_func->name, sizeof(open_func->name), "%s", name);
	}
	if (!f || open_func)
		quit(1, "cannot read /proc/kallsyms");
	fclose(f);
}

/* Return: how many functions were taken off the list */
static int drop_blacklisted(void)
{
	FILE *f = fopen("/sys/kernel/debug/kprobes/blacklist", "r");
	unsigned long start, end;
	int i, kept, before = nr_funcs;

	if (!f)
		quit(1, "no blacklist of kprobes");
	while (fscanf(f, "%lx-%lx%*[^\n]", &start, &end) == 2) {
		for (i = kept = 0; i < nr_funcs; i++)
			if (funcs[i].start < start || funcs[i].start >= end)
				funcs[kept++] = funcs[i];
		nr_funcs = kept;
	}
	fclose(f);
	return before - nr_funcs;
}

/*
 * Probes that become jumps stall 6.12 if each instruction has one, in get_signal() for
 * example. The plain ones, which trap and single-step, are what is to be tested.
 */
static void no_jumps(void)
{
	FILE *f = fopen("/proc/sys/debug/kprobes-optimization", "w");

	if (f && (fputs("0", f) < 0 || fclose(f)))
		quit(1, "cannot switch off the optimisation of kprobes");
}

/* Return: whether /lab/smoke passed */
static bool workload(void)
{
	int status, null = open("/dev/null", O_RDWR);
	pid_t pid = fork();

	if (!pid) {
		dup2(null, 0);
		dup2(null, 1);
		dup2(null, 2);
		execl("/lab/smoke", "smoke", NULL);
		_exit(127);
	}
	close(null);
	return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

static long parameter(const char *name)
{
	char path[64];
	long n = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/sys/module/probes/parameters/%s", name);
	f = fopen(path, "r");
	if (!f || fscanf(f, "%ld", &n) != 1)
		quit(1, "cannot read %s", path);
	fclose(f);
	return n;
}

/* So that the console tells whose probes a kernel did not survive */
static void announce(const char *name)
{
	int fd = open("/dev/kmsg", O_WRONLY);

	if (fd >= 0) {
		dprintf(fd, "probes on %s\n", name);
		close(fd);
	}
}

static bool probe(int i, int step)
{
	struct func *f = &funcs[i];
	long probes, refused, hits;
	char text[128];
	bool ok;
	int fd;

	announce(f->name);
	snprintf(text, sizeof(text), "start=0x%lx end=0x%lx step=%d", f->start, f->end, step);
	fd = open(MODULE, O_RDONLY);
	if (fd < 0 || syscall(SYS_finit_module, fd, text, 0))
		quit(1, MODULE " with %s: %s", text, strerror(errno));
	close(fd);
	ok = workload();
	probes = parameter("probes");
	refused = parameter("refused");
	hits = parameter("hits");
	if (syscall(SYS_delete_module, "probes", 0))
		quit(1, "the module does not unload: %s", strerror(errno));
	f->hit = hits > 0;
	printf("%s %d %s: %ld probes, %ld refused, %ld hits\n", ok ? "ok" : "not ok", i + 1,
	       f->name, probes, refused, hits);
	return ok;
}

int main(int argc, char **argv)
{
	int step = argc > 1 ? atoi(argv[1]) : 1, failed = 0, hit = 0, dropped;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (step < 1)
		quit(1, "'%s' is no number of instructions", argv[1]);
	if (argc > 2) {
		patterns = (const char *const *)argv + 2;
		nr_patterns = argc - 2;
	}
	if (access(MODULE, R_OK))
		quit(4, "no " MODULE);
	no_jumps();
	find_functions();
	dropped = drop_blacklisted();
	if (!workload())
		quit(1, "/lab/smoke fails without probes");
	printf("KTAP version 1\n1..%d\n", nr_funcs + 1);
	for (int i = 0; i < nr_funcs; i++) {
		failed += !probe(i, step);
		hit += funcs[i].hit;
	}
	for (int i = 0; i < nr_funcs; i++)
		if (!funcs[i].hit)
			printf("# not hit: %s\n", funcs[i].name);
	printf("# %d functions on the blacklist\n", dropped);
	failed += 2 * hit < nr_funcs;
	printf("%s %d %d of %d functions were hit\n", 2 * hit < nr_funcs ? "not ok" : "ok",
	       nr_funcs + 1, hit, nr_funcs);
	return failed != 0;
}
