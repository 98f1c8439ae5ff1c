package dev.isola.conformance.escape;

import static dev.isola.conformance.escape.EscapeProbe.Topic.MEMORY;

import java.util.List;

/** Probes of shared memory, semaphores and message queues of the host. */
final class MemoryProbes {
  private MemoryProbes() {}

  static List<EscapeProbe> all() {
    return List.of(
        EscapeProbe.of(
            "sharedMemoryOfTheHostIsNotRead",
            MEMORY,
            "System V shared memory",
            context -> List.of("shared-memory", context.one("ipc"), context.id())),
        EscapeProbe.of(
            "messagesOfTheHostAreNotRead",
            MEMORY,
            "a System V queue",
            context -> List.of("messages", context.one("ipc"), context.id())),
        EscapeProbe.of(
            "semaphoresOfTheHostAreNotRead",
            MEMORY,
            "a System V semaphore",
            context -> List.of("semaphores", context.one("ipc"), context.one("semaphore"))),
        posixObject("posixMemoryOfTheHostIsNotRead", "posix-memory", "POSIX shared memory"),
        posixObject("posixQueueOfTheHostIsNotOpened", "posix-queue", "a POSIX queue"));
  }

  static EscapeProbe posixObject(String name, String program, String target) {
    return EscapeProbe.of(
        name,
        MEMORY,
        target,
        context -> {
          context.one(program);
          return List.of(program, context.id());
        });
  }
}
