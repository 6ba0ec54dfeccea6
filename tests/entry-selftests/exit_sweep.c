// SPDX-License-Identifier: GPL-2.0-only
/*
 * Work that comes up while the kernel is on its way out to user space must be
 * done before user space runs on, not when the next interrupt happens to come.
 *
 * The sweep lets a timer expire at every moment around the exit from a system
 * call, a page fault, a signal or an interrupt, and looks at how long it takes
 * from there to the signal handler. After the exit nothing enters the kernel
 * any more, so a signal that was missed stays missed until the next tick. Where
 * the clock counts instructions (QEMU's -icount) the curve is smooth, and one
 * interrupt too many at the exit's last instructions shows as a step.
 *
 * The race lets another CPU send signals and wake-ups around the exit.
 */

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>

#include "../../kselftest_harness.h"
#include "entry.h"

/* Nothing may take longer; the next tick is 1 to 10 ms away */
#define LATE_NS		1000000

static u64 tb_freq;

static s64 to_ns(s64 ticks)
{
	return ticks * 1000000000.0 / tb_freq;
}

/* Whether the handler ran, and when */
static u64 handled_at;
static int handled;

static void record_time(int sig)
{
	handled_at = timebase();
	WRITE_ONCE(handled, 1);
}

static void do_nothing(int sig)
{
}

/* As the system calls take it, in 32 bits too */
struct long_itimerspec {
	long interval_sec, interval_nsec, value_sec, value_nsec;
};

static int timer_id, timer_fd;
static pid_t thread_group, thread;
static char *fault_page;
static long fault_size;

/**
 * struct exit_kind - a way into the kernel whose exit is looked at
 * @way: instruction for the call that arms the timer, and for the others
 * @prepare: before the clock is read
 * @enter: after the timer is armed; may be missing, then the exit of the call
 *	that armed it is the one
 * @interrupt_ns: another timer, which wakes a thread, comes so much after the start
 * @from_ns: where the sweep begins, relative to the exit
 * @to_ns: where it ends
 */
struct exit_kind {
	enum entry_way way;
	void (*prepare)(void);
	void (*enter)(enum entry_way way);
	long interrupt_ns;
	long from_ns, to_ns;
};

/* The call and nothing else: the next instruction is the program's */
static inline long quick_call(enum entry_way way, unsigned long nr, unsigned long a,
			      unsigned long b, unsigned long c)
{
	register unsigned long r0 asm("r0") = nr;
	register unsigned long r3 asm("r3") = a;
	register unsigned long r4 asm("r4") = b;
	register unsigned long r5 asm("r5") = c;
	register unsigned long r6 asm("r6") = 0;

	if (way == WAY_SC)
		asm volatile("sc"
			     : "+r" (r0), "+r" (r3), "+r" (r4), "+r" (r5), "+r" (r6)
			     :
			     : "r7", "r8", "r9", "r10", "r11", "r12", "lr",
			       "ctr", "xer", "cr0", "memory");
	else	/* scv 0 */
		asm volatile(".long 0x44000001"
			     : "+r" (r0), "+r" (r3), "+r" (r4), "+r" (r5), "+r" (r6)
			     :
			     : "r7", "r8", "r9", "r10", "r11", "r12", "lr",
			       "ctr", "xer", "cr0", "memory");
	return r3;
}

static void enter_getppid(enum entry_way way)
{
	quick_call(way, SYS_getppid, 0, 0, 0);
}

/* Enough of them to be more than 1 us behind the call that armed the timer */
static void enter_getppids(enum entry_way way)
{
	int i;

	for (i = 0; i < 15; i++)
		quick_call(way, SYS_getppid, 0, 0, 0);
}

static void prepare_fault(void)
{
	madvise(fault_page, fault_size, MADV_DONTNEED);
}

static void enter_fault(enum entry_way way)
{
	READ_ONCE(*fault_page);
}

static void enter_sigreturn(enum entry_way way)
{
	quick_call(way, SYS_tgkill, thread_group, thread, SIGUSR2);
}

/**
 * struct attempt - one timer, one exit
 * @returned: when user space ran again behind the exit, since the start
 * @handled: when the handler ran, since the start; 0 if it did not
 */
struct attempt {
	s64 returned, handled;
};

static void set_timer(enum entry_way way, unsigned long nr, int id,
		      const struct timespec *start, long ns)
{
	struct long_itimerspec when = { 0 };

	ns += start->tv_nsec;
	when.value_sec = start->tv_sec + ns / 1000000000;
	when.value_nsec = ns % 1000000000;
	quick_call(way, nr, id, TIMER_ABSTIME, (unsigned long)&when);
}

/* The timer expires @delay ns after the start. All times in timebase ticks. */
static struct attempt attempt(const struct exit_kind *kind, long delay)
{
	u64 gap = kind->interrupt_ns ? tb_freq / 1000000 : 0;
	u64 start, now, last, end;
	struct attempt result = { 0 };
	struct timespec ts;

	if (kind->prepare)
		kind->prepare();
	WRITE_ONCE(handled, 0);
	clock_gettime(CLOCK_MONOTONIC, &ts);
	start = timebase();
	if (kind->interrupt_ns)
		set_timer(kind->way, SYS_timerfd_settime, timer_fd, &ts, kind->interrupt_ns);
	set_timer(kind->way, SYS_timer_settime, timer_id, &ts, delay);
	if (kind->enter)
		kind->enter(kind->way);
	last = timebase();
	result.returned = last - start;

	/* From here on no system call until the handler ran. */
	end = last + tb_freq;
	do {
		now = timebase();
		/* the first time that something took long */
		if (gap && now - last > gap) {
			gap = 0;
			result.returned = now - start;
		}
		last = now;
	} while (!READ_ONCE(handled) && now < end);

	if (READ_ONCE(handled))
		result.handled = handled_at - start;
	return result;
}

FIXTURE(sweep) {
	struct exit_kind kind;
};

FIXTURE_VARIANT(sweep) {
	struct exit_kind kind;
};

/*
 * These two look at all of the call that arms the timer. They do not reach its
 * last instructions, as the kernel programs no event closer than 1 us; for that
 * are the others, which enter the kernel once more.
 */
FIXTURE_VARIANT_ADD(sweep, timer_settime_by_sc) {
	.kind = { .way = WAY_SC, .from_ns = -20000, .to_ns = 20000 },
};

FIXTURE_VARIANT_ADD(sweep, timer_settime_by_scv) {
	.kind = { .way = WAY_SCV, .from_ns = -20000, .to_ns = 20000 },
};

FIXTURE_VARIANT_ADD(sweep, getppid_by_sc) {
	.kind = {
		.way = WAY_SC, .enter = enter_getppids,
		.from_ns = -1500, .to_ns = 3000,
	},
};

FIXTURE_VARIANT_ADD(sweep, getppid_by_scv) {
	.kind = {
		.way = WAY_SCV, .enter = enter_getppids,
		.from_ns = -1500, .to_ns = 3000,
	},
};

FIXTURE_VARIANT_ADD(sweep, page_fault) {
	.kind = {
		.prepare = prepare_fault, .enter = enter_fault,
		.from_ns = -3000, .to_ns = 3000,
	},
};

FIXTURE_VARIANT_ADD(sweep, sigreturn_by_sc) {
	.kind = {
		.way = WAY_SC, .enter = enter_sigreturn,
		.from_ns = -1500, .to_ns = 3000,
	},
};

/*
 * The interrupt lets a real-time thread run for a moment. Without that the exit
 * would be over before the clock could interrupt again, see below.
 */
FIXTURE_VARIANT_ADD(sweep, interrupt) {
	.kind = { .interrupt_ns = 20000, .from_ns = -2000, .to_ns = 3000 },
};

/* Sleeps until the other timer expires, and does it again. */
static void *wait_for_timer(void *arg)
{
	u64 ticks;

	while (read(timer_fd, &ticks, sizeof(ticks)) == sizeof(ticks))
		;
	return NULL;
}

static bool start_fifo_thread(void *(*fn)(void *), int cpu)
{
	struct sched_param param = { .sched_priority = 1 };
	pthread_attr_t attr;
	pthread_t thread;
	cpu_set_t set;
	int err;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	pthread_attr_init(&attr);
	pthread_attr_setinheritsched(&attr, PTHREAD_EXPLICIT_SCHED);
	pthread_attr_setschedpolicy(&attr, SCHED_FIFO);
	pthread_attr_setschedparam(&attr, &param);
	pthread_attr_setaffinity_np(&attr, sizeof(set), &set);
	err = pthread_create(&thread, &attr, fn, NULL);
	pthread_attr_destroy(&attr);
	return !err;
}

FIXTURE_SETUP(sweep)
{
	struct sigevent event = {
		.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1,
	};

	self->kind = variant->kind;
	if (self->kind.way == WAY_SCV && !have_scv())
		SKIP(return, "no scv here");
	tb_freq = timebase_freq();
	thread_group = getpid();
	thread = gettid();
	ASSERT_LT(0, tb_freq);
	signal(SIGUSR1, record_time);
	signal(SIGUSR2, do_nothing);
	ASSERT_EQ(0, syscall(SYS_timer_create, CLOCK_MONOTONIC, &event, &timer_id));
	timer_fd = timerfd_create(CLOCK_MONOTONIC, 0);
	ASSERT_LE(0, timer_fd);
	fault_size = sysconf(_SC_PAGESIZE);
	fault_page = mmap(NULL, fault_size, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_FALSE(fault_page == MAP_FAILED);
	ASSERT_TRUE(pin_to_cpu(0));
	if (self->kind.interrupt_ns && !start_fifo_thread(wait_for_timer, 0))
		SKIP(return, "needs the right to run real-time threads");
}

FIXTURE_TEARDOWN(sweep)
{
}

static int compare_s64(const void *a, const void *b)
{
	s64 x = *(const s64 *)a, y = *(const s64 *)b;

	return x < y ? -1 : x > y;
}

static s64 median(s64 *values, int n)
{
	qsort(values, n, sizeof(*values), compare_s64);
	return values[n / 2];
}

#define STEP_NS		7	/* odd, to fall on every instruction in the end */
#define REPEAT		5	/* of which the median: a tick may come in between */
#define RUN		3	/* points in a row: a lost check is more than one instruction */
#define FAR_NS		60000
#define CALIBRATE	101

/*
 * The last instructions before user space, where a step is a lost check: to wait for
 * one more interrupt is 800 ns, to go through the restart and the replay 500 ns.
 */
#define NEAR_NS		400
#define NEAR_STEP_NS	650
/* Further inside the kernel the way through it is not always the same */
#define FAR_STEP_NS	700
/*
 * Quartiles of the latency further apart than this: the clock counts other things
 * than this CPU's instructions, as under an emulator that shares its host.
 */
#define SPREAD_NS	400

/* Whatever disturbs one point does not disturb its neighbours. */
static s64 lowest_of_run(const s64 *handled_ns, s64 since)
{
	s64 lowest = LLONG_MAX;
	int i;

	for (i = 0; i < RUN; i++) {
		if (handled_ns[i] - since < lowest)
			lowest = handled_ns[i] - since;
	}
	return lowest;
}

TEST_F_TIMEOUT(sweep, a_signal_is_neither_late_nor_a_step, 300)
{
	const struct exit_kind *kind = &self->kind;
	s64 samples[CALIBRATE], exit_ns, direct_ns, spread_ns, worst_ns = 0;
	s64 near_step = 0, near_at = 0, far_step = 0, far_at = 0, over;
	s64 near_limit = NEAR_STEP_NS, far_limit = FAR_STEP_NS;
	bool curve = getenv("EXIT_SWEEP_CURVE");
	int points, i, k, behind = 0, lost = 0, late = 0;
	struct attempt a;
	s64 *handled_ns, *latency_ns;
	long from, delay;

	/* About where the exit is: with a timer far behind it */
	for (i = 0; i < CALIBRATE; i++) {
		a = attempt(kind, FAR_NS);
		ASSERT_NE(0, a.handled);
		samples[i] = to_ns(a.returned);
	}
	exit_ns = median(samples, CALIBRATE);

	/* How exact the clock is, far behind the exit */
	for (i = 0; i < CALIBRATE; i++) {
		a = attempt(kind, exit_ns + 10000);
		ASSERT_NE(0, a.handled);
		samples[i] = to_ns(a.handled);
	}
	qsort(samples, CALIBRATE, sizeof(*samples), compare_s64);
	spread_ns = samples[CALIBRATE * 3 / 4] - samples[CALIBRATE / 4];
	if (spread_ns > SPREAD_NS)
		SKIP(return, "latency varies by %lld ns; run under QEMU with -icount",
		     spread_ns);

	from = exit_ns + kind->from_ns;
	if (from < 0)
		from = 0;
	points = (exit_ns + kind->to_ns - from) / STEP_NS;
	handled_ns = calloc(points, sizeof(*handled_ns));
	latency_ns = calloc(points, sizeof(*latency_ns));
	ASSERT_TRUE(handled_ns && latency_ns);

	for (i = 0; i < points; i++) {
		delay = from + i * STEP_NS;
		for (k = 0; k < REPEAT; k++) {
			a = attempt(kind, delay);
			samples[k] = a.handled ? to_ns(a.handled) : LLONG_MAX / 2;
			if (!a.handled)
				lost++;
			else if (samples[k] - delay > LATE_NS)
				late++;
			if (samples[k] - delay > worst_ns)
				worst_ns = samples[k] - delay;
		}
		handled_ns[i] = median(samples, REPEAT);
		if (delay > exit_ns + NEAR_NS)
			latency_ns[behind++] = handled_ns[i] - delay;
		if (curve)
			printf("# curve %ld %lld\n", delay, handled_ns[i] - delay);
	}

	/* How long an interrupt in user space takes to become a signal */
	ASSERT_LT(0, behind);
	direct_ns = median(latency_ns, behind);

	/*
	 * Exactly where the exit is: behind it a later timer is handled just so
	 * much later, in front of it all timers are handled at the same time.
	 */
	for (i = points - RUN; i > 0; i--) {
		delay = from + i * STEP_NS;
		if (delay < exit_ns + NEAR_NS &&
		    lowest_of_run(handled_ns + i, delay) > direct_ns + 2 * STEP_NS)
			break;
	}
	exit_ns = from + (i + RUN) * STEP_NS;
	for (; i >= 0; i--) {
		delay = from + i * STEP_NS;
		over = lowest_of_run(handled_ns + i, exit_ns) - direct_ns;
		if (delay > exit_ns - NEAR_NS) {
			if (over > near_step) {
				near_step = over;
				near_at = delay - exit_ns;
			}
		} else if (over > far_step) {
			far_step = over;
			far_at = delay - exit_ns;
		}
	}

	TH_LOG("exit %lld ns after the start, from timer to handler %lld ns",
	       exit_ns, direct_ns);
	TH_LOG("%d timers, %d lost, %d later than 1 ms, worst %lld ns", points * REPEAT,
	       lost, late, worst_ns);
	TH_LOG("step near the exit %lld ns (at %lld), before that %lld ns (at %lld)",
	       near_step, near_at, far_step, far_at);
	EXPECT_EQ(0, lost);
	EXPECT_EQ(0, late);
	/* a kernel full of debugging is slow everywhere */
	if (direct_ns / 16 > near_limit)
		near_limit = direct_ns / 16;
	if (direct_ns / 8 > far_limit)
		far_limit = direct_ns / 8;
	EXPECT_GT(near_limit, near_step);
	EXPECT_GT(far_limit, far_step);
}

/*
 * The race. One thread goes in and out of the kernel and then stays in user space
 * for a while, the other sends it something from another CPU at a random moment.
 *
 * An emulated CPU may not run for many milliseconds. So the time that counts is
 * the one that the first thread spends in its own loop while the signal is known
 * to have been sent; a longer gap between two looks at the timebase is none of it.
 */
#define TRIES		20000
#define GAP_NS		20000

static struct race {
	enum entry_way way;
	void (*prepare)(void);
	void (*enter)(enum entry_way way);
	void (*send)(void);
	unsigned int delay, jitter;	/* ticks that the sender waits */
	u32 go, sent, stop;		/* number of the try */
	int word;			/* for the futex */
} race;

static void send_signal(void)
{
	syscall(SYS_tgkill, thread_group, thread, SIGUSR1);
}

static void send_wakeup(void)
{
	__atomic_add_fetch(&race.word, 1, __ATOMIC_SEQ_CST);
	syscall(SYS_futex, &race.word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void *sender(void *arg)
{
	u32 seed = 12345, try = 0;
	u64 until;

	pin_to_cpu(1);
	while (!READ_ONCE(race.stop)) {
		if (READ_ONCE(race.go) == try)
			continue;
		try++;
		seed = seed * 1664525 + 1013904223;
		until = timebase() + READ_ONCE(race.delay) + (seed >> 8) % race.jitter;
		while (timebase() < until)
			;
		race.send();
		__atomic_store_n(&race.sent, try, __ATOMIC_RELEASE);
	}
	return NULL;
}

/* Runs in front of everything on CPU 0 as soon as it is woken. */
static void *woken(void *arg)
{
	int seen = 0;

	while (!READ_ONCE(race.stop)) {
		syscall(SYS_futex, &race.word, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
		if (READ_ONCE(race.word) != seen) {
			seen = READ_ONCE(race.word);
			record_time(0);
		}
	}
	return NULL;
}

struct race_result {
	int late, lost;
	s64 worst_ns;
};

static struct race_result run_race(int tries)
{
	struct race_result result = { 0 };
	s64 gap = tb_freq / 1000000 * GAP_NS / 1000, in_loop;
	u64 now, last, end;
	int try;

	for (try = 1; try <= tries; try++) {
		if (race.prepare)
			race.prepare();
		WRITE_ONCE(handled, 0);
		WRITE_ONCE(race.go, try);
		race.enter(race.way);

		/* Aim at the exit: half of them before it, half of them behind. */
		if (READ_ONCE(handled))
			race.delay += race.jitter / 8;
		else if (race.delay > race.jitter / 8)
			race.delay -= race.jitter / 8;

		in_loop = 0;
		last = timebase();
		end = last + tb_freq * 2;
		while (!READ_ONCE(handled)) {
			now = timebase();
			if (__atomic_load_n(&race.sent, __ATOMIC_ACQUIRE) == try &&
			    now - last < gap)
				in_loop += now - last;
			last = now;
			if (now > end)
				break;
		}
		if (!READ_ONCE(handled)) {
			result.lost++;
			break;
		}
		if (to_ns(in_loop) > LATE_NS)
			result.late++;
		if (to_ns(in_loop) > result.worst_ns)
			result.worst_ns = to_ns(in_loop);
		/* the sender still has to say that it is done */
		while (READ_ONCE(race.sent) != try)
			;
	}
	return result;
}

FIXTURE(race) {
};

FIXTURE_VARIANT(race) {
	enum entry_way way;
	void (*prepare)(void);
	void (*enter)(enum entry_way way);
};

FIXTURE_VARIANT_ADD(race, getppid_by_sc) {
	.way = WAY_SC, .enter = enter_getppid,
};

FIXTURE_VARIANT_ADD(race, getppid_by_scv) {
	.way = WAY_SCV, .enter = enter_getppid,
};

FIXTURE_VARIANT_ADD(race, page_fault) {
	.prepare = prepare_fault, .enter = enter_fault,
};

FIXTURE_VARIANT_ADD(race, sigreturn) {
	.enter = enter_sigreturn,
};

FIXTURE_SETUP(race)
{
	u64 start;
	int i;

	if (variant->way == WAY_SCV && !have_scv())
		SKIP(return, "no scv here");
	race.way = variant->way;
	race.prepare = variant->prepare;
	race.enter = variant->enter;
	tb_freq = timebase_freq();
	ASSERT_LT(0, tb_freq);
	thread_group = getpid();
	thread = gettid();
	signal(SIGUSR1, record_time);
	signal(SIGUSR2, do_nothing);
	fault_size = sysconf(_SC_PAGESIZE);
	fault_page = mmap(NULL, fault_size, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_FALSE(fault_page == MAP_FAILED);
	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		SKIP(return, "needs two CPUs");
	ASSERT_TRUE(pin_to_cpu(0));

	/* A quarter of the time that the way in and out takes, but more than nothing */
	start = timebase();
	for (i = 0; i < 100; i++) {
		if (race.prepare)
			race.prepare();
		race.enter(race.way);
	}
	race.jitter = (timebase() - start) / 100 / 4 + 16;
}

FIXTURE_TEARDOWN(race)
{
}

TEST_F_TIMEOUT(race, a_signal_from_another_cpu_is_not_late, 300)
{
	struct race_result result;
	pthread_t other;

	race.send = send_signal;
	ASSERT_EQ(0, pthread_create(&other, NULL, sender, NULL));
	result = run_race(TRIES);
	WRITE_ONCE(race.stop, 1);
	TH_LOG("%d tries, %d lost, %d late, worst %lld ns", TRIES, result.lost,
	       result.late, result.worst_ns);
	EXPECT_EQ(0, result.lost);
	EXPECT_EQ(0, result.late);
}

TEST_F_TIMEOUT(race, a_wakeup_from_another_cpu_is_not_late, 300)
{
	struct race_result result;
	pthread_t other;

	race.send = send_wakeup;
	ASSERT_EQ(0, pthread_create(&other, NULL, sender, NULL));
	if (!start_fifo_thread(woken, 0))
		SKIP(return, "needs the right to run real-time threads");
	result = run_race(TRIES);
	WRITE_ONCE(race.stop, 1);
	TH_LOG("%d tries, %d lost, %d late, worst %lld ns", TRIES, result.lost,
	       result.late, result.worst_ns);
	EXPECT_EQ(0, result.lost);
	EXPECT_EQ(0, result.late);
}

/* No clock in it: what was sent before a call is there when the call is over. */
TEST_F_TIMEOUT(race, a_signal_sent_before_an_exit_is_handled_at_it, 300)
{
	int try, missed = 0;
	pthread_t other;

	race.send = send_signal;
	ASSERT_EQ(0, pthread_create(&other, NULL, sender, NULL));
	for (try = 1; try <= TRIES / 4; try++) {
		WRITE_ONCE(handled, 0);
		WRITE_ONCE(race.go, try);
		do {
			if (race.prepare)
				race.prepare();
			race.enter(race.way);
		} while (__atomic_load_n(&race.sent, __ATOMIC_ACQUIRE) != try);
		if (race.prepare)
			race.prepare();
		race.enter(race.way);
		missed += !READ_ONCE(handled);
	}
	WRITE_ONCE(race.stop, 1);
	EXPECT_EQ(0, missed);
}

TEST_HARNESS_MAIN
