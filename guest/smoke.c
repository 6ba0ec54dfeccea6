// SPDX-License-Identifier: GPL-2.0-only
/*
 * smoke - does the kernel still enter and leave as user programs expect?
 *
 * A few seconds on one emulated CPU. Every test is a sentence that must hold on
 * plain 6.12. Built for 64 and for 32 bits; system calls are made by hand, by
 * `sc` and where there is one by `scv`, since the C library takes only one.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <ucontext.h>

#include "ktap.h"

/* The pt_regs of ptrace and of signal frames, as longs. */
enum { R0 = 0, R3 = 3, R4 = 4, NIP = 32, MSR, ORIG_R3, CTR, LNK, XER, CCR,
       SOFTE, TRAP, DAR, DSISR, RESULT, NREGS };

#ifdef __powerpc64__
#define UC_REGS(uc)	((unsigned long *)(uc)->uc_mcontext.gp_regs)
#else
#define UC_REGS(uc)	((unsigned long *)(uc)->uc_mcontext.uc_regs->gregs)
#endif

#define CR0_SO		0x10000000UL

struct gprs {
	unsigned long gpr[32], cr, lr, ctr, xer;
};

/* smoke.S */
void gpr_sc(const struct gprs *in, struct gprs *out);
void gpr_scv(const struct gprs *in, struct gprs *out);
void gpr_spin(const struct gprs *in, struct gprs *out);
void fp_sc(const void *in, void *out, long nr, long a, long b);
void fp_scv(const void *in, void *out, long nr, long a, long b);
void fp_spin(const void *in, void *out, long loops);
void vmx_sc(const void *in, void *out, long nr, long a, long b);
void vmx_scv(const void *in, void *out, long nr, long a, long b);
void vmx_spin(const void *in, void *out, long loops);
void vsx_sc(const void *in, void *out, long nr, long a, long b);
void vsx_scv(const void *in, void *out, long nr, long a, long b);
void vsx_spin(const void *in, void *out, long loops);
long step_here(void);

/* ---- system calls by hand ---------------------------------------------- */

struct result {
	long r3;
	bool so;
};

static struct result sc(long nr, long a, long b, long c)
{
	register long r0 asm("r0") = nr;
	register long r3 asm("r3") = a;
	register long r4 asm("r4") = b;
	register long r5 asm("r5") = c;

	asm volatile("sc\n\tmfcr %0"
		     : "+r"(r0), "+r"(r3), "+r"(r4), "+r"(r5)
		     : : "r6", "r7", "r8", "r9", "r10", "r11", "r12", "cr0",
		       "ctr", "xer", "memory");
	return (struct result){ r3, r0 & CR0_SO };
}

static struct result scv(long nr, long a, long b, long c)
{
#ifdef __powerpc64__
	register long r0 asm("r0") = nr;
	register long r3 asm("r3") = a;
	register long r4 asm("r4") = b;
	register long r5 asm("r5") = c;

	asm volatile(".long 0x44000001\n\tmfcr %0"	/* scv 0 */
		     : "+r"(r0), "+r"(r3), "+r"(r4), "+r"(r5)
		     : : "r6", "r7", "r8", "r9", "r10", "r11", "r12", "cr0",
		       "cr1", "cr5", "cr6", "cr7", "lr", "ctr", "xer", "memory");
	return (struct result){ r3, r0 & CR0_SO };
#else
	abort();
#endif
}

typedef struct result (*call_t)(long nr, long a, long b, long c);

static bool has_scv(void)
{
	/* PPC_FEATURE2_SCV; for a 32-bit program there is no scv at all. */
	return sizeof(long) == 8 && (getauxval(AT_HWCAP2) & 0x00100000);
}

static bool has_fp(void)
{
	return getauxval(AT_HWCAP) & 0x08000000;
}

static bool has_vmx(void)
{
	return getauxval(AT_HWCAP) & 0x10000000;
}

static bool has_vsx(void)
{
	return getauxval(AT_HWCAP) & 0x00000080;
}

/* Run a statement for each way to make a system call, `call` being the way. */
static const call_t ways[] = { sc, scv };

#define for_each_way(call)						\
	for (int way_ = 0; way_ < 1 + has_scv(); way_++)		\
		for (call_t call = ways[way_]; call; call = NULL)

/* The result and the error as the ABI has them, which differs by the way. */
#define CHECK_RESULT(call, res, want)					\
	do {								\
		struct result res_ = res;				\
									\
		CHECK_EQ(res_.r3, want);				\
		CHECK_EQ(res_.so, 0);					\
	} while (0)

#define CHECK_ERROR(call, res, err)					\
	do {								\
		struct result res_ = res;				\
									\
		CHECK_EQ(res_.r3, (call) == sc ? (err) : -(err));	\
		CHECK_EQ(res_.so, (call) == sc);			\
	} while (0)

static void handle(int sig, void (*fn)(int, siginfo_t *, void *), int flags)
{
	struct sigaction sa = { .sa_sigaction = fn, .sa_flags = SA_SIGINFO | flags };

	CHECK_EQ(sigaction(sig, &sa, NULL), 0);
}

/*
 * SIGALRM again and again, until every(0). A single one might come before the
 * call that it is meant for: a busy host can stop the guest for that long.
 */
static void every(long usec)
{
	struct itimerval it = {
		.it_value.tv_usec = usec,
		.it_interval.tv_usec = usec,
	};

	CHECK_EQ(setitimer(ITIMER_REAL, &it, NULL), 0);
}

static void once_after(long usec)
{
	struct itimerval it = { .it_value.tv_usec = usec };

	CHECK_EQ(setitimer(ITIMER_REAL, &it, NULL), 0);
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

/* Wait for a child that must end by itself with this exit code. */
#define CHECK_EXIT(pid, code)						\
	do {								\
		int status_;						\
									\
		CHECK_EQ(waitpid(pid, &status_, 0), pid);		\
		CHECK(WIFEXITED(status_));				\
		CHECK_EQ(WEXITSTATUS(status_), code);			\
	} while (0)

static void *shared_page(void)
{
	void *p = mmap(NULL, sysconf(_SC_PAGESIZE), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	CHECK(p != MAP_FAILED);
	return p;
}

/* ---- system calls ------------------------------------------------------- */

TEST("a thousand getppid calls name the parent")
{
	long ppid = getppid();

	for_each_way(call)
		for (int i = 0; i < 1000; i++)
			CHECK_RESULT(call, call(SYS_getppid, 0, 0, 0), ppid);
}

TEST("an unknown system call fails with ENOSYS")
{
	for_each_way(call) {
		CHECK_ERROR(call, call(9999, 0, 0, 0), ENOSYS);
		CHECK_ERROR(call, call(-1, 0, 0, 0), ENOSYS);
	}
}

TEST("high bits beside a valid number make it unknown")
{
#ifdef __powerpc64__
	for_each_way(call)
		CHECK_ERROR(call, call((1L << 32) | SYS_getppid, 0, 0, 0), ENOSYS);
#else
	SKIP("a 32-bit program has none");
#endif
}

TEST("an error is EBADF with CR0.SO by sc and -EBADF without by scv")
{
	for_each_way(call)
		CHECK_ERROR(call, call(SYS_close, -1, 0, 0), EBADF);
}

TEST("the system call takes its arguments from the right registers")
{
	int pipefd[2];
	char buf[8];

	CHECK_EQ(pipe(pipefd), 0);
	for_each_way(call) {
		CHECK_RESULT(call, call(SYS_write, pipefd[1], (long)"abcd", 4), 4);
		CHECK_RESULT(call, call(SYS_read, pipefd[0], (long)buf, 8), 4);
		CHECK(!memcmp(buf, "abcd", 4));
		CHECK_ERROR(call, call(SYS_write, pipefd[1], 16, 4), EFAULT);
	}
}

static void fill_gprs(struct gprs *g, unsigned long seed)
{
	for (int i = 0; i < 32; i++)
		g->gpr[i] = (seed + i) * (unsigned long)0x9e3779b97f4a7c15ULL;
	g->lr = seed * 0x1000;
	g->cr = 0xa5a5a5a5 & ~CR0_SO;
	g->ctr = 0x12345678;
	g->xer = 0x20000000;		/* CA */
}

/* Registers @first to r31 that a program can set, r1 and the TLS one excepted. */
static void check_gprs(const struct gprs *in, const struct gprs *out, int first)
{
	int tls = sizeof(long) == 8 ? 13 : 2;

	for (int i = first; i < 32; i++) {
		if (i == 1 || i == tls)
			continue;
		if (in->gpr[i] != out->gpr[i])
			ktap_note("r%d is 0x%lx, not 0x%lx", i, out->gpr[i], in->gpr[i]);
		CHECK(in->gpr[i] == out->gpr[i]);
	}
}

TEST("a system call keeps the registers that the ABI says it keeps")
{
	struct gprs in, out;

	for (int i = 0; i < 1 + has_scv(); i++) {
		fill_gprs(&in, 3 + i);
		in.gpr[0] = SYS_getppid;
		(i ? gpr_scv : gpr_sc)(&in, &out);
		CHECK_EQ(out.gpr[3], getppid());
		CHECK(out.gpr[2] == in.gpr[2] || sizeof(long) == 4);
		check_gprs(&in, &out, 14);
		if (!i) {
			CHECK_EQ(out.lr, in.lr);
			CHECK_EQ(out.cr & 0x0fffffff, in.cr & 0x0fffffff);
		}
		CHECK_EQ(out.cr & 0x00fff000, in.cr & 0x00fff000);
	}
}

/* ---- FP, VMX and VSX state ---------------------------------------------- */

struct vecs {
	uint64_t w[128] __attribute__((aligned(16)));
};

static struct vec_file {
	const char *name;
	int words;			/* of 64 bits */
	bool (*present)(void);
	void (*sc)(const void *in, void *out, long nr, long a, long b);
	void (*scv)(const void *in, void *out, long nr, long a, long b);
	void (*spin)(const void *in, void *out, long loops);
} vec_files[] = {
	{ "FP", 32, has_fp, fp_sc, fp_scv, fp_spin },
	{ "VMX", 64, has_vmx, vmx_sc, vmx_scv, vmx_spin },
	{ "VSX", 128, has_vsx, vsx_sc, vsx_scv, vsx_spin },
};

#define for_each_vec_file(f)						\
	for (struct vec_file *f = vec_files; f < vec_files + 3; f++)	\
		if (f->present())

static void fill_vecs(struct vecs *v, uint64_t seed)
{
	/* Finite doubles, so that loads do not change them on any machine. */
	for (int i = 0; i < 128; i++)
		v->w[i] = 0x3ff0000000000000ULL | ((seed << 16) + i * 0x101);
}

static void check_vecs(const struct vec_file *f, const struct vecs *in,
		       const struct vecs *out)
{
	for (int i = 0; i < f->words; i++) {
		if (in->w[i] == out->w[i])
			continue;
		ktap_note("%s word %d is %llx, not %llx", f->name, i,
			  (unsigned long long)out->w[i], (unsigned long long)in->w[i]);
		CHECK(in->w[i] == out->w[i]);
	}
}

/* Overwrite all vector registers. */
static void spoil_vecs(void)
{
	struct vecs v, out;

	fill_vecs(&v, 0x666);
	for_each_vec_file(f)
		f->spin(&v, &out, 1);
}

static void on_signal_spoil(int sig, siginfo_t *si, void *uc)
{
	spoil_vecs();
}

TEST("FP, VMX and VSX registers survive a system call")
{
	struct vecs in, out;

	for_each_vec_file(f) {
		fill_vecs(&in, 1);
		f->sc(&in, &out, SYS_getppid, 0, 0);
		check_vecs(f, &in, &out);
		if (has_scv()) {
			fill_vecs(&in, 2);
			f->scv(&in, &out, SYS_getppid, 0, 0);
			check_vecs(f, &in, &out);
		}
	}
}

TEST("they survive a signal whose handler overwrites them")
{
	struct vecs in, out;

	handle(SIGUSR1, on_signal_spoil, 0);
	for_each_vec_file(f) {
		fill_vecs(&in, 3);
		f->sc(&in, &out, SYS_kill, getpid(), SIGUSR1);
		check_vecs(f, &in, &out);
		if (has_scv()) {
			f->scv(&in, &out, SYS_kill, getpid(), SIGUSR1);
			check_vecs(f, &in, &out);
		}
	}
}

TEST("they survive fork, in the parent and in the child")
{
	struct vecs in, out;
	pid_t self = getpid();
	int status;

	for_each_vec_file(f) {
		fill_vecs(&in, 4);
		f->sc(&in, &out, SYS_fork, 0, 0);
		check_vecs(f, &in, &out);
		if (getpid() != self)
			_exit(9);
		CHECK(waitpid(-1, &status, 0) > 0);
		CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 9);
	}
}

TEST("they survive being preempted by a process that uses them too")
{
	/* How far each of the two is, and how often it saw the other get on. */
	volatile struct { long round, seen; } *p = shared_page();
	struct vecs in, out;
	cpu_set_t one;
	pid_t pids[2];

	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	CHECK_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
	for (int i = 0; i < 2; i++) {
		long other = 0;

		pids[i] = fork();
		CHECK(pids[i] >= 0);
		if (pids[i])
			continue;
		alarm(10);
		/* No system call in here: the timer interrupt has to do it. */
		for (;;) {
			for_each_vec_file(f) {
				fill_vecs(&in, 16 + i);
				f->spin(&in, &out, 20000);
				check_vecs(f, &in, &out);
			}
			p[i].round++;
			p[i].seen += p[!i].round != other;
			other = p[!i].round;
			if (p[0].seen >= 10 && p[1].seen >= 10)
				_exit(0);
		}
	}
	for (int i = 0; i < 2; i++) {
		int status;

		CHECK_EQ(waitpid(pids[i], &status, 0), pids[i]);
		if (status)
			ktap_note("preempted %ld times", p[i].seen);
		CHECK_EQ(status, 0);
	}
}

TEST("a task that moves over all CPUs arrives there, its registers with it")
{
	struct vecs in, out;
	cpu_set_t all, one;
	unsigned int cpu, got;

	CHECK_EQ(sched_getaffinity(0, sizeof(all), &all), 0);
	for (int round = 0; round < 20; round++) {
		for (cpu = 0; cpu < CPU_SETSIZE; cpu++) {
			if (!CPU_ISSET(cpu, &all))
				continue;
			CPU_ZERO(&one);
			CPU_SET(cpu, &one);
			CHECK_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
			CHECK_EQ(syscall(SYS_getcpu, &got, NULL, NULL), 0);
			CHECK_EQ(got, cpu);
			for_each_vec_file(f) {
				CHECK_EQ(sched_setaffinity(0, sizeof(all), &all), 0);
				fill_vecs(&in, cpu);
				f->sc(&in, &out, SYS_sched_yield, 0, 0);
				check_vecs(f, &in, &out);
			}
		}
	}
}

/* ---- processes ---------------------------------------------------------- */

TEST("twenty forked children exit with the code they were told")
{
	for (int i = 0; i < 20; i++) {
		pid_t pid = fork();

		CHECK(pid >= 0);
		if (!pid)
			_exit(i);
		CHECK_EXIT(pid, i);
	}
}

static volatile int vfork_seen;

static pid_t vfork_and_exec(int i)
{
	pid_t pid = vfork();

	if (!pid) {
		vfork_seen = i;
		execl("/proc/self/exe", "smoke", "--exec-probe", "42", NULL);
		_exit(1);
	}
	return pid;
}

TEST("vfork runs the child first and exec in it works")
{
	for (int i = 1; i <= 10; i++) {
		pid_t pid = vfork_and_exec(i);

		CHECK(pid > 0);
		CHECK_EQ(vfork_seen, i);
		CHECK_EXIT(pid, 42);
	}
}

TEST("a process that execs itself again and again gets its arguments")
{
	pid_t pid = fork();

	CHECK(pid >= 0);
	if (!pid) {
		execl("/proc/self/exe", "smoke", "--exec-again", "10", NULL);
		_exit(1);
	}
	CHECK_EXIT(pid, 33);
}

static void *thread_adds(void *arg)
{
	*(long *)arg += 1;
	return arg;
}

TEST("threads start, end and are joined")
{
	for (long i = 0; i < 20; i++) {
		pthread_t t;
		void *ret;
		long n = i;

		CHECK_EQ(pthread_create(&t, NULL, thread_adds, &n), 0);
		CHECK_EQ(pthread_join(t, &ret), 0);
		CHECK(ret == &n);
		CHECK_EQ(n, i + 1);
	}
}

static int futex_word;

static void futex_pass(int from, int to)
{
	while (__atomic_load_n(&futex_word, __ATOMIC_ACQUIRE) != from)
		syscall(SYS_futex, &futex_word, FUTEX_WAIT, to, NULL, NULL, 0);
	__atomic_store_n(&futex_word, to, __ATOMIC_RELEASE);
	CHECK(syscall(SYS_futex, &futex_word, FUTEX_WAKE, 1, NULL, NULL, 0) >= 0);
}

static void *futex_other(void *arg)
{
	for (int i = 0; i < 200; i++)
		futex_pass(1, 0);
	return NULL;
}

TEST("two threads pass a futex 200 times")
{
	pthread_t t;

	CHECK_EQ(pthread_create(&t, NULL, futex_other, NULL), 0);
	for (int i = 0; i < 200; i++)
		futex_pass(0, 1);
	CHECK_EQ(pthread_join(t, NULL), 0);
}

TEST("two processes play ping-pong over pipes 200 times")
{
	int ping[2], pong[2];
	pid_t pid;
	char c;

	CHECK_EQ(pipe(ping), 0);
	CHECK_EQ(pipe(pong), 0);
	pid = fork();
	CHECK(pid >= 0);
	if (!pid) {
		close(ping[1]);
		while (read(ping[0], &c, 1) == 1) {
			c++;
			if (write(pong[1], &c, 1) != 1)
				_exit(1);
		}
		_exit(0);
	}
	for (int i = 0; i < 200; i++) {
		c = i;
		CHECK_EQ(write(ping[1], &c, 1), 1);
		CHECK_EQ(read(pong[0], &c, 1), 1);
		CHECK_EQ((unsigned char)c, (i + 1) & 255);
	}
	close(ping[1]);
	CHECK_EXIT(pid, 0);
}

/* ---- time --------------------------------------------------------------- */

TEST("nanosleep sleeps as long as it was asked to")
{
	struct timespec ts = { .tv_nsec = 20 * 1000 * 1000 };
	double start = now();

	CHECK_EQ(nanosleep(&ts, NULL), 0);
	CHECK(now() - start >= 0.020);
	CHECK(now() - start < 5);
}

TEST("a nanosleep that was stopped and continued goes on to its end")
{
	struct timespec ts = { .tv_nsec = 200 * 1000 * 1000 };
	double start = now();
	pid_t pid = fork();
	int status;

	CHECK(pid >= 0);
	if (!pid)
		_exit(nanosleep(&ts, NULL) ? 1 : 0);
	usleep(50 * 1000);
	CHECK_EQ(kill(pid, SIGSTOP), 0);
	CHECK_EQ(waitpid(pid, &status, WUNTRACED), pid);
	CHECK(WIFSTOPPED(status));
	CHECK_EQ(kill(pid, SIGCONT), 0);
	CHECK_EXIT(pid, 0);
	CHECK(now() - start >= 0.200);
}

static volatile int count;

static void on_signal_count(int sig, siginfo_t *si, void *uc)
{
	count++;
}

TEST("a signal ends nanosleep with EINTR and the time that is left")
{
	struct timespec ts = { .tv_sec = 20 }, left = { 0 };

	handle(SIGALRM, on_signal_count, SA_RESTART);
	every(20000);
	CHECK_EQ(nanosleep(&ts, &left), -1);
	CHECK_EQ(errno, EINTR);
	CHECK(count > 0);
	CHECK(left.tv_sec >= 10 && left.tv_sec < 20);
}

/* Asks for the next one when done: on a slow host nothing else would run. */
static void on_alarm_spoil(int sig, siginfo_t *si, void *uc)
{
	count++;
	spoil_vecs();
	once_after(count < 100 ? 1000 : 0);
}

TEST("a storm of timer signals changes no register of the loop it hits")
{
	struct gprs in, out;
	struct vecs v, vout;
	int seed = 0;

	handle(SIGALRM, on_alarm_spoil, 0);
	once_after(1000);
	while (count < 100) {
		fill_gprs(&in, ++seed);
		in.ctr = 10000;
		in.cr = seed * 0x01234567;
		in.xer = seed & 1 ? 0x20000000 : 0xc0000000;
		gpr_spin(&in, &out);
		check_gprs(&in, &out, 0);
		CHECK_EQ(out.ctr, 0);
		CHECK_EQ(out.lr, in.lr);
		CHECK_EQ(out.cr & 0xffffffff, in.cr & 0xffffffff);
		CHECK_EQ(out.xer & 0xe0000000, in.xer & 0xe0000000);
		for_each_vec_file(f) {
			fill_vecs(&v, seed);
			f->spin(&v, &vout, 5000);
			check_vecs(f, &v, &vout);
		}
	}
}

TEST("a storm of timer signals disturbs no system call")
{
	long ppid = getppid();

	handle(SIGALRM, on_alarm_spoil, SA_RESTART);
	once_after(1000);
	while (count < 100) {
		for_each_way(call) {
			CHECK_RESULT(call, call(SYS_getppid, 0, 0, 0), ppid);
			CHECK_ERROR(call, call(SYS_close, -1, 0, 0), EBADF);
		}
	}
}

/* ---- signals ------------------------------------------------------------ */

static int pipe_fd[2];

/* The first signal interrupts the read, the second one brings it something. */
static void on_alarm_write(int sig, siginfo_t *si, void *uc)
{
	if (++count == 2)
		CHECK_EQ(write(pipe_fd[1], "x", 1), 1);
}

TEST("a read with SA_RESTART goes on after the signal")
{
	char c;

	CHECK_EQ(pipe(pipe_fd), 0);
	handle(SIGALRM, on_alarm_write, SA_RESTART);
	for_each_way(call) {
		count = 0;
		every(20000);
		CHECK_RESULT(call, call(SYS_read, pipe_fd[0], (long)&c, 1), 1);
		every(0);
		CHECK(count >= 2);
		CHECK_EQ(c, 'x');
	}
}

TEST("a read without SA_RESTART fails with EINTR")
{
	char c;

	CHECK_EQ(pipe(pipe_fd), 0);
	handle(SIGALRM, on_signal_count, 0);
	for_each_way(call) {
		count = 0;
		every(20000);
		CHECK_ERROR(call, call(SYS_read, pipe_fd[0], (long)&c, 1), EINTR);
		every(0);
		CHECK(count > 0);
	}
}

static void on_signal_nest(int sig, siginfo_t *si, void *uc)
{
	struct vecs in, out;
	int depth = ++count;

	for_each_vec_file(f) {
		fill_vecs(&in, depth);
		if (depth < 10)
			f->sc(&in, &out, SYS_kill, getpid(), SIGUSR1);
		else
			f->sc(&in, &out, SYS_getppid, 0, 0);
		check_vecs(f, &in, &out);
		break;
	}
	if (depth < 10 && count == depth)
		raise(SIGUSR1);
}

TEST("signal handlers nest ten deep, each keeping its registers")
{
	handle(SIGUSR1, on_signal_nest, SA_NODEFER);
	raise(SIGUSR1);
	CHECK_EQ(count, 10);
}

static char order[8];

static void on_signal_order(int sig, siginfo_t *si, void *uc)
{
	strcat(order, sig == SIGUSR1 ? "1" : "2");
}

TEST("blocked signals wait, and are all delivered by the call that unblocks them")
{
	sigset_t set, old;

	handle(SIGUSR1, on_signal_order, 0);
	handle(SIGUSR2, on_signal_order, 0);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGUSR2);
	sigprocmask(SIG_BLOCK, &set, &old);
	raise(SIGUSR1);
	raise(SIGUSR2);
	CHECK_EQ(order[0], 0);
	sigprocmask(SIG_SETMASK, &old, NULL);
	CHECK_EQ(strlen(order), 2);
}

TEST("sigsuspend takes one signal and puts the mask back")
{
	sigset_t usr1, none, got;

	handle(SIGUSR1, on_signal_count, 0);
	sigemptyset(&none);
	sigemptyset(&usr1);
	sigaddset(&usr1, SIGUSR1);
	sigprocmask(SIG_BLOCK, &usr1, NULL);
	raise(SIGUSR1);
	CHECK_EQ(count, 0);
	CHECK_EQ(sigsuspend(&none), -1);
	CHECK_EQ(errno, EINTR);
	CHECK_EQ(count, 1);
	sigprocmask(SIG_BLOCK, NULL, &got);
	CHECK(sigismember(&got, SIGUSR1));
}

static sigjmp_buf jump;
static siginfo_t info;
static unsigned long fault_nip;

static void on_signal_jump(int sig, siginfo_t *si, void *uc)
{
	info = *si;
	fault_nip = UC_REGS((ucontext_t *)uc)[NIP];
	siglongjmp(jump, 1);
}

TEST("SIGSEGV tells the address and that nothing is mapped there")
{
	char *p = mmap(NULL, 65536, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(p != MAP_FAILED);
	munmap(p, 65536);
	handle(SIGSEGV, on_signal_jump, 0);
	if (!sigsetjmp(jump, 1)) {
		*(volatile char *)(p + 5) = 1;
		CHECK(!"reached");
	}
	CHECK_EQ(info.si_code, SEGV_MAPERR);
	CHECK(info.si_addr == p + 5);
}

static char *protected_page;

static void on_segv_unprotect(int sig, siginfo_t *si, void *uc)
{
	CHECK_EQ(si->si_code, SEGV_ACCERR);
	CHECK(si->si_addr == protected_page + count);
	count++;
	mprotect(protected_page, 65536, PROT_READ | PROT_WRITE);
}

TEST("a store that a SIGSEGV handler made legal is done after it returns")
{
	protected_page = mmap(NULL, 65536, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(protected_page != MAP_FAILED);
	handle(SIGSEGV, on_segv_unprotect, 0);
	for (int i = 0; i < 20; i++) {
		mprotect(protected_page, 65536, PROT_READ);
		*(volatile char *)(protected_page + i) = i + 1;
		CHECK_EQ(count, i + 1);
		CHECK_EQ(protected_page[i], i + 1);
	}
}

#pragma GCC diagnostic ignored "-Winfinite-recursion"

static int overflow(volatile char *above)
{
	volatile char buf[4096];

	buf[0] = above[0];
	return overflow(buf) + buf[0];
}

TEST("a stack that overflows gets its SIGSEGV on the alternate stack")
{
	stack_t ss = { .ss_size = 65536, .ss_sp = malloc(65536) };
	char c = 0;

	CHECK_EQ(sigaltstack(&ss, NULL), 0);
	handle(SIGSEGV, on_signal_jump, SA_ONSTACK);
	if (!sigsetjmp(jump, 1)) {
		overflow(&c);
		CHECK(!"reached");
	}
	CHECK((char *)info.si_addr < &c);
}

static void on_sigill_skip(int sig, siginfo_t *si, void *uc)
{
	unsigned long *regs = UC_REGS((ucontext_t *)uc);

	info = *si;
	fault_nip = regs[NIP];
	regs[NIP] += 4;
	regs[R3] = 77;
	count++;
}

TEST("SIGILL names the instruction, and its handler can step over it")
{
	register long r3 asm("r3") = 1;

	handle(SIGILL, on_sigill_skip, 0);
	asm volatile(".long 0" : "+r"(r3));
	CHECK_EQ(r3, 77);
	CHECK_EQ(count, 1);
	CHECK_EQ(info.si_code, ILL_ILLOPC);
	CHECK((unsigned long)info.si_addr == fault_nip);
}

TEST("scv with a vector that Linux does not use is SIGILL")
{
	register long r3 asm("r3") = 1;

	if (!has_scv())
		SKIP("no scv here");
	handle(SIGILL, on_sigill_skip, 0);
	asm volatile(".long 0x44000021" : "+r"(r3) : : "r0", "r4", "r5", "r6",
		     "r7", "r8", "r9", "r10", "r11", "r12", "cr0", "lr", "ctr",
		     "xer", "memory");	/* scv 1 */
	CHECK_EQ(count, 1);
	CHECK_EQ(info.si_code, ILL_ILLOPC);
}

TEST("a trap instruction is SIGTRAP with TRAP_BRKPT")
{
	register long r3 asm("r3") = 1;

	handle(SIGTRAP, on_sigill_skip, 0);
	asm volatile("trap" : "+r"(r3));
	CHECK_EQ(r3, 77);
	CHECK_EQ(info.si_code, TRAP_BRKPT);
	CHECK((unsigned long)info.si_addr == fault_nip);
}

TEST("a division by zero with exceptions enabled is SIGFPE with FPE_FLTDIV")
{
	volatile double zero = 0, one = 1, res;

	if (!has_fp())
		SKIP("no floating point unit");
	handle(SIGFPE, on_signal_jump, 0);
	if (!sigsetjmp(jump, 1)) {
		/* By hand: for feenableexcept() libc has instructions of POWER9. */
		CHECK_EQ(prctl(PR_SET_FPEXC, PR_FP_EXC_PRECISE, 0, 0, 0), 0);
		asm volatile("mtfsb1 27");	/* FPSCR[ZE] */
		res = one / zero;
		(void)res;
		CHECK(!"reached");
	}
	CHECK_EQ(info.si_code, FPE_FLTDIV);
}

TEST("a reserved load from an odd address is SIGBUS with BUS_ADRALN")
{
	static int words[4];
	int value;

	handle(SIGBUS, on_signal_jump, 0);
	if (!sigsetjmp(jump, 1)) {
		asm volatile("lwarx %0, 0, %1"
			     : "=r"(value) : "r"((char *)words + 1) : "memory");
		CHECK(!"reached");
	}
	CHECK_EQ(info.si_code, BUS_ADRALN);
}

TEST("a signal without a handler ends the process, its parent sees which")
{
	static const int sigs[] = { SIGTERM, SIGSEGV, SIGILL, SIGKILL };
	int status;

	for (int i = 0; i < 4; i++) {
		pid_t pid = fork();

		CHECK(pid >= 0);
		if (!pid) {
			kill(getpid(), sigs[i]);
			_exit(1);
		}
		CHECK_EQ(waitpid(pid, &status, 0), pid);
		CHECK(WIFSIGNALED(status));
		CHECK_EQ(WTERMSIG(status), sigs[i]);
	}
}

static ucontext_t uc_main, uc_other;
static volatile int switches;

static void other_context(void)
{
	for (;;) {
		switches++;
		swapcontext(&uc_other, &uc_main);
	}
}

TEST("swapcontext switches back and forth a hundred times")
{
	static char stack[256 * 1024];
	volatile double d = 1.5;

	CHECK_EQ(getcontext(&uc_other), 0);
	uc_other.uc_stack.ss_sp = stack;
	uc_other.uc_stack.ss_size = sizeof(stack);
	uc_other.uc_link = NULL;
	makecontext(&uc_other, other_context, 0);
	for (int i = 0; i < 100; i++) {
		double x = d * i;

		CHECK_EQ(swapcontext(&uc_main, &uc_other), 0);
		CHECK(x == 1.5 * i);
		CHECK_EQ(switches, i + 1);
	}
}

/* ---- memory ------------------------------------------------------------- */

TEST("pages that are mapped, touched and unmapped are zero each time")
{
	long page = sysconf(_SC_PAGESIZE);

	for (int i = 0; i < 100; i++) {
		volatile char *p = mmap(NULL, 8 * page, PROT_READ | PROT_WRITE,
					MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		CHECK(p != MAP_FAILED);
		for (int j = 0; j < 8; j++) {
			CHECK_EQ(p[j * page + i], 0);
			p[j * page + i] = j + 1;
		}
		CHECK_EQ(munmap((void *)p, 8 * page), 0);
	}
}

TEST("parent and child have their own copies after fork")
{
	static volatile int page[65536];
	pid_t pid;

	page[0] = 1;
	pid = fork();
	CHECK(pid >= 0);
	if (!pid) {
		for (int i = 0; i < 65536; i += 1024)
			page[i] = 2;
		_exit(page[0]);
	}
	CHECK_EXIT(pid, 2);
	CHECK_EQ(page[0], 1);
}

/* ---- ptrace ------------------------------------------------------------- */

/*
 * A child makes one system call under a tracer, who gets to see and change its
 * registers at both stops.
 */
struct traced {
	call_t call;
	long nr, a, b, c;
	void (*entry)(pid_t pid, unsigned long *regs);
	void (*exit)(pid_t pid, unsigned long *regs);
	int request;			/* PTRACE_SYSCALL if 0 */
};

static struct traced *tr;

static void get_regs(pid_t pid, unsigned long *regs)
{
	CHECK_EQ(ptrace(PTRACE_GETREGS, pid, 0, regs), 0);
}

static void set_regs(pid_t pid, unsigned long *regs)
{
	CHECK_EQ(ptrace(PTRACE_SETREGS, pid, 0, regs), 0);
}

static void wait_stop(pid_t pid, int sig)
{
	int status;

	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK(WIFSTOPPED(status));
	CHECK_EQ(WSTOPSIG(status), sig);
}

static struct result trace(struct traced *t)
{
	struct result *res = shared_page();
	unsigned long regs[NREGS];
	pid_t pid = fork();

	tr = t;
	CHECK(pid >= 0);
	if (!pid) {
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		sc(SYS_kill, getpid(), SIGSTOP, 0);
		*res = t->call(t->nr, t->a, t->b, t->c);
		_exit(0);
	}
	wait_stop(pid, SIGSTOP);
	CHECK_EQ(ptrace(PTRACE_SETOPTIONS, pid, 0,
			PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL), 0);
	CHECK_EQ(ptrace(t->request ?: PTRACE_SYSCALL, pid, 0, 0), 0);
	wait_stop(pid, SIGTRAP | 0x80);
	get_regs(pid, regs);
	if (t->entry)
		t->entry(pid, regs);
	if (!t->request) {
		CHECK_EQ(ptrace(PTRACE_SYSCALL, pid, 0, 0), 0);
		wait_stop(pid, SIGTRAP | 0x80);
		get_regs(pid, regs);
		if (t->exit)
			t->exit(pid, regs);
	}
	CHECK_EQ(ptrace(PTRACE_CONT, pid, 0, 0), 0);
	CHECK_EXIT(pid, 0);
	return *res;
}

static void entry_check(pid_t pid, unsigned long *regs)
{
	CHECK_EQ(regs[R0], tr->nr);
	CHECK_EQ(regs[R3], tr->a);
	CHECK_EQ(regs[ORIG_R3], tr->a);
	CHECK_EQ(regs[TRAP] & 0xfff0, tr->call == sc ? 0xc00 : 0x3000);
}

static void exit_check(pid_t pid, unsigned long *regs)
{
	CHECK_EQ(regs[R3], tr->call == sc ? EBADF : -EBADF);
	CHECK_EQ(!!(regs[CCR] & CR0_SO), tr->call == sc);
	CHECK_EQ(regs[ORIG_R3], tr->a);
}

TEST("a tracer sees number and arguments at the entry and the error at the exit")
{
	for_each_way(call) {
		struct traced t = { call, SYS_close, 12345,
				    .entry = entry_check, .exit = exit_check };

		CHECK_ERROR(call, trace(&t), EBADF);
	}
}

TEST("a traced call takes all of its arguments")
{
	char buf[8];

	CHECK_EQ(pipe(pipe_fd), 0);
	for_each_way(call) {
		struct traced t = { call, SYS_write, pipe_fd[1], (long)"abcd", 4 };

		CHECK_RESULT(call, trace(&t), 4);
		CHECK_EQ(read(pipe_fd[0], buf, 8), 4);
		CHECK(!memcmp(buf, "abcd", 4));
	}
}

static void entry_getppid(pid_t pid, unsigned long *regs)
{
	regs[R0] = SYS_getppid;
	set_regs(pid, regs);
}

TEST("a tracer can change the number")
{
	for_each_way(call) {
		struct traced t = { call, SYS_close, 12345, .entry = entry_getppid };

		CHECK_RESULT(call, trace(&t), getpid());
	}
}

static void entry_argument(pid_t pid, unsigned long *regs)
{
	regs[R3] = 0;
	regs[ORIG_R3] = 0;
	set_regs(pid, regs);
}

TEST("a tracer can change an argument")
{
	for_each_way(call) {
		struct traced t = { call, SYS_close, 12345, .entry = entry_argument };

		CHECK_RESULT(call, trace(&t), 0);	/* close(0) */
	}
}

static void exit_result(pid_t pid, unsigned long *regs)
{
	regs[R3] = 4711;
	set_regs(pid, regs);
}

TEST("a tracer can change the result")
{
	for_each_way(call) {
		struct traced t = { call, SYS_getppid, .exit = exit_result };

		CHECK_RESULT(call, trace(&t), 4711);
	}
}

TEST("a tracer can change every register at the exit")
{
	struct gprs in, want, *out = shared_page();
	unsigned long regs[NREGS];

	for (int i = 0; i < 1 + has_scv(); i++) {
		pid_t pid = fork();

		CHECK(pid >= 0);
		if (!pid) {
			ptrace(PTRACE_TRACEME, 0, 0, 0);
			raise(SIGSTOP);
			fill_gprs(&in, 5);
			in.gpr[0] = SYS_getppid;
			(i ? gpr_scv : gpr_sc)(&in, out);
			_exit(0);
		}
		wait_stop(pid, SIGSTOP);
		CHECK_EQ(ptrace(PTRACE_SETOPTIONS, pid, 0,
				PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL), 0);
		/* What raise() does after its signal, then our call, to its exit. */
		do {
			CHECK_EQ(ptrace(PTRACE_SYSCALL, pid, 0, 0), 0);
			wait_stop(pid, SIGTRAP | 0x80);
			get_regs(pid, regs);
		} while (regs[R0] != SYS_getppid);
		CHECK_EQ(ptrace(PTRACE_SYSCALL, pid, 0, 0), 0);
		wait_stop(pid, SIGTRAP | 0x80);
		get_regs(pid, regs);
		fill_gprs(&want, 6);
		for (int r = 0; r < 32; r++)
			if (r != 1 && r != 2 && r != 13)
				regs[r] = want.gpr[r];
		regs[LNK] = want.lr = 0x10000;
		regs[CTR] = want.ctr = 0x20000;
		regs[XER] = want.xer = 0xa0000000;
		regs[CCR] = want.cr = 0x12345678;
		set_regs(pid, regs);
		CHECK_EQ(ptrace(PTRACE_CONT, pid, 0, 0), 0);
		CHECK_EXIT(pid, 0);
		/* r2 and r13: one of them is the thread pointer. */
		want.gpr[2] = out->gpr[2];
		want.gpr[13] = out->gpr[13];
		check_gprs(&want, out, 0);
		CHECK_EQ(out->lr, want.lr);
		CHECK_EQ(out->ctr, want.ctr);
		CHECK_EQ(out->xer & 0xe0000000, want.xer);
		CHECK_EQ(out->cr & 0xffffffff, want.cr);
	}
}

static void entry_skip(pid_t pid, unsigned long *regs)
{
	regs[R0] = -1;
	set_regs(pid, regs);
}

TEST("number -1 from a tracer skips the call, which fails with ENOSYS")
{
	for_each_way(call) {
		struct traced t = { call, SYS_exit, 9, .entry = entry_skip };

		CHECK_ERROR(call, trace(&t), ENOSYS);
	}
}

TEST("number -1 with a result from the tracer at the exit gives that result")
{
	for_each_way(call) {
		struct traced t = { call, SYS_close, 12345,
				    .entry = entry_skip, .exit = exit_result };
		struct result res = trace(&t);

		/* CR0.SO is the tracer's business, who did not clear it. */
		CHECK_EQ(res.r3, 4711);
	}
}

TEST("PTRACE_SYSEMU stops at the call and does not run it")
{
	for_each_way(call) {
		struct traced t = { call, SYS_exit, 9, .entry = entry_check,
				    .request = 29 };

		if (call == sc)
			CHECK_RESULT(call, trace(&t), 9);
		else
			CHECK_EQ(trace(&t).r3, 9);
	}
}

TEST("a tracer reads and writes the FP registers of a stopped call")
{
	double *res = shared_page();
	struct vecs in, out;
	double fpr[33];
	pid_t pid;

	if (!has_fp())
		SKIP("no floating point unit");
	fill_vecs(&in, 7);
	pid = fork();
	CHECK(pid >= 0);
	if (!pid) {
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		fp_sc(&in, &out, SYS_kill, getpid(), SIGSTOP);
		memcpy(res, &out, 256);
		_exit(0);
	}
	wait_stop(pid, SIGSTOP);
	CHECK_EQ(ptrace(PTRACE_GETFPREGS, pid, 0, fpr), 0);
	CHECK(!memcmp(fpr, &in, 256));
	fpr[0] = 17.25;
	fpr[31] = -3.5;
	CHECK_EQ(ptrace(PTRACE_SETFPREGS, pid, 0, fpr), 0);
	CHECK_EQ(ptrace(PTRACE_CONT, pid, 0, 0), 0);
	CHECK_EXIT(pid, 0);
	CHECK(res[0] == 17.25);
	CHECK(res[31] == -3.5);
	CHECK(!memcmp(res + 1, &in.w[1], 30 * 8));
}

TEST("single-step goes from instruction to instruction and over a system call")
{
	unsigned long regs[NREGS], trap_nip;
	long *res = shared_page();
	pid_t pid = fork();

	CHECK(pid >= 0);
	if (!pid) {
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		res[0] = step_here();
		_exit(0);
	}
	wait_stop(pid, SIGTRAP);
	get_regs(pid, regs);
	trap_nip = regs[NIP];
	regs[NIP] += 4;
	set_regs(pid, regs);
	/* li, nop, nop */
	for (int i = 2; i <= 4; i++) {
		CHECK_EQ(ptrace(PTRACE_SINGLESTEP, pid, 0, 0), 0);
		wait_stop(pid, SIGTRAP);
		get_regs(pid, regs);
		CHECK_EQ(regs[NIP] - trap_nip, 4 * i);
	}
	/* sc: 6.12 stops one instruction late, which is no reason to insist. */
	CHECK_EQ(ptrace(PTRACE_SINGLESTEP, pid, 0, 0), 0);
	wait_stop(pid, SIGTRAP);
	get_regs(pid, regs);
	CHECK(regs[NIP] - trap_nip == 20 || regs[NIP] - trap_nip == 24);
	CHECK_EQ(regs[R3], getpid());
	CHECK_EQ(ptrace(PTRACE_CONT, pid, 0, 0), 0);
	CHECK_EXIT(pid, 0);
	CHECK_EQ(res[0], getpid());
}

TEST("an interrupted nanosleep is continued by restart_syscall")
{
	struct timespec ts = { .tv_sec = 20 };
	unsigned long regs[NREGS];

	for_each_way(call) {
		pid_t pid = fork();

		CHECK(pid >= 0);
		if (!pid) {
			ptrace(PTRACE_TRACEME, 0, 0, 0);
			sc(SYS_kill, getpid(), SIGSTOP, 0);
			call(SYS_nanosleep, (long)&ts, 0, 0);
			_exit(1);
		}
		wait_stop(pid, SIGSTOP);
		CHECK_EQ(ptrace(PTRACE_SETOPTIONS, pid, 0,
				PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL), 0);
		CHECK_EQ(ptrace(PTRACE_SYSCALL, pid, 0, 0), 0);
		wait_stop(pid, SIGTRAP | 0x80);		/* entry */
		CHECK_EQ(ptrace(PTRACE_SYSCALL, pid, 0, 0), 0);
		CHECK_EQ(kill(pid, SIGWINCH), 0);
		wait_stop(pid, SIGTRAP | 0x80);		/* exit */
		get_regs(pid, regs);
		CHECK_EQ(regs[R3], call == sc ? 516 : -516);	/* ERESTART_RESTARTBLOCK */
		CHECK_EQ(ptrace(PTRACE_SYSCALL, pid, 0, 0), 0);
		wait_stop(pid, SIGWINCH);
		CHECK_EQ(ptrace(PTRACE_SYSCALL, pid, 0, 0), 0);
		wait_stop(pid, SIGTRAP | 0x80);		/* entry */
		get_regs(pid, regs);
		CHECK_EQ(regs[R0], SYS_restart_syscall);
		kill(pid, SIGKILL);
		CHECK_EQ(waitpid(pid, NULL, 0), pid);
	}
}

/* ---- seccomp ------------------------------------------------------------ */

/* A filter that does @action for getppid. False: the kernel has no filters. */
static bool filter_getppid(unsigned int action)
{
	struct sock_filter insns[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),		/* nr */
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, action),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = { .len = 4, .filter = insns };

	CHECK_EQ(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	return !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog);
}

TEST("a seccomp filter's errno reaches the caller")
{
	if (!filter_getppid(SECCOMP_RET_ERRNO | 7))
		SKIP("no seccomp filters");
	for_each_way(call)
		CHECK_ERROR(call, call(SYS_getppid, 0, 0, 0), 7);
}

static unsigned long sigsys[NREGS];

static void on_sigsys(int sig, siginfo_t *si, void *uc)
{
	memcpy(sigsys, UC_REGS((ucontext_t *)uc), sizeof(sigsys));
	info = *si;
	count++;
}

TEST("SIGSYS from a seccomp filter shows the first argument in r3")
{
	handle(SIGSYS, on_sigsys, 0);
	if (!filter_getppid(SECCOMP_RET_TRAP))
		SKIP("no seccomp filters");
	for_each_way(call) {
		count = 0;
		CHECK_EQ(call(SYS_getppid, 0x1234, 0, 0).r3, 0x1234);
		CHECK_EQ(count, 1);
		CHECK_EQ(sigsys[R3], 0x1234);
		CHECK_EQ(sigsys[R0], SYS_getppid);
		CHECK_EQ(sigsys[TRAP] & 0xfff0, call == sc ? 0xc00 : 0x3000);
		CHECK_EQ(info.si_syscall, SYS_getppid);
	}
}

int main(int argc, char **argv)
{
	char arg[16];
	int left;

	if (argc == 3 && !strcmp(argv[1], "--exec-probe"))
		return atoi(argv[2]);
	if (argc == 3 && !strcmp(argv[1], "--exec-again")) {
		left = atoi(argv[2]);
		if (!left)
			return 33;
		snprintf(arg, sizeof(arg), "%d", left - 1);
		execl("/proc/self/exe", "smoke", "--exec-again", arg, NULL);
		return 1;
	}
	return ktap_main(argc, argv);
}
