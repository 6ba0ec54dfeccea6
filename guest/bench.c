// SPDX-License-Identifier: GPL-2.0-only
/*
 * Workloads for the instruction counts (Documentation/measuring.rst).
 *
 *	bench [+audit] [+seccomp] [+short] [ROW...]
 *
 * ROW is a name from bench/bench.h; default are all. +audit: with an audit rule in force,
 * +seccomp: all of it under a seccomp filter, both of which let everything pass. +short:
 * one operation a window in rows 11 to 15 and 19 to 22, of which more are without a tick
 * then, where the clock is the host's.
 *
 * Each row warms up, then runs WINDOWS windows of a fixed number of operations
 * between two markers. Only the plugin looks at them; without it this program
 * does the same work and prints the same lines. Windows are short, so that most
 * of them see no timer tick; report.c drops those that do.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/netlink.h>
#include <linux/seccomp.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../bench/bench.h"

#define WINDOWS		30
#define UNKNOWN_NR	9999

#ifndef PPC_FEATURE2_SCV
#define PPC_FEATURE2_SCV	0x00100000
#endif

enum {
#define ROW_NUMBER(number, name, text)	ROW_##name = number,
	BENCH_ROWS(ROW_NUMBER)
};

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static bool short_windows;	/* +short */

/* A child runs @what and is waited for. */
static void in_child(void (*what)(void), const char *name)
{
	pid_t pid = fork();
	int status;

	if (pid < 0)
		die("fork");
	if (!pid) {
		what();
		_exit(0);
	}
	if (waitpid(pid, &status, 0) != pid || status)
		die(name);
}

/* System calls by sc; libc would take scv where it can. */
static inline long sc(long nr, long a, long b, long c)
{
	register long r0 asm("r0") = nr;
	register long r3 asm("r3") = a;
	register long r4 asm("r4") = b;
	register long r5 asm("r5") = c;

	asm volatile("sc" : "+r" (r0), "+r" (r3), "+r" (r4), "+r" (r5) ::
		     "r6", "r7", "r8", "r9", "r10", "r11", "r12", "cr0", "ctr",
		     "memory");
	return r3;
}

/* What most programs do all the time: the task has FP, VMX and VSX state. */
static inline void use_vector(void)
{
#ifdef __powerpc64__
	asm volatile(".machine push; .machine power7; xxlxor 0,0,0; vxor 0,0,0;"
		     ".machine pop" ::: "fr0", "v0");
#else
	asm volatile("fmr 0,0");
#endif
}

#ifdef __powerpc64__
static inline long scv(long nr, long a)
{
	register long r0 asm("r0") = nr;
	register long r3 asm("r3") = a;

	asm volatile(".machine push; .machine power9; scv 0; .machine pop" :
		     "+r" (r0), "+r" (r3) ::
		     "r4", "r5", "r6", "r7", "r8", "r9", "r10", "r11", "r12",
		     "cr0", "cr1", "cr5", "cr6", "cr7", "xer", "lr", "ctr", "memory");
	return r3;
}
#endif

static inline void spin(long n)
{
	asm volatile("mtctr %0; 0: bdnz 0b" :: "r" (n) : "ctr");
}

/* One row: OPS times STATEMENT in each window, after a window that is not counted. */
#define WINDOW(row, ops, statement) do {		\
	for (int w = 0; w <= WINDOWS; w++) {		\
		if (w)					\
			bench_start(row);		\
		for (int i = 0; i < (ops); i++)		\
			statement;			\
		if (w)					\
			bench_stop(ops);		\
	}						\
} while (0)

/* The marker has the row's number in it, so it must be a constant. */
#define sc_windows(row)	WINDOW(row, 1000, sc(__NR_getppid, 0, 0, 0))

static void sc_getppid(void)
{
	sc_windows(ROW_sc_getppid);
}

static void scv_getppid(void)
{
#ifdef __powerpc64__
	if (getauxval(AT_HWCAP2) & PPC_FEATURE2_SCV)
		WINDOW(ROW_scv_getppid, 1000, scv(__NR_getppid, 0));
#endif
}

static void sc_unknown(void)
{
	WINDOW(ROW_sc_unknown, 1000, sc(UNKNOWN_NR, 0, 0, 0));
}

static void sc_getpgid(void)
{
	WINDOW(ROW_sc_getpgid, 1000, sc(__NR_getpgid, 0, 0, 0));
}

static void nothing(void)
{
}

static void do_fork(void)
{
	/* Until caches of freed tasks and stacks are as full as they get */
	for (int i = 0; i < 200; i++)
		in_child(nothing, "fork row");
	WINDOW(ROW_fork, 2, in_child(nothing, "fork row"));
}

/*
 * The program replaces itself: one start of a static program per operation, with
 * its page faults and without fork. STEP counts windows * EXEC_OPS operations.
 */
#define EXEC_OPS	2

static void exec_step(int step)
{
	char number[16];

	/* The first EXEC_OPS steps are the warm-up. */
	if (step > EXEC_OPS && step % EXEC_OPS == 0)
		bench_stop(EXEC_OPS);
	if (step == (WINDOWS + 1) * EXEC_OPS)
		_exit(0);
	snprintf(number, sizeof(number), "%04d", step + 1);
	if (step && step % EXEC_OPS == 0)
		bench_start(ROW_execve);
	execl("/proc/self/exe", "bench", "--exec-step", number, NULL);
	die("execve");
}

static void first_exec_step(void)
{
	exec_step(0);
}

static void do_execve(void)
{
	in_child(first_exec_step, "execve row");
}

/* The first store to a page. Page tables stay: only the pages go away in between. */
#define FAULTS		64

static void minor_fault(void)
{
	long size = sysconf(_SC_PAGESIZE);
	char *p = mmap(NULL, FAULTS * size, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		die("mmap");
	for (int w = 0; w <= WINDOWS; w++) {
		if (w)
			bench_start(ROW_minor_fault);
		for (int i = 0; i < FAULTS; i++)
			*(volatile char *)(p + i * size) = 1;
		if (w)
			bench_stop(FAULTS);
		madvise(p, FAULTS * size, MADV_DONTNEED);
	}
	munmap(p, FAULTS * size);
}

static volatile int handled;

static void handler(int sig)
{
	handled++;
}

static void do_signal(void)
{
	struct sigaction sa = { .sa_handler = handler };

	if (sigaction(SIGUSR1, &sa, NULL))
		die("sigaction");
	WINDOW(ROW_signal, 20, sc(__NR_kill, sc(__NR_getpid, 0, 0, 0), SIGUSR1, 0));
	if (handled != 20 * (WINDOWS + 1))
		die("signal handler");
}

/* Two tasks with two pipes between them, the other one on CPU @cpu */
static struct {
	int there[2], back[2];
	pid_t pid;
} other;

static void pin(int cpu)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	if (sched_setaffinity(0, sizeof(one), &one))
		die("sched_setaffinity");
}

static void other_start(int cpu)
{
	char c;

	if (pipe(other.there) || pipe(other.back))
		die("pipe");
	other.pid = fork();
	if (other.pid < 0)
		die("fork");
	if (other.pid)
		return;
	pin(cpu);
	close(other.there[1]);
	while (sc(__NR_read, other.there[0], (long)&c, 1) == 1) {
		use_vector();
		sc(__NR_write, other.back[1], (long)&c, 1);
	}
	_exit(0);
}

static void other_end(void)
{
	int status;

	close(other.there[1]);
	if (waitpid(other.pid, &status, 0) != other.pid || status)
		die("ping-pong");
	close(other.there[0]);
	close(other.back[0]);
	close(other.back[1]);
}

/* Four system calls, and two switches or two wake-ups of an idle CPU, a round */
static inline void one_round(void)
{
	char c = 0;

	use_vector();
	sc(__NR_write, other.there[1], (long)&c, 1);
	if (sc(__NR_read, other.back[0], (long)&c, 1) != 1)
		die("pipe");
}

#define PINGPONG(row, cpu) do {				\
	other_start(cpu);				\
	if (short_windows)				\
		WINDOW(row, 1, one_round());		\
	else						\
		WINDOW(row, 20, one_round());		\
	other_end();					\
} while (0)

static void pingpong(void)
{
	PINGPONG(ROW_pingpong, 0);
}

/* A number in a file of /sys, or -1 */
static int sys_number(int cpu, const char *file)
{
	char path[128];
	int n = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/%s", cpu, file);
	f = fopen(path, "r");
	if (f && fscanf(f, "%d", &n) != 1)
		n = -1;
	if (f)
		fclose(f);
	return n;
}

/* Another CPU, on the core of CPU 0 or on another one; 0 if there is none */
static int other_cpu(bool same_core)
{
	int core = sys_number(0, "topology/core_id");

	for (int cpu = 1; cpu < sysconf(_SC_NPROCESSORS_ONLN); cpu++)
		if ((sys_number(cpu, "topology/core_id") == core) == same_core)
			return cpu;
	return 0;
}

/* Switches polling for work in the idle loop off or on. Is there any? */
static bool snooze(bool on)
{
	char path[128], name[16] = "";
	FILE *f;

	for (int cpu = 0; cpu < sysconf(_SC_NPROCESSORS_ONLN); cpu++) {
		/* It is the first state, if it is there. */
		snprintf(path, sizeof(path),
			 "/sys/devices/system/cpu/cpu%d/cpuidle/state0/name", cpu);
		f = fopen(path, "r");
		if (!f)
			return false;
		if (!fgets(name, sizeof(name), f) || strcmp(name, "snooze\n")) {
			fclose(f);
			return false;
		}
		fclose(f);
		strcpy(strrchr(path, '/'), "/disable");
		f = fopen(path, "w");
		if (!f || fputs(on ? "0" : "1", f) < 0 || fclose(f))
			die(path);
	}
	return true;
}

/* With another CPU, and the same again if nobody polls for work, which only some kernels do */
#define PINGPONG_ROWS(name, same_core)				\
static void name(void)						\
{								\
	int cpu = other_cpu(same_core);				\
								\
	if (cpu)						\
		PINGPONG(ROW_##name, cpu);			\
}								\
								\
static void name##_cede(void)					\
{								\
	int cpu = other_cpu(same_core);				\
								\
	if (cpu && snooze(false)) {				\
		PINGPONG(ROW_##name##_cede, cpu);		\
		snooze(true);					\
	}							\
}

/* Sibling threads of a core; no machine of QEMU 7.2 has any. */
PINGPONG_ROWS(pingpong_threads, true)
PINGPONG_ROWS(pingpong_cores, false)

/* Nothing but a loop; what the kernel does in a window is the timer interrupts. */
static void timer_user(void)
{
	for (int w = 0; w < 10; w++) {
		bench_start(ROW_timer_user);
		spin(5000000);
		bench_stop(1);
	}
}

/*
 * Rows that the module runs while it is being loaded. Without the module, or with too
 * few CPUs, there is no such row.
 */
static void module_row(int row)
{
	char parameter[32];
	int fd = open("/lab/labbench.ko", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	snprintf(parameter, sizeof(parameter), "row=%d short=%d", row, short_windows);
	if (!syscall(__NR_finit_module, fd, parameter, 0)) {
		if (syscall(__NR_delete_module, "labbench", 0))
			die("delete_module");
	} else if (errno != ENODEV) {
		die("finit_module");
	}
	close(fd);
}

/* The last CPU is in user space, in a loop that lets the emulator run other CPUs. */
static void ipi_busy(void)
{
	int last = sysconf(_SC_NPROCESSORS_ONLN) - 1;
	pid_t pid;

	if (last < 1)
		return;
	pid = fork();
	if (pid < 0)
		die("fork");
	if (!pid) {
		pin(last);
		for (;;) {
			spin(1000);
			asm volatile("or 1,1,1; or 2,2,2" ::: "memory");
		}
	}
	usleep(20000);
	module_row(ROW_ipi_busy);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* Work on entry: a filter that allows everything. */
static void seccomp_filter(void)
{
	struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	struct sock_fprog filter = { .len = 1, .filter = &allow };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter))
		die("seccomp");
}

static void filtered_windows(void)
{
	seccomp_filter();
	sc_windows(ROW_sc_seccomp);
}

static void sc_seccomp(void)
{
	in_child(filtered_windows, "seccomp row");
}

static void audit_request(int fd, int type, const void *data, int size)
{
	struct {
		struct nlmsghdr nlh;
		char data[sizeof(struct audit_rule_data) + sizeof(struct audit_status)];
	} msg = { .nlh = {
		.nlmsg_len = NLMSG_LENGTH(size),
		.nlmsg_type = type,
		.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK,
	} };
	struct { struct nlmsghdr nlh; struct nlmsgerr err; } ack;

	memcpy(msg.data, data, size);
	if (send(fd, &msg, msg.nlh.nlmsg_len, 0) < 0 || recv(fd, &ack, sizeof(ack), 0) < 0 ||
	    ack.nlh.nlmsg_type != NLMSG_ERROR || ack.err.error)
		die("audit");
}

/*
 * Work on entry and exit: a rule for another system call, one that nothing here makes.
 * A task that is born after the first rule stays audited. False: a kernel without audit.
 */
static bool audit_rule(int request)
{
	struct audit_status on = { .mask = AUDIT_STATUS_ENABLED, .enabled = 1 };
	struct audit_rule_data rule = { .flags = AUDIT_FILTER_EXIT, .action = AUDIT_ALWAYS };
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_AUDIT);

	if (fd < 0)
		return false;
	rule.mask[AUDIT_WORD(__NR_swapon)] = AUDIT_BIT(__NR_swapon);
	audit_request(fd, AUDIT_SET, &on, sizeof(on));
	audit_request(fd, request, &rule, sizeof(rule));
	close(fd);
	return true;
}

static bool audited;	/* all rows are */

static void audited_windows(void)
{
	sc_windows(ROW_sc_audit);
}

/* It changes all tasks after it, so this is the last row. */
static void sc_audit(void)
{
	if (audited || !audit_rule(AUDIT_ADD_RULE))
		return;
	in_child(audited_windows, "audit row");
	audit_rule(AUDIT_DEL_RULE);
}

#define MODULE_ROW(name) static void name(void) { module_row(ROW_##name); }
MODULE_ROW(timer_kernel)
MODULE_ROW(ipi_idle)
MODULE_ROW(ipi_broadcast)
MODULE_ROW(ipi_lock)
MODULE_ROW(ipi_self)

static const struct {
	const char *name;
	void (*run)(void);
} rows[] = {
	{ "sc_getppid", sc_getppid },
	{ "scv_getppid", scv_getppid },
	{ "sc_unknown", sc_unknown },
	{ "sc_getpgid", sc_getpgid },
	{ "fork", do_fork },
	{ "execve", do_execve },
	{ "minor_fault", minor_fault },
	{ "signal", do_signal },
	{ "timer_user", timer_user },
	{ "timer_kernel", timer_kernel },
	{ "pingpong", pingpong },
	{ "pingpong_threads", pingpong_threads },
	{ "pingpong_threads_cede", pingpong_threads_cede },
	{ "pingpong_cores", pingpong_cores },
	{ "pingpong_cores_cede", pingpong_cores_cede },
	{ "ipi_busy", ipi_busy },
	{ "ipi_idle", ipi_idle },
	{ "ipi_broadcast", ipi_broadcast },
	{ "ipi_lock", ipi_lock },
	{ "ipi_self", ipi_self },
	{ "sc_seccomp", sc_seccomp },
	{ "sc_audit", sc_audit },
};

#define NR_ROWS	(sizeof(rows) / sizeof(rows[0]))

static char **wanted;	/* rows, up to a NULL; none: all */

static bool is_wanted(const char *name)
{
	for (char **w = wanted; *w; w++)
		if (!strcmp(*w, name))
			return true;
	return !*wanted;
}

static bool is_row(const char *name)
{
	for (size_t i = 0; i < NR_ROWS; i++)
		if (!strcmp(rows[i].name, name))
			return true;
	return false;
}

static void run_rows(void)
{
	for (size_t i = 0; i < NR_ROWS; i++) {
		if (!is_wanted(rows[i].name))
			continue;
		rows[i].run();
		printf("# bench: %s done\n", rows[i].name);
		fflush(stdout);
		/* Whoever reads this is done before the next row starts. */
		usleep(20000);
	}
}

int main(int argc, char **argv)
{
	bool seccomp = false;

	if (argc == 3 && !strcmp(argv[1], "--exec-step"))
		exec_step(atoi(argv[2]));

	/* The same addresses in every run. It applies from the next execve() on. */
	if (!(personality(0xffffffff) & ADDR_NO_RANDOMIZE)) {
		personality(ADDR_NO_RANDOMIZE);
		execv("/proc/self/exe", argv);
		die("execve");
	}
	pin(0);

	for (wanted = argv + 1; *wanted && **wanted == '+'; wanted++) {
		if (!strcmp(*wanted, "+audit"))
			audited = true;
		else if (!strcmp(*wanted, "+seccomp"))
			seccomp = true;
		else if (!strcmp(*wanted, "+short"))
			short_windows = true;
		else
			break;
	}
	for (char **w = wanted; *w; w++) {
		if (!is_row(*w)) {
			fprintf(stderr, "bench: no row %s\n", *w);
			return 2;
		}
	}
	if (audited && !audit_rule(AUDIT_ADD_RULE)) {
		fprintf(stderr, "bench: a kernel without audit\n");
		return 1;
	}
	if (seccomp)
		seccomp_filter();
	if (audited)
		in_child(run_rows, "audited rows");
	else
		run_rows();
	return 0;
}
