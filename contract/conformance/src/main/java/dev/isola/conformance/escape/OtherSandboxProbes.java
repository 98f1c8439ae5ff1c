package dev.isola.conformance.escape;

import static dev.isola.conformance.escape.EscapeProbe.Topic.OTHER_SANDBOX;

import dev.isola.conformance.escape.EscapeProbe.ProbeArguments;
import dev.isola.conformance.escape.EscapeProbe.TargetLocation;
import java.util.List;

/** Probes of another sandbox of the same provider, which has the same targets as the host. */
final class OtherSandboxProbes {
  private OtherSandboxProbes() {}

  static List<EscapeProbe> all() {
    return List.of(
        of(
                "filesOfAnotherSandboxAreNotFound",
                "files of another sandbox",
                context -> List.of("find", context.id(), "/tmp", "/workspace", "/"))
            .withControl(context -> List.of("find", context.id(), context.one("scratch"))),
        searching("processesOfAnotherSandboxAreNotSeen", "cmdline", "its command lines"),
        searching("environmentsOfAnotherSandboxAreNotRead", "environ", "its environments"),
        of(
                "loopbackOfAnotherSandboxIsNotReached",
                "its servers",
                context -> List.of("tcp", "127.0.0.1", context.one("tcp"), context.id()))
            .onlyOffline(),
        of(
                "abstractSocketsOfAnotherSandboxAreNotReached",
                "its abstract Unix sockets",
                context -> {
                  context.one("abstract");
                  return List.of("abstract", context.id());
                })
            .onlyOffline(),
        of(
            "sharedMemoryOfAnotherSandboxIsNotRead",
            "its System V shared memory",
            context -> List.of("shared-memory", context.one("ipc"), context.id())),
        of(
            "posixMemoryOfAnotherSandboxIsNotRead",
            "its POSIX shared memory",
            context -> {
              context.one("posix-memory");
              return List.of("posix-memory", context.id());
            }),
        of(
            "posixQueueOfAnotherSandboxIsNotOpened",
            "its POSIX queue",
            context -> {
              context.one("posix-queue");
              return List.of("posix-queue", context.id());
            }));
  }

  private static EscapeProbe searching(String name, String program, String target) {
    return of(name, target, context -> List.of(program, "all", context.id()))
        .withControl(context -> List.of(program, context.one("pid"), context.id()));
  }

  private static EscapeProbe of(String name, String target, ProbeArguments script) {
    return EscapeProbe.of(name, OTHER_SANDBOX, target, script)
        .withLocation(TargetLocation.OTHER_SANDBOX);
  }
}
