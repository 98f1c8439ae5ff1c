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
                context -> List.of("root", "all", context.one("tmp"), context.id()))
            .withControl(
                context -> List.of("root", context.one("pid"), context.one("tmp"), context.id())),
        EscapeProbe.of(
                "processOfTheHostIsNotKilled",
                PROCESSES,
                "a process of the host, by a signal",
                context -> List.of("signal", context.one("pid")))
            .withEvidence(Evidence.PROCESS),
        reading("memoryOfTheHostIsNotReadByCall", "vm-read", "a process's memory"),
        reading("memoryOfTheHostIsNotReadByFile", "mem", "a process's memory through /proc"),
        reading("processOfTheHostIsNotTraced", "trace", "a process, as a debugger"),
        EscapeProbe.of(
            "descriptorOfTheHostIsNotTaken",
            PROCESSES,
            "an open file of a process, by pidfd",
            context ->
                List.of(
                    "steal-descriptor",
                    context.one("pid"),
                    context.one("descriptor"),
                    context.id())));
  }

  private static EscapeProbe searching(String name, String program, String target) {
    return EscapeProbe.of(name, PROCESSES, target, context -> List.of(program, "all", context.id()))
        .withControl(context -> List.of(program, context.one("pid"), context.id()));
  }

  private static EscapeProbe reading(String name, String program, String target) {
    return EscapeProbe.of(
        name,
        PROCESSES,
        target,
        context -> List.of(program, context.one("pid"), context.one("address"), context.id()));
  }
}
