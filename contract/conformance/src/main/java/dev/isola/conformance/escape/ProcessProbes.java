package dev.isola.conformance.escape;

import static dev.isola.conformance.escape.EscapeProbe.Topic.PROCESSES;

import dev.isola.conformance.escape.EscapeProbe.Evidence;
import java.util.List;

/**
 * Probes of host processes. On the bare host only the target process is attacked; in a sandbox,
 * every visible process.
 */
final class ProcessProbes {
  private ProcessProbes() {}

  static List<EscapeProbe> all() {
    return List.of(
        searching("environmentsOfTheHostAreNotRead", "environ", "environments of processes"),
        searching("commandLinesOfTheHostAreNotRead", "cmdline", "command lines of processes"),
        searching("descriptorsOfTheHostAreNotOpened", "descriptors-of", "open files of processes"),
        EscapeProbe.of(
                "rootsOfTheHostAreNotEntered",
                PROCESSES,
                "the host's files, through the root of another process",
                scene -> List.of("root", "all", scene.one("tmp"), scene.id()))
            .withControl(scene -> List.of("root", scene.one("pid"), scene.one("tmp"), scene.id())),
        EscapeProbe.of(
                "processOfTheHostIsNotKilled",
                PROCESSES,
                "a process of the host, by a signal",
                scene -> List.of("signal", scene.one("pid")))
            .withEvidence(Evidence.PROCESS),
        reading("memoryOfTheHostIsNotReadByCall", "vm-read", "a process's memory"),
        reading("memoryOfTheHostIsNotReadByFile", "mem", "a process's memory through /proc"),
        reading("processOfTheHostIsNotTraced", "trace", "a process, as a debugger"),
        EscapeProbe.of(
            "descriptorOfTheHostIsNotTaken",
            PROCESSES,
            "an open file of a process, by pidfd",
            scene ->
                List.of(
                    "steal-descriptor", scene.one("pid"), scene.one("descriptor"), scene.id())));
  }

  private static EscapeProbe searching(String name, String program, String words) {
    return EscapeProbe.of(name, PROCESSES, words, scene -> List.of(program, "all", scene.id()))
        .withControl(scene -> List.of(program, scene.one("pid"), scene.id()));
  }

  private static EscapeProbe reading(String name, String program, String words) {
    return EscapeProbe.of(
        name,
        PROCESSES,
        words,
        scene -> List.of(program, scene.one("pid"), scene.one("address"), scene.id()));
  }
}
