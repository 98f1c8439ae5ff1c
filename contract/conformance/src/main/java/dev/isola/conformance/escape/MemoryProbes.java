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
            scene -> List.of("shared-memory", scene.one("ipc"), scene.id())),
        EscapeProbe.of(
            "messagesOfTheHostAreNotRead",
            MEMORY,
            "a System V queue",
            scene -> List.of("messages", scene.one("ipc"), scene.id())),
        EscapeProbe.of(
            "semaphoresOfTheHostAreNotRead",
            MEMORY,
            "a System V semaphore",
            scene -> List.of("semaphores", scene.one("ipc"), scene.one("semaphore"))),
        planted("posixMemoryOfTheHostIsNotRead", "posix-memory", "POSIX shared memory"),
        planted("posixQueueOfTheHostIsNotOpened", "posix-queue", "a POSIX queue"));
  }

  static EscapeProbe planted(String name, String program, String words) {
    return EscapeProbe.of(
        name,
        MEMORY,
        words,
        scene -> {
          scene.one(program);
          return List.of(program, scene.id());
        });
  }
}
