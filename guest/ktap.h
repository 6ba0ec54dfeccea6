/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A little KTAP harness for guest programs of one source file each:
 *
 *   TEST("close of a bad descriptor fails")
 *   {
 *           CHECK(close(-1) == -1);
 *           CHECK_EQ(errno, EBADF);
 *   }
 *   int main(int argc, char **argv)
 *   {
 *           return ktap_main(argc, argv);
 *   }
 *
 * Tests run in the order of the file, each in a child of its own with a time
 * limit, so that one that dies or hangs is one `not ok` and no more.
 */
#ifndef LAB_KTAP_H
#define LAB_KTAP_H

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define KTAP_MAX	128
#ifndef KTAP_SECONDS
#define KTAP_SECONDS	30
#endif
#define KTAP_SKIP	4

struct ktap_test {
	const char *text;
	void (*run)(void);
};

static struct ktap_test ktap_tests[KTAP_MAX];
static int ktap_nr;
static int ktap_seconds = KTAP_SECONDS;	/* how long a test may take */

static inline void ktap_add(const char *text, void (*run)(void))
{
	if (ktap_nr == KTAP_MAX)
		abort();
	ktap_tests[ktap_nr].text = text;
	ktap_tests[ktap_nr++].run = run;
}

#define KTAP_CAT_(a, b)	a##b
#define KTAP_CAT(a, b)	KTAP_CAT_(a, b)

/* TEST("sentence") { statements } */
#define TEST(text)							\
	static void KTAP_CAT(ktap_run_, __LINE__)(void);		\
	static void __attribute__((constructor))			\
	KTAP_CAT(ktap_add_, __LINE__)(void)				\
	{								\
		ktap_add(text, KTAP_CAT(ktap_run_, __LINE__));		\
	}								\
	static void KTAP_CAT(ktap_run_, __LINE__)(void)

/**
 * ktap_note() - say something about the test that runs
 * @fmt: as of printf, without a newline at its end
 */
static inline void __attribute__((format(printf, 1, 2)))
ktap_note(const char *fmt, ...)
{
	va_list ap;

	printf("# ");
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n");
}

/* End the test: not tested, and why. */
#define SKIP(...)							\
	do {								\
		ktap_note(__VA_ARGS__);					\
		_exit(KTAP_SKIP);					\
	} while (0)

/* End the test as failed if this does not hold. */
#define CHECK(cond)							\
	do {								\
		if (!(cond)) {						\
			ktap_note("line %d: not true: %s", __LINE__, #cond); \
			_exit(1);					\
		}							\
	} while (0)

#define CHECK_EQ(got, want)						\
	do {								\
		long got_ = (long)(got), want_ = (long)(want);		\
									\
		if (got_ != want_) {					\
			ktap_note("line %d: %s is %ld (0x%lx), not %ld (0x%lx)", \
				  __LINE__, #got, got_, got_, want_, want_); \
			_exit(1);					\
		}							\
	} while (0)

/**
 * ktap_wait() - wait for the child that runs a test
 * @pid: the child, leader of its process group
 *
 * After ktap_seconds it is killed, and its group in any case.
 *
 * Return: its wait status.
 */
static inline int ktap_wait(pid_t pid)
{
	struct timespec limit = { .tv_sec = ktap_seconds };
	sigset_t chld;
	int status;

	sigemptyset(&chld);
	sigaddset(&chld, SIGCHLD);
	while (waitpid(pid, &status, WNOHANG) != pid) {
		if (sigtimedwait(&chld, NULL, &limit) < 0 && errno != EINTR) {
			if (errno == EAGAIN)
				ktap_note("not finished after %d seconds", ktap_seconds);
			else
				ktap_note("sigtimedwait: %s", strerror(errno));
			kill(-pid, SIGKILL);
			waitpid(pid, &status, 0);
			break;
		}
	}
	kill(-pid, SIGKILL);		/* what it may have left running */
	return status;
}

/**
 * ktap_one() - run a test in a child and print its line
 * @i: number of the test, from 0
 *
 * Return: its wait status.
 */
static inline int ktap_one(int i)
{
	sigset_t chld, old;
	int status;
	pid_t pid;

	sigemptyset(&chld);
	sigaddset(&chld, SIGCHLD);
	sigprocmask(SIG_BLOCK, &chld, &old);
	pid = fork();
	if (!pid) {
		setpgid(0, 0);
		sigprocmask(SIG_SETMASK, &old, NULL);
		ktap_tests[i].run();
		fflush(stdout);
		_exit(0);
	}
	status = pid < 0 ? 0xff00 : ktap_wait(pid);
	if (WIFSIGNALED(status))
		ktap_note("killed by signal %d", WTERMSIG(status));
	sigprocmask(SIG_SETMASK, &old, NULL);

	if (status == 0)
		printf("ok %d %s\n", i + 1, ktap_tests[i].text);
	else if (WIFEXITED(status) && WEXITSTATUS(status) == KTAP_SKIP)
		printf("ok %d %s # SKIP\n", i + 1, ktap_tests[i].text);
	else
		printf("not ok %d %s\n", i + 1, ktap_tests[i].text);
	return status;
}

/* Do the numbers in @argv ask for test @number, or not rule it out? */
static inline int ktap_wanted(int number, int argc, char **argv)
{
	int only = 0;

	for (int i = 1; i < argc; i++) {
		int n = atoi(argv[i]);

		if (n == number || n == -number)
			return n > 0;
		only |= n > 0;
	}
	return !only;
}

/**
 * ktap_main() - run the tests of a program
 * @argc: of main()
 * @argv: of main(); the numbers of the tests to run, none for all, or -N: not test N
 *
 * Return: the exit code, 0 if no test failed.
 */
static inline int ktap_main(int argc, char **argv)
{
	int i, failed = 0;

	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("KTAP version 1\n1..%d\n", ktap_nr);
	for (i = 0; i < ktap_nr; i++) {
		int status;

		if (!ktap_wanted(i + 1, argc, argv)) {
			printf("ok %d %s # SKIP not asked for\n", i + 1,
			       ktap_tests[i].text);
			continue;
		}
		status = ktap_one(i);
		failed += status && !(WIFEXITED(status) &&
				      WEXITSTATUS(status) == KTAP_SKIP);
	}
	return failed != 0;
}

#endif /* LAB_KTAP_H */
