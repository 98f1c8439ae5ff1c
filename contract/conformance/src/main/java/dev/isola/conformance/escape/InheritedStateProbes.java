package dev.isola.conformance.escape;

import static dev.isola.conformance.escape.EscapeProbe.Topic.INHERITED_STATE;

import dev.isola.conformance.escape.EscapeProbe.Reach;
import dev.isola.spi.Isolation;
import java.util.List;

/** Probes of state that a command inherits: descriptors, environment, session, privileges. */
final class InheritedStateProbes {
  private InheritedStateProbes() {}

  static List<EscapeProbe> all() {
    return List.of(
        EscapeProbe.of(
                "serversEnvironmentIsNotInherited",
                INHERITED_STATE,
                "variables of the server",
                context -> FileProbes.with("environment", context.all("environment")))
            .fromProcess(),
        EscapeProbe.of(
                "noDescriptorIsInherited",
                INHERITED_STATE,
                "an open descriptor beyond the standard ones",
                context -> List.of("descriptors"))
            .withControl(context -> List.of("descriptors", "own"))
            .fromProcess(),
        EscapeProbe.of(
                "serversSessionIsNotInherited",
                INHERITED_STATE,
                "the session and process group of the server",
                context ->
                    List.of(
                        "session",
                        context.one("session"),
                        context.one("namespace-pid"),
                        context.one("boot")))
            .fromProcess(),
        EscapeProbe.of(
                "noTerminalIsInherited",
                INHERITED_STATE,
                "the server's terminal, by typing into it (TIOCSTI)",
                context -> List.of("terminal"))
            .withControl(context -> List.of("terminal", "own"))
            .fromProcess(),
        EscapeProbe.ofKernel(
            "capabilitiesAreFew",
            INHERITED_STATE,
            "capabilities that a container does not need",
            "capabilities"),
        EscapeProbe.ofKernel(
            "systemCallsAreFiltered", INHERITED_STATE, "every system call", "seccomp"),
        EscapeProbe.of(
                "setuidProgramsDoNotGiveTheHostsRoot",
                INHERITED_STATE,
                "root of the host, by a set-user-id program",
                context -> List.of("setuid", context.one("boot")))
            .withReach(Reach.KERNEL),
        EscapeProbe.of(
                "kernelIsItsOwn",
                INHERITED_STATE,
                "the host's kernel",
                context -> List.of("kernel", context.one("boot")))
            .withFloors(Isolation.KERNEL, Isolation.KERNEL));
  }
}
