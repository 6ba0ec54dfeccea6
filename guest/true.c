// SPDX-License-Identifier: GPL-2.0-only
/* /bin/true for "perf bench syscall execve", which counts failing calls without it */
int main(void)
{
	return 0;
}
