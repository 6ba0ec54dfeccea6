// SPDX-License-Identifier: GPL-2.0-only
/*
 * wakeup - does an idle CPU wake up for each interrupt, at once, and is its idle
 * time accounted for?
 *
 *	wakeup [TRIES [SECONDS [MS [TEST...]]]]
 *
 * All tests, or those with these numbers, or without test N: -N. Each test makes TRIES
 * wake-ups (20000), or as many as fit in SECONDS (10); a wake-up later than MS milliseconds
 * (1000) counts as lost, because what rescues a CPU that missed one is somebody else's
 * interrupt, seconds later. Each idle state of cpuidle is tried alone, then all together.
 * The time between a wake-up and the next differs at random, so that some arrive while the
 * CPU is about to become idle.
 */
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/klog.h>
#include <sys/syscall.h>

#include "ktap.h"

#define MAX_CPUS	64
#define MAX_STATES	10
#define ALL_STATES	-1
#define SYS_CPU		"/sys/devices/system/cpu/cpu"

static long tries = 20000, seconds = 10, limit_ms = 1000;
static int cpus;

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

static void pin(int cpu)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	CHECK(!sched_setaffinity(0, sizeof(one), &one));
}

/* Read a file of a CPU. Return: its length, or -1 if there is no such file */
static int read_cpu(char *buf, size_t size, int cpu, const char *name)
{
	char path[128];
	int fd, n;

	snprintf(path, sizeof(path), SYS_CPU "%d/%s", cpu, name);
	fd = open(path, O_RDONLY);
	if (fd < 0)
		return -1;
	n = read(fd, buf, size - 1);
	close(fd);
	buf[n > 0 ? n : 0] = 0;
	return n;
}

static bool write_cpu(int cpu, const char *name, const char *value)
{
	char path[128];
	int fd, n;

	snprintf(path, sizeof(path), SYS_CPU "%d/%s", cpu, name);
	fd = open(path, O_WRONLY);
	if (fd < 0)
		return false;
	n = write(fd, value, strlen(value));
	close(fd);
	return n == (int)strlen(value);
}

static void state_name(char *buf, size_t size, int state)
{
	char file[64];

	snprintf(file, sizeof(file), "cpuidle/state%d/name", state);
	if (read_cpu(buf, size, 0, file) < 0)
		SKIP("no idle state %d", state);
	buf[strcspn(buf, "\n")] = 0;
}

/* Enable @state alone, or all states */
static void enable_state(int state)
{
	char name[64] = "all idle states", file[64];

	if (state != ALL_STATES)
		state_name(name, sizeof(name), state);
	for (int cpu = 0; cpu < cpus; cpu++) {
		for (int s = 0; s < MAX_STATES; s++) {
			snprintf(file, sizeof(file), "cpuidle/state%d/disable", s);
			if (!write_cpu(cpu, file, state == ALL_STATES || s == state ? "0" : "1"))
				break;
		}
	}
	ktap_note("%s", name);
}

/* Other than rand(), no lock and a state of the caller's own */
static uint32_t random_below(uint64_t *state, uint32_t n)
{
	*state = *state * 6364136223846793005ull + 1442695040888963407ull;
	return (*state >> 33) % n;
}

/* How often the CPUs were in @state, or in any but the polling one */
static long usage(int state)
{
	char buf[64], file[64];
	long sum = 0;

	for (int cpu = 0; cpu < cpus; cpu++) {
		for (int s = 0; s < MAX_STATES; s++) {
			if (state == ALL_STATES ? s == 0 : s != state)
				continue;
			snprintf(file, sizeof(file), "cpuidle/state%d/usage", s);
			if (read_cpu(buf, sizeof(buf), cpu, file) > 0)
				sum += atol(buf);
		}
	}
	return sum;
}

static _Atomic long done, lost;
static _Atomic long latest;		/* us; 32-bit CPUs have no atomic 64 bits */
static uint64_t deadline;

/* Another wake-up that was @late: is it the last one? */
static bool count_one(uint64_t late)
{
	long us = late / 1000, old = latest;

	while (us > old && !atomic_compare_exchange_weak(&latest, &old, us))
		;
	if (late > (uint64_t)limit_ms * 1000000)
		lost++;
	return atomic_fetch_add(&done, 1) + 1 >= tries || lost || now_ns() > deadline;
}

/*
 * A token: whoever has it gives it to another CPU, at random. The others wait.
 */
static struct {
	_Atomic int has;
	uint64_t sent;
} __attribute__((aligned(128))) mail[MAX_CPUS];
static _Atomic bool stop;

static void futex_wake(_Atomic int *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void *token_thread(void *arg)
{
	int me = (long)arg, next;
	uint64_t seed = me + 1;

	pin(me);
	while (!stop) {
		struct timespec timeout = { .tv_sec = 5 };
		uint64_t late;

		if (!mail[me].has)
			syscall(SYS_futex, &mail[me].has, FUTEX_WAIT_PRIVATE, 0, &timeout,
				NULL, 0);
		if (!mail[me].has)
			continue;
		late = now_ns() - mail[me].sent;
		mail[me].has = 0;
		if (count_one(late)) {
			stop = true;
			for (int i = 0; i < cpus; i++) {
				mail[i].has = 1;
				futex_wake(&mail[i].has);
			}
			break;
		}
		/* From "the other is not idle yet" to "it is since long ago" */
		for (volatile int i = random_below(&seed, 3000); i > 0; i--)
			;
		next = (me + 1 + random_below(&seed, cpus - 1)) % cpus;
		mail[next].sent = now_ns();
		mail[next].has = 1;
		futex_wake(&mail[next].has);
	}
	return NULL;
}

/* Sleeps until a time, again and again */
static void *timer_thread(void *arg)
{
	int me = (long)arg;
	uint64_t seed = me + 1;

	if (me >= 0)
		pin(me);
	while (!stop) {
		uint64_t when = now_ns() + 10000 + random_below(&seed, 2000000), t;
		struct timespec ts = {
			.tv_sec = when / 1000000000, .tv_nsec = when % 1000000000
		};

		if (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL))
			continue;
		t = now_ns();
		if (t < when) {
			ktap_note("a timer went off %lu ns early", (long)(when - t));
			lost++;
		}
		if (count_one(t < when ? 0 : t - when))
			stop = true;
	}
	return NULL;
}

static void start(pthread_t *threads, void *(*run)(void *), bool pinned)
{
	done = lost = latest = 0;
	stop = false;
	memset(mail, 0, sizeof(mail));
	deadline = now_ns() + seconds * 1000000000ull;
	for (int i = 0; i < cpus; i++)
		CHECK(!pthread_create(&threads[i], NULL, run, (void *)(pinned ? i : -1L)));
}

static void finish(pthread_t *threads)
{
	for (int i = 0; i < cpus; i++)
		pthread_join(threads[i], NULL);
	ktap_note("%ld wake-ups, the latest after %lu us", (long)done,
		  (long)latest);
	CHECK_EQ(lost, 0);
}

static void futexes(int state)
{
	pthread_t threads[MAX_CPUS];
	long used;

	if (cpus < 2)
		SKIP("needs two CPUs");
	enable_state(state);
	used = usage(state);
	start(threads, token_thread, true);
	mail[0].sent = now_ns();
	mail[0].has = 1;
	futex_wake(&mail[0].has);
	finish(threads);
	ktap_note("entered %ld times", usage(state) - used);
}

static void timers(int state)
{
	pthread_t threads[MAX_CPUS];
	long used;

	enable_state(state);
	used = usage(state);
	start(threads, timer_thread, true);
	finish(threads);
	ktap_note("entered %ld times", usage(state) - used);
}

#define STATE(n)							\
	TEST("futex wake-ups of other CPUs arrive, idle state " #n)	\
	{								\
		futexes(n);						\
	}
#define STATE_TIMER(n)							\
	TEST("timers of idle CPUs go off in time, idle state " #n)	\
	{								\
		timers(n);						\
	}

STATE(0)
STATE_TIMER(0)
STATE(1)
STATE_TIMER(1)
STATE(2)
STATE_TIMER(2)
STATE(3)
STATE_TIMER(3)
STATE(4)
STATE_TIMER(4)

TEST("futex wake-ups of other CPUs arrive, all idle states")
{
	futexes(ALL_STATES);
}

TEST("timers of idle CPUs go off in time, all idle states")
{
	timers(ALL_STATES);
}

TEST("timers go off in time while CPUs go offline and come back")
{
	pthread_t threads[MAX_CPUS];
	long rounds = 0;

	if (cpus < 2)
		SKIP("needs two CPUs");
	enable_state(ALL_STATES);
	start(threads, timer_thread, false);
	while (!stop) {
		int cpu = 1 + rounds % (cpus - 1);

		if (!write_cpu(cpu, "online", "0") || !write_cpu(cpu, "online", "1")) {
			stop = true;
			CHECK(!"CPU does not go offline or does not come back");
		}
		rounds++;
	}
	finish(threads);
	ktap_note("%ld times off and on", rounds);
	CHECK(rounds > 0);
}

/* Jiffies of /proc/stat of @cpu: all, idle ones (with iowait) and those of users */
struct times {
	long all, idle, user;
};

static struct times read_times(int cpu)
{
	struct times t = { 0 };
	char line[512], name[16];
	long v[8];
	FILE *f = fopen("/proc/stat", "r");

	CHECK(f);
	snprintf(name, sizeof(name), "cpu%d ", cpu);
	while (fgets(line, sizeof(line), f)) {
		if (strncmp(line, name, strlen(name)))
			continue;
		CHECK_EQ(sscanf(line + strlen(name), "%ld %ld %ld %ld %ld %ld %ld %ld", v,
				v + 1, v + 2, v + 3, v + 4, v + 5, v + 6, v + 7), 8);
		for (int i = 0; i < 8; i++)
			t.all += v[i];
		t.idle = v[3] + v[4];
		t.user = v[0] + v[1];
	}
	fclose(f);
	return t;
}

static unsigned long read_spr(int cpu, const char *name)
{
	char buf[64];

	return read_cpu(buf, sizeof(buf), cpu, name) > 0 ? strtoul(buf, NULL, 16) : 0;
}

static _Atomic bool spinning;

static void *spin_thread(void *arg)
{
	pin(0);
	while (spinning)
		;
	return NULL;
}

/* CPU 0 is busy for some seconds, the others are idle: do the times say so? */
#define ACCOUNT_SECONDS	3

TEST("idle CPUs have idle time, busy ones have not, and it adds up")
{
	struct times before[MAX_CPUS], after;
	uint64_t t = now_ns();
	pthread_t thread;
	double ticks;

	if (cpus < 2)
		SKIP("needs two CPUs");
	enable_state(ALL_STATES);
	pin(1);
	spinning = true;
	CHECK(!pthread_create(&thread, NULL, spin_thread, NULL));
	for (int cpu = 0; cpu < cpus; cpu++)
		before[cpu] = read_times(cpu);
	t = now_ns();
	sleep(ACCOUNT_SECONDS);
	ticks = (now_ns() - t) * sysconf(_SC_CLK_TCK) / 1e9;
	for (int cpu = 0; cpu < cpus; cpu++) {
		double all, idle, user;

		after = read_times(cpu);
		all = (after.all - before[cpu].all) / ticks;
		idle = (after.idle - before[cpu].idle) / ticks;
		user = (after.user - before[cpu].user) / ticks;
		ktap_note("CPU %d: %.0f %% of the time accounted for, %.0f %% idle, %.0f %% user",
			  cpu, all * 100, idle * 100, user * 100);
		/* A busy CPU counts ticks, of which an emulator on a busy host misses many */
		CHECK(all > (cpu ? 0.9 : 0) && all < 1.1);
		CHECK(cpu ? idle > 0.8 : user > 0.8 * all);
	}
	spinning = false;
	pthread_join(thread, NULL);
}

TEST("idle PURR and SPURR are those of the idle time")
{
	static const char * const names[] = { "purr", "spurr" };
	unsigned long all[2][2], idle[2][2];
	pthread_t thread;

	if (cpus < 2)
		SKIP("needs two CPUs");
	if (!read_spr(0, "idle_purr"))
		SKIP("no idle_purr");
	enable_state(ALL_STATES);
	pin(1);
	spinning = true;
	CHECK(!pthread_create(&thread, NULL, spin_thread, NULL));
	for (int end = 0; end < 2; end++) {
		if (end)
			sleep(ACCOUNT_SECONDS);
		for (int i = 0; i < 2; i++) {
			char file[16];

			for (int cpu = 0; cpu < 2; cpu++) {
				unsigned long a = read_spr(cpu, names[i]), b;

				snprintf(file, sizeof(file), "idle_%s", names[i]);
				b = read_spr(cpu, file);
				all[cpu][i] = end ? a - all[cpu][i] : a;
				idle[cpu][i] = end ? b - idle[cpu][i] : b;
			}
		}
	}
	spinning = false;
	pthread_join(thread, NULL);
	for (int cpu = 0; cpu < 2; cpu++) {
		for (int i = 0; i < 2; i++) {
			double share = (double)idle[cpu][i] / all[cpu][i];

			ktap_note("CPU %d: %.1f %% of its %s idle", cpu, share * 100, names[i]);
			CHECK(cpu ? share > 0.8 && share < 1.01 : share < 0.2);
		}
	}
}

/*
 * The same work on any kernel: a task on CPU 0 sleeps and wakes up. How much of the time
 * is the CPU idle? The caller compares kernels (tests/idle-times).
 */
static long period_us;

static void *tick_thread(void *arg)
{
	uint64_t when = now_ns();

	pin(0);
	while (spinning) {
		struct timespec ts;

		when += period_us * 1000;
		ts.tv_sec = when / 1000000000;
		ts.tv_nsec = when % 1000000000;
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
		done++;
	}
	return NULL;
}

static void idle_share(long us)
{
	static const char * const names[] = { "purr", "spurr" };
	unsigned long all[2], idle[2];
	struct times before, after;
	pthread_t thread;
	char text[128];
	int len = 0;

	if (cpus < 2)
		SKIP("needs two CPUs");
	enable_state(ALL_STATES);
	pin(1);
	period_us = us;
	spinning = true;
	CHECK(!pthread_create(&thread, NULL, tick_thread, NULL));
	sleep(1);
	done = 0;
	before = read_times(0);
	for (int i = 0; i < 2; i++) {
		all[i] = read_spr(0, names[i]);
		idle[i] = read_spr(0, i ? "idle_spurr" : "idle_purr");
	}
	sleep(ACCOUNT_SECONDS);
	for (int i = 0; i < 2; i++) {
		all[i] = read_spr(0, names[i]) - all[i];
		idle[i] = read_spr(0, i ? "idle_spurr" : "idle_purr") - idle[i];
	}
	after = read_times(0);
	spinning = false;
	pthread_join(thread, NULL);

	for (int i = 0; i < 2 && read_spr(0, "idle_purr"); i++)
		len += snprintf(text + len, sizeof(text) - len, ", %.2f %% of its %s",
				100.0 * idle[i] / all[i], names[i]);
	ktap_note("%ld wake-ups a second: CPU 0 is idle %.2f %% of its time%s",
		  (long)done / ACCOUNT_SECONDS,
		  100.0 * (after.idle - before.idle) / (after.all - before.all),
		  len ? text : "");
	CHECK(done > 0);
}

TEST("idle time of a CPU with 500 wake-ups a second")
{
	idle_share(2000);
}

TEST("idle time of a CPU with 2000 wake-ups a second")
{
	idle_share(500);
}

/*
 * sysrq-l: each CPU tells where it is. What the kernel logs meanwhile does not go to the
 * console, where the stack of this CPU would look like a fault.
 */
static int backtrace_of_all(int kmsg, bool *idle, char *where, size_t size)
{
	int trigger = open("/proc/sysrq-trigger", O_WRONLY), answers = 0;
	char record[1024];
	ssize_t n;

	CHECK(trigger >= 0);
	lseek(kmsg, 0, SEEK_END);
	klogctl(8, NULL, 1);
	n = write(trigger, "l", 1);
	usleep(100000);		/* a work item may do it */
	klogctl(8, NULL, 7);
	close(trigger);
	CHECK_EQ(n, 1);
	while ((n = read(kmsg, record, sizeof(record) - 1)) > 0 || errno == EPIPE) {
		char *text, *at;
		int cpu;

		if (n <= 0)
			continue;
		record[n] = 0;
		text = strstr(record, "NMI backtrace for cpu ");
		if (!text || sscanf(text, "NMI backtrace for cpu %d", &cpu) != 1)
			continue;
		answers++;
		at = strstr(text, "idling at ");
		if (at && cpu >= 0 && cpu < MAX_CPUS) {
			idle[cpu] = true;
			snprintf(where, size, "%.*s", (int)strcspn(at, "\n"), at);
		}
	}
	return answers;
}

TEST("a backtrace of all CPUs says which ones are idle, in each idle state")
{
	int kmsg = open("/dev/kmsg", O_RDONLY | O_NONBLOCK);
	char file[64], name[64];

	if (cpus < 2)
		SKIP("needs two CPUs");
	CHECK(kmsg >= 0);
	pin(0);
	for (int state = 0; state < MAX_STATES; state++) {
		bool idle[MAX_CPUS] = { false };
		char where[128] = "";
		int seen = 0;

		snprintf(file, sizeof(file), "cpuidle/state%d/name", state);
		if (read_cpu(name, sizeof(name), 0, file) < 0) {
			if (state)
				break;
			enable_state(ALL_STATES);	/* without cpuidle */
			state = MAX_STATES;
		} else {
			enable_state(state);
		}
		/* A CPU may be at work when it is asked, but not each time */
		for (int tries = 0; tries < 10 && seen < cpus - 1; tries++) {
			if (!backtrace_of_all(kmsg, idle, where, sizeof(where)))
				SKIP("this kernel makes no backtraces of other CPUs");
			seen = 0;
			for (int cpu = 1; cpu < cpus; cpu++)
				seen += idle[cpu];
		}
		ktap_note("%d of %d CPUs are idle: %s", seen, cpus - 1, where);
		CHECK_EQ(seen, cpus - 1);
		CHECK(!idle[0]);
	}
}

TEST("all idle states are enabled again")
{
	enable_state(ALL_STATES);
}

int main(int argc, char **argv)
{
	cpus = sysconf(_SC_NPROCESSORS_ONLN);
	if (cpus > MAX_CPUS)
		cpus = MAX_CPUS;
	if (argc > 1)
		tries = atol(argv[1]);
	if (argc > 2)
		seconds = atol(argv[2]);
	if (argc > 3)
		limit_ms = atol(argv[3]);
	if (tries < 1 || seconds < 1 || limit_ms < 1) {
		fprintf(stderr, "wakeup: TRIES, SECONDS, MS, numbers of tests\n");
		return 2;
	}
	ktap_seconds += seconds;
	return argc > 4 ? ktap_main(argc - 3, argv + 3) : ktap_main(1, argv);
}
