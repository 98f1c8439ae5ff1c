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
                scene -> List.of("find", scene.id(), "/tmp", "/workspace", "/"))
            .withControl(scene -> List.of("find", scene.id(), scene.one("scratch"))),
        searching("processesOfAnotherSandboxAreNotSeen", "cmdline", "its command lines"),
        searching("environmentsOfAnotherSandboxAreNotRead", "environ", "its environments"),
        of(
                "loopbackOfAnotherSandboxIsNotReached",
                "its servers",
                scene -> List.of("tcp", "127.0.0.1", scene.one("tcp"), scene.id()))
            .onlyOffline(),
        of(
                "abstractSocketsOfAnotherSandboxAreNotReached",
                "its abstract Unix sockets",
                scene -> {
                  scene.one("abstract");
                  return List.of("abstract", scene.id());
                })
            .onlyOffline(),
        of(
            "sharedMemoryOfAnotherSandboxIsNotRead",
            "its System V shared memory",
            scene -> List.of("shared-memory", scene.one("ipc"), scene.id())),
        of(
            "posixMemoryOfAnotherSandboxIsNotRead",
            "its POSIX shared memory",
            scene -> {
              scene.one("posix-memory");
              return List.of("posix-memory", scene.id());
            }),
        of(
            "posixQueueOfAnotherSandboxIsNotOpened",
            "its POSIX queue",
            scene -> {
              scene.one("posix-queue");
              return List.of("posix-queue", scene.id());
            }));
  }

  private static EscapeProbe searching(String name, String program, String words) {
    return of(name, words, scene -> List.of(program, "all", scene.id()))
        .withControl(scene -> List.of(program, scene.one("pid"), scene.id()));
  }

  private static EscapeProbe of(String name, String words, ProbeArguments script) {
    return EscapeProbe.of(name, OTHER_SANDBOX, words, script)
        .withLocation(TargetLocation.OTHER_SANDBOX);
  }
}
