package dev.isola.conformance.escape;

import static dev.isola.conformance.escape.Probe.Topic.PROCESSES;

import dev.isola.conformance.escape.Probe.Proof;
import java.util.List;

/**
 * The host's processes. On the bare host only the planted one is looked at; in a sandbox every
 * process that is to be seen.
 */
final class ProcessProbes {
  private ProcessProbes() {}

  static List<Probe> all() {
    return List.of(
        searching("environmentsOfTheHostAreNotRead", "environ", "environments of processes"),
        searching("commandLinesOfTheHostAreNotRead", "cmdline", "command lines of processes"),
        searching("descriptorsOfTheHostAreNotOpened", "descriptors-of", "what processes have open"),
        Probe.of(
                "rootsOfTheHostAreNotEntered",
                PROCESSES,
                "the host's files, through the root of another process",
                scene -> List.of("root", "all", scene.one("tmp"), scene.id()))
            .withControl(scene -> List.of("root", scene.one("pid"), scene.one("tmp"), scene.id())),
        Probe.of(
                "processOfTheHostIsNotKilled",
                PROCESSES,
                "a process of the host, by a signal",
                scene -> List.of("signal", scene.one("pid")))
            .withProof(Proof.PROCESS),
        reading("memoryOfTheHostIsNotReadByCall", "vm-read", "a process's memory"),
        reading("memoryOfTheHostIsNotReadByFile", "mem", "a process's memory through /proc"),
        reading("processOfTheHostIsNotTraced", "trace", "a process, as a debugger"),
        Probe.of(
            "descriptorOfTheHostIsNotTaken",
            PROCESSES,
            "what a process has open, by pidfd",
            scene ->
                List.of(
                    "steal-descriptor", scene.one("pid"), scene.one("descriptor"), scene.id())));
  }

  private static Probe searching(String name, String program, String words) {
    return Probe.of(name, PROCESSES, words, scene -> List.of(program, "all", scene.id()))
        .withControl(scene -> List.of(program, scene.one("pid"), scene.id()));
  }

  private static Probe reading(String name, String program, String words) {
    return Probe.of(
        name,
        PROCESSES,
        words,
        scene -> List.of(program, scene.one("pid"), scene.one("address"), scene.id()));
  }
}
