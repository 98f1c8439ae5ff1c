/*
 * System calls that a sandbox may make, by name: the allow-list of Docker's default profile for a container without
 * extra capabilities, less what only root of a machine needs, and less asynchronous I/O (io_setup), which the kernel
 * counts for the whole machine. Calls that depend on their arguments (clone, unshare, ioctl, socket, personality) are in
 * filter.c. The profile for OCI runtimes is generated from this file too: one CALL each.
 */
#ifndef ISOLA_SYSCALLS_H
#define ISOLA_SYSCALLS_H

/* On every architecture. */
/* clang-format off */
#define ALLOWED_CALLS(CALL) \
    CALL(accept) CALL(accept4) CALL(adjtimex) CALL(bind) CALL(brk) CALL(capget) CALL(capset) CALL(chdir) \
    CALL(clock_adjtime) CALL(clock_getres) CALL(clock_gettime) CALL(clock_nanosleep) CALL(close) CALL(connect) \
    CALL(copy_file_range) CALL(dup) CALL(dup3) CALL(epoll_create1) CALL(epoll_ctl) CALL(epoll_pwait) CALL(eventfd2) \
    CALL(execve) CALL(execveat) CALL(exit) CALL(exit_group) CALL(faccessat) CALL(fadvise64) CALL(fallocate) \
    CALL(fanotify_mark) CALL(fchdir) CALL(fchmod) CALL(fchmodat) CALL(fchown) CALL(fchownat) CALL(fcntl) \
    CALL(fdatasync) CALL(fgetxattr) CALL(flistxattr) CALL(flock) CALL(fremovexattr) CALL(fsetxattr) CALL(fstat) \
    CALL(fstatfs) CALL(fsync) CALL(ftruncate) CALL(futex) CALL(get_mempolicy) CALL(get_robust_list) CALL(getcpu) \
    CALL(getcwd) CALL(getdents64) CALL(getegid) CALL(geteuid) CALL(getgid) CALL(getgroups) CALL(getitimer) \
    CALL(getpeername) CALL(getpgid) CALL(getpid) CALL(getppid) CALL(getpriority) CALL(getrandom) CALL(getresgid) \
    CALL(getresuid) CALL(getrlimit) CALL(getrusage) CALL(getsid) CALL(getsockname) CALL(getsockopt) CALL(gettid) \
    CALL(gettimeofday) CALL(getuid) CALL(getxattr) CALL(inotify_add_watch) CALL(inotify_init1) CALL(inotify_rm_watch) \
    CALL(ioprio_get) CALL(ioprio_set) CALL(kill) CALL(lgetxattr) CALL(linkat) CALL(listen) CALL(listxattr) \
    CALL(llistxattr) CALL(lremovexattr) CALL(lseek) CALL(lsetxattr) CALL(madvise) CALL(membarrier) CALL(memfd_create) \
    CALL(mincore) CALL(mkdirat) CALL(mknodat) CALL(mlock) CALL(mlock2) CALL(mlockall) CALL(mmap) CALL(mprotect) \
    CALL(mq_getsetattr) CALL(mq_notify) CALL(mq_open) CALL(mq_timedreceive) CALL(mq_timedsend) CALL(mq_unlink) \
    CALL(mremap) CALL(msgctl) CALL(msgget) CALL(msgrcv) CALL(msgsnd) CALL(msync) CALL(munlock) CALL(munlockall) \
    CALL(munmap) CALL(name_to_handle_at) CALL(nanosleep) CALL(newfstatat) CALL(openat) CALL(pipe2) CALL(pkey_alloc) \
    CALL(pkey_free) CALL(pkey_mprotect) CALL(ppoll) CALL(prctl) CALL(pread64) CALL(preadv) CALL(preadv2) \
    CALL(prlimit64) CALL(process_vm_readv) CALL(process_vm_writev) CALL(pselect6) CALL(ptrace) CALL(pwrite64) \
    CALL(pwritev) CALL(pwritev2) CALL(read) CALL(readahead) CALL(readlinkat) CALL(readv) CALL(recvfrom) \
    CALL(recvmmsg) CALL(recvmsg) CALL(remap_file_pages) CALL(removexattr) CALL(renameat) CALL(renameat2) \
    CALL(restart_syscall) CALL(rseq) CALL(rt_sigaction) CALL(rt_sigpending) CALL(rt_sigprocmask) \
    CALL(rt_sigqueueinfo) CALL(rt_sigreturn) CALL(rt_sigsuspend) CALL(rt_sigtimedwait) CALL(rt_tgsigqueueinfo) \
    CALL(sched_get_priority_max) CALL(sched_get_priority_min) CALL(sched_getaffinity) CALL(sched_getattr) \
    CALL(sched_getparam) CALL(sched_getscheduler) CALL(sched_rr_get_interval) CALL(sched_setaffinity) \
    CALL(sched_setattr) CALL(sched_setparam) CALL(sched_setscheduler) CALL(sched_yield) CALL(seccomp) CALL(semctl) \
    CALL(semget) CALL(semop) CALL(semtimedop) CALL(sendfile) CALL(sendmmsg) CALL(sendmsg) CALL(sendto) \
    CALL(set_robust_list) CALL(set_tid_address) CALL(setfsgid) CALL(setfsuid) CALL(setgid) CALL(setgroups) \
    CALL(setitimer) CALL(setpgid) CALL(setpriority) CALL(setregid) CALL(setresgid) CALL(setresuid) CALL(setreuid) \
    CALL(setrlimit) CALL(setsid) CALL(setsockopt) CALL(setuid) CALL(setxattr) CALL(shmat) CALL(shmctl) CALL(shmdt) \
    CALL(shmget) CALL(shutdown) CALL(sigaltstack) CALL(signalfd4) CALL(socketpair) CALL(splice) CALL(statfs) \
    CALL(statx) CALL(symlinkat) CALL(sync) CALL(sync_file_range) CALL(syncfs) CALL(sysinfo) CALL(tee) CALL(tgkill) \
    CALL(timer_create) CALL(timer_delete) CALL(timer_getoverrun) CALL(timer_gettime) CALL(timer_settime) \
    CALL(timerfd_create) CALL(timerfd_gettime) CALL(timerfd_settime) CALL(times) CALL(tkill) CALL(truncate) \
    CALL(umask) CALL(uname) CALL(unlinkat) CALL(utimensat) CALL(vmsplice) CALL(wait4) CALL(waitid) CALL(write) \
    CALL(writev)

/* x86_64 only; other architectures have newer calls instead. */
#define ALLOWED_X86_64_CALLS(CALL) \
    CALL(access) CALL(alarm) CALL(arch_prctl) CALL(chmod) CALL(chown) CALL(creat) CALL(dup2) CALL(epoll_create) \
    CALL(epoll_wait) CALL(eventfd) CALL(fork) CALL(futimesat) CALL(getdents) CALL(getpgrp) CALL(get_thread_area) \
    CALL(inotify_init) CALL(lchown) CALL(link) CALL(lstat) CALL(mkdir) CALL(mknod) CALL(open) CALL(pause) CALL(pipe) \
    CALL(poll) CALL(readlink) CALL(rename) CALL(rmdir) CALL(select) CALL(set_thread_area) CALL(signalfd) CALL(stat) \
    CALL(symlink) CALL(time) CALL(unlink) CALL(utime) CALL(utimes) CALL(vfork)

/* Newer than some kernel headers; same number on every architecture. */
#define ALLOWED_NEW_CALLS(CALL) \
    CALL(pidfd_send_signal, 424) CALL(pidfd_open, 434) CALL(close_range, 436) CALL(openat2, 437) \
    CALL(faccessat2, 439) CALL(epoll_pwait2, 441) CALL(landlock_create_ruleset, 444) CALL(landlock_add_rule, 445) \
    CALL(landlock_restrict_self, 446) CALL(memfd_secret, 447) CALL(process_mrelease, 448) CALL(futex_waitv, 449) \
    CALL(cachestat, 451) CALL(fchmodat2, 452) CALL(map_shadow_stack, 453) CALL(futex_wake, 454) CALL(futex_wait, 455) \
    CALL(futex_requeue, 456) CALL(mseal, 462)
/* clang-format on */

#endif
